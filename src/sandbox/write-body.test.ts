import { afterAll, expect, test } from 'bun:test'
import { untilItHolds } from '../../test/support/until-it-holds.ts'
import { startSandbox } from './start-sandbox.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const PATHS = [
  '/v1/responses',
  '/v1/chat/completions',
  '/v1/fim/completions',
  '/mistral/v1/chat/completions',
  '/anthropic/v1/messages',
  '/cohere/v2/chat',
  '/gemini/v1beta/models',
] as const
type Path = (typeof PATHS)[number]

function bodyFor(path: Path, model: string, stream: boolean) {
  if (path === '/v1/responses') return { model, stream, input: 'Hi' }
  if (path === '/gemini/v1beta/models') return { contents: [{ parts: [{ text: 'Hi' }] }] }
  if (path === '/v1/fim/completions') return { model, stream, prompt: 'a', suffix: 'b' }
  const limit = path === '/anthropic/v1/messages' ? { max_tokens: 999 } : {}
  return { model, stream, ...limit, messages: [{ role: 'user', content: 'Hi' }] }
}

function send(path: Path, model: string, stream: boolean, init: RequestInit = {}) {
  const headers = {
    authorization: 'Bearer any',
    'anthropic-version': '2023-06-01',
    ...init.headers,
  }
  return fetch(sandbox.url + addressOf(path, model, stream), {
    ...init,
    method: 'POST',
    headers,
    body: JSON.stringify(bodyFor(path, model, stream)),
  })
}

/** Gemini's address names the model and the method, which decides about streaming. */
function addressOf(path: Path, model: string, stream: boolean): string {
  if (path !== '/gemini/v1beta/models') return path
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return `${path}/${encodeURIComponent(model)}:${method}`
}

/** The bytes before the end, and whether the end was clean. */
async function drain(answer: Response) {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true })
    return { text, isClean: true }
  } catch {
    return { text, isClean: false }
  }
}

const framesOf = (text: string) => text.split(/\r?\n\r?\n/).slice(0, -1)
const endsAnEvent = (text: string) => /\n\r?\n$/.test(text)
const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

for (const path of PATHS) {
  test(`${path}: statuses, with the seconds to wait`, async () => {
    for (const stream of [false, true]) {
      const limited = await send(path, '429-30', stream)
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '30'])
      for (const [model, status] of [
        ['500', 500],
        ['401', 401],
        ['529', 529],
        ['overloaded', path === '/anthropic/v1/messages' ? 529 : 503],
        ['quota', 429],
        ['context-length', 400],
      ] as const) {
        const answer = await send(path, model, stream)
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          status,
          'application/json;charset=utf-8',
        ])
        expect(await answer.text()).toContain('"message":')
      }
    }
  })

  test(`${path}: a cut breaks the connection after some whole events`, async () => {
    const whole = await drain(await send(path, 'echo', true))
    const ends = new Set<boolean>()
    const cutOf = async (model: string, stream: boolean) => {
      const { isClean, text } = await drain(await send(path, model, stream))
      ends.add(isClean)
      return text
    }
    // On a busy machine a client loses the bytes before the cut, so the test repeats the request.
    await untilItHolds(async () => {
      const some = framesOf(await cutOf('cut-mid-stream', true))
      expect(some.length).toBe(Math.floor(framesOf(whole.text).length / 2))
    })
    await untilItHolds(async () =>
      expect(framesOf(await cutOf('cut-mid-stream-1', true)).length).toBe(1),
    )
    await untilItHolds(async () => {
      const half = await cutOf('cut-mid-stream', false)
      expect([half.startsWith('{'), isJson(half)]).toEqual([true, false])
    })
    expect([...ends]).toEqual([false])
  })

  test(`${path}: endings that look whole but are not`, async () => {
    for (const model of ['clean-cut', 'half-event', 'bad-json']) {
      const half = await drain(await send(path, model, false))
      expect([half.isClean, isJson(half.text)]).toEqual([true, false])
    }
    const cut = await drain(await send(path, 'clean-cut', true))
    expect([cut.isClean, endsAnEvent(cut.text), cut.text.includes('[DONE]')]).toEqual([
      true,
      true,
      false,
    ])
    const half = await drain(await send(path, 'half-event', true))
    expect([half.isClean, endsAnEvent(half.text)]).toEqual([true, false])
  })

  test(`${path}: one event of a stream is not JSON, the rest is`, async () => {
    const { text } = await drain(await send(path, 'bad-json', true))
    const data = framesOf(text)
      .map((frame) => frame.slice(frame.indexOf('data: ') + 6))
      .filter((each) => each !== '[DONE]')
    expect(data.filter((each) => !isJson(each)).length).toBe(1)
  })

  test(`${path}: an in-band error ends a stream, and is a 500 without one`, async () => {
    const { text, isClean } = await drain(await send(path, 'error-mid-stream', true))
    expect([isClean, text.includes('as it was asked to'), text.includes('[DONE]')]).toEqual([
      true,
      true,
      false,
    ])
    expect((await send(path, 'error-mid-stream', false)).status).toBe(500)
  })

  test(`${path}: wrong pages, empty bodies, wrong types, redirects and leaky headers`, async () => {
    for (const stream of [false, true]) {
      const page = await send(path, 'html', stream)
      expect([page.status, page.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8',
      ])
      expect((await send(path, 'html-502', stream)).status).toBe(502)
      const empty = await send(path, 'empty', stream)
      expect([empty.status, await empty.text()]).toEqual([200, ''])
      const odd = await send(path, 'wrong-type', stream)
      expect(odd.headers.get('content-type')).toStartWith('text/plain')
      const away = await send(path, 'redirect', stream, { redirect: 'manual' })
      expect([away.status, away.headers.get('location')]).toEqual([
        307,
        '/v1/models?sandbox=redirected',
      ])
      const leaky = await send(path, 'leaky-headers', stream)
      expect([leaky.status, leaky.headers.get('x-api-key')]).toEqual([200, 'planted-upstream-key'])
    }
  })

  test(`${path}: a byte at a time adds up to the whole`, async () => {
    const { text } = await drain(await send(path, 'echo+drip', true))
    expect(framesOf(text).length).toBeGreaterThan(3)
    expect(text).toMatch(/sandbox/i)
    expect(isJson((await drain(await send(path, 'drip', false))).text)).toBe(true)
  })

  test(`${path}: a very large answer has its size, as JSON and as small events`, async () => {
    const { text } = await drain(await send(path, 'big-1', false))
    expect(text.length).toBeGreaterThan(1024 * 1024)
    expect(isJson(text)).toBe(true)
    const stream = await drain(await send(path, 'big-1', true))
    const frames = framesOf(stream.text)
    expect(stream.text.length).toBeGreaterThan(1024 * 1024)
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(40 * 1024)
  })
}

test('a slow answer waits before its first byte, a slow stream between its events', async () => {
  for (const [model, leastMs] of [
    ['slow-60', 55],
    ['echo+slow-stream-20', 80],
  ] as const) {
    const start = performance.now()
    await (await send('/v1/chat/completions', model, true)).text()
    expect(performance.now() - start).toBeGreaterThan(leastMs)
  }
})

test('a hanging answer ends only when the client leaves', async () => {
  const leaving = new AbortController()
  const hanging = send('/v1/chat/completions', 'hang', false, { signal: leaving.signal })
  const outcome = hanging.then(
    () => 'answered',
    () => 'left',
  )
  expect(await Promise.race([outcome, Bun.sleep(50).then(() => 'waiting')])).toBe('waiting')
  leaving.abort()
  expect(await outcome).toBe('left')
})

test('a stream that hangs in the middle has sent its events before', async () => {
  const leaving = new AbortController()
  const answer = await send('/v1/chat/completions', 'hang-mid-stream-1', true, {
    signal: leaving.signal,
  })
  const reader = answer.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toEndWith('\n\n')
  const next = reader?.read().then(
    () => 'more',
    () => 'left',
  )
  expect(await Promise.race([next, Bun.sleep(50).then(() => 'waiting')])).toBe('waiting')
  leaving.abort()
  expect(await next).toBe('left')
})

test('a fault can be requested by header, for any model', async () => {
  const headers = { 'x-sandbox-fault': '503-2' }
  const answer = await send('/v1/fim/completions', 'codestral', false, { headers })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect(
    (await send('/v1/responses', 'echo', false, { headers: { 'x-sandbox-fault': 'nonsense' } }))
      .status,
  ).toBe(400)
})

test('a client that leaves a large stream does not stop the server', async () => {
  for (const stream of [false, true]) {
    const leaving = new AbortController()
    const answer = await send('/v1/chat/completions', 'big-400', stream, { signal: leaving.signal })
    await answer.body?.getReader().read()
    leaving.abort()
  }
  expect((await send('/v1/chat/completions', 'echo', false)).status).toBe(200)
})

test('stopping closes connections that hang', async () => {
  const own = startSandbox({ requireKey: false })
  const body = JSON.stringify(bodyFor('/v1/chat/completions', 'hang', false))
  const hanging = fetch(`${own.url}/v1/chat/completions`, { method: 'POST', body }).then(
    () => 'answered',
    () => 'closed',
  )
  await Bun.sleep(20)
  await own.stop()
  expect(await hanging).toBe('closed')
})
