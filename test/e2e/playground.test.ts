/**
 * `POST /v1/playground` as a browser with a session uses it: streams that arrive in pieces, aborts,
 * refusals, and what stays behind.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import { readFlatError } from '../support/envelopes.ts'
import { chunk, LAST_CHUNK } from '../support/http-bytes.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Exchange, type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { readFolder } from '../support/read-folder.ts'
import { beginStream, jsonAnswer, silence } from '../support/scripted-answers.ts'
import { parseEvents } from '../support/server-sent-events.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const password = 'correct horse battery staple'
const PROMPT = 'canary-prompt-of-the-playground'
const ANSWER = 'canary-answer-of-the-playground'
const messages = [{ role: 'user', content: PROMPT }]

let upstream: RawUpstream
let gatehouse: Gatehouse
let owner: Browser
let ownerId: string
beforeAll(async () => {
  upstream = await startRawUpstream()
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'sk-planted-openai',
      GATEHOUSE_SIGN_UP: 'open',
      GATEHOUSE_LOG_LEVEL: 'trace',
      GATEHOUSE_ACCESS_LOG: 'on',
    },
  })
  owner = new Browser(gatehouse.url)
  const { user } = (await owner.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body: { email: 'owner@example.test', name: 'Owner', password },
    headers: { authorization: `Bearer ${gatehouse.key}` },
  })) as { user: { id: string } }
  ownerId = user.id
  await createGate(gatehouse, 'talker', 'openai/gpt-4o')
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.remove()
  await upstream.stop()
})

const play = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  owner.send('/v1/playground', { method: 'POST', body, headers })

const piece = (delta: object, finish_reason: string | null = null) =>
  chunk(
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
  )

function readerOf(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    async until(part: string): Promise<void> {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the stream ended before ${part}: ${text}`)
        text += decoder.decode(value, { stream: true })
      }
    },
    async rest(): Promise<string> {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text
        text += decoder.decode(value, { stream: true })
      }
    },
    leave: () => reader.cancel(),
  }
}

test('a stream arrives piece by piece, and the call is in the log under the user', async () => {
  const goOn = Promise.withResolvers<void>()
  upstream.answer(async (exchange) => {
    await beginStream(exchange)
    await exchange.write(piece({ role: 'assistant', content: `${ANSWER} one` }))
    await goOn.promise
    await exchange.write(piece({ content: ' two' }))
    await exchange.write(piece({}, 'stop'))
    await exchange.write(chunk('data: [DONE]\n\n') + LAST_CHUNK)
  })
  const response = await play({ gate_id: 'talker', messages, stream: true })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toStartWith('text/event-stream')
  expect(response.headers.get('x-gatehouse-target')).toBe('openai/gpt-4o')
  const reader = readerOf(response)
  // The upstream says no more until this has arrived: a buffered stream would wait for ever.
  await reader.until(`${ANSWER} one`)
  goOn.resolve()
  const events = parseEvents(await reader.rest())
  expect(events.map(({ event }) => event)).toEqual([
    'chat.started',
    'chat.delta',
    'chat.delta',
    'chat.completed',
  ])
  const id = response.headers.get('x-request-id')
  expect(JSON.parse(events[3]?.data ?? '')).toMatchObject({ id, content: `${ANSWER} one two` })
  expect(upstream.last().headers).not.toHaveProperty('cookie')
  expect(await waitForLogRow(gatehouse, id)).toMatchObject({ keyId: '(playground)' })
  expect(await owner.json(`/v1/logs/${id}`, 200)).toMatchObject({
    dialect: 'gatehouse-chat',
    gateId: 'talker',
    keyId: ownerId,
    stream: true,
    outcome: 'succeeded',
  })
})

test('a reader who leaves during the answer ends the upstream’s work', async () => {
  const asked = Promise.withResolvers<Exchange>()
  upstream.answer(async (exchange) => {
    await beginStream(exchange)
    await exchange.write(piece({ role: 'assistant', content: 'begun' }))
    asked.resolve(exchange)
  })
  const response = await play({ gate_id: 'talker', messages, stream: true })
  const reader = readerOf(response)
  await reader.until('begun')
  await reader.leave()
  await (await asked.promise).whenClosed
  const row = await waitForLogRow(gatehouse, response.headers.get('x-request-id'))
  expect(row).toMatchObject({ outcome: 'cancelled', keyId: '(playground)' })
})

test('a reader who leaves before the answer ends the upstream’s work too', async () => {
  const asked = Promise.withResolvers<Exchange>()
  upstream.answer((exchange) => {
    asked.resolve(exchange)
    return silence(exchange)
  })
  const abort = new AbortController()
  const answer = fetch(`${gatehouse.url}/v1/playground`, {
    method: 'POST',
    headers: {
      cookie: owner.cookieHeader(),
      origin: gatehouse.url,
      'x-gatehouse-csrf': '1',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ gate_id: 'talker', messages, stream: true }),
    signal: abort.signal,
  }).catch(() => undefined)
  const exchange = await asked.promise
  abort.abort()
  await exchange.whenClosed
  await answer
})

test.each([
  [
    'whose session was ended',
    async (reader: Browser) => {
      const { data } = (await reader.json('/v1/sessions', 200)) as { data: { id: string }[] }
      return `/v1/sessions/${data[0]?.id}`
    },
  ],
  [
    'who was removed',
    async (reader: Browser) => {
      const { user } = (await reader.json('/v1/session', 200)) as { user: { id: string } }
      return `/v1/members/${user.id}`
    },
  ],
])('the stream of a reader %s ends, and that of another goes on', async (what, pathOf) => {
  const address = { email: `${what.replaceAll(' ', '-')}@example.test` }
  const invited = { method: 'POST', body: address }
  const { token } = (await owner.json('/v1/invitations', 201, invited)) as { token: string }
  const reader = new Browser(gatehouse.url)
  await reader.json('/v1/auth/sign-up', 201, {
    method: 'POST',
    body: { ...address, name: 'Reader', password, invitation: token },
  })
  const goOn = Promise.withResolvers<void>()
  upstream.answer(async (exchange) => {
    await beginStream(exchange)
    await exchange.write(piece({ role: 'assistant', content: ANSWER }))
    await goOn.promise
    await exchange.write(piece({}, 'stop'))
    await exchange.write(chunk('data: [DONE]\n\n') + LAST_CHUNK)
  })
  const begun = { method: 'POST', body: { gate_id: 'talker', messages, stream: true } }
  const answer = await reader.send('/v1/playground', begun)
  const [theirs, ours] = [answer, await owner.send('/v1/playground', begun)].map(readerOf)
  await Promise.all([theirs?.until(ANSWER), ours?.until(ANSWER)])

  const path = await pathOf(reader)
  const remover = path.startsWith('/v1/members/') ? owner : reader
  expect((await remover.send(path, { method: 'DELETE' })).status).toBe(204)
  const row = await waitForLogRow(gatehouse, answer.headers.get('x-request-id'))
  expect(row).toMatchObject({ outcome: 'failed', errorKind: 'unauthorized' })
  goOn.resolve()
  expect(await ours?.rest()).toContain('event: chat.completed')
})

test('a page of another site cannot make the call', async () => {
  for (const headers of [{ 'x-gatehouse-csrf': '' }, { origin: 'https://elsewhere.example' }]) {
    const response = await play({ gate_id: 'demo', messages }, headers)
    expect(response.status).toBe(403)
    expect(readFlatError(await response.text()).error).toBe('forbidden')
  }
  const nobody = await new Browser(gatehouse.url).send('/v1/playground', {
    method: 'POST',
    body: { gate_id: 'demo', messages },
  })
  expect(nobody.status).toBe(401)
})

test('a key may use it too, and other methods are refused', async () => {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/playground', {
    gate_id: 'demo',
    messages,
  })
  expect(await response.json()).toMatchObject({ object: 'chat', gate_id: 'demo' })
  const get = await controlPlaneCall(gatehouse, 'GET', '/v1/playground')
  expect({ status: get.status, allow: get.headers.get('allow') }).toEqual({
    status: 405,
    allow: 'POST',
  })
})

test('another account’s gate seems absent', async () => {
  const stranger = new Browser(gatehouse.url)
  const body = { email: 'stranger@example.test', name: 'Stranger', password }
  await stranger.json('/v1/auth/sign-up', 201, { method: 'POST', body })
  const response = await stranger.send('/v1/playground', {
    method: 'POST',
    body: { gate_id: 'talker', messages },
  })
  expect(response.status).toBe(404)
  expect(readFlatError(await response.text()).error).toBe('gate_not_found')
  expect(upstream.requests).toHaveLength(0)
})

test('it accepts the bodies of `/v3/chat`: images of megabytes, and no unknown member', async () => {
  upstream.answer(
    jsonAnswer(200, { choices: [{ message: { content: 'seen' }, finish_reason: 'stop' }] }),
  )
  const data = Buffer.alloc(3_000_000, 7).toString('base64')
  const image = { type: 'image', data, media_type: 'image/png' }
  const response = await play({ gate_id: 'talker', messages: [{ role: 'user', content: [image] }] })
  expect(await response.json()).toMatchObject({ content: 'seen' })
  expect(upstream.last().text).toContain(data.slice(-1000))

  const refused = await play({ gate_id: 'talker', messages, model: 'x' })
  expect(refused.status).toBe(400)
  expect(readFlatError(await refused.text()).message).toContain("'model'")
  expect(refused.headers.get('x-request-id')).toMatch(/^req_/)
})

test('a user’s calls have separate limits', async () => {
  const limited = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_REQUESTS_PER_MINUTE: '2' },
  })
  try {
    const browser = new Browser(limited.url)
    await browser.json('/v1/auth/sign-up', 201, {
      method: 'POST',
      body: { email: 'owner@example.test', name: 'Owner', password },
      headers: { authorization: `Bearer ${limited.key}` },
    })
    const call = () =>
      browser.send('/v1/playground', { method: 'POST', body: { gate_id: 'demo', messages } })
    const responses = [await call(), await call(), await call()]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(responses[0]?.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(Number(responses[2]?.headers.get('retry-after'))).toBeGreaterThan(0)
  } finally {
    await limited.remove()
  }
})

test('one id is in the answer, the log and the access log, and no content is stored', async () => {
  const response = await play({ gate_id: 'demo', messages })
  const id = response.headers.get('x-request-id') ?? ''
  expect(await response.text()).toContain(PROMPT)
  await waitForLogRow(gatehouse, id)
  await pollUntil('the lines of the access log', () => gatehouse.output().split(id).length > 2)
  const places = readFolder(gatehouse.dataFolder).map((file) => file.text)
  for (const text of [...places, gatehouse.output()]) {
    expect({ prompt: text.includes(PROMPT), answer: text.includes(ANSWER) }).toEqual({
      prompt: false,
      answer: false,
    })
  }
})
