/**
 * Budgets of keys and gates over the real program: refusals in each dialect, streams that break,
 * crowds, webhooks.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { readAgentFixtures } from '../support/agent-fixtures.ts'
import {
  controlPlaneCall,
  createGate,
  createKey,
  listLogRows,
  waitForLogRow,
} from '../support/control-plane.ts'
import { CHAT_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { DIALECT_GATES, DIALECTS, requestBody } from '../support/dialect-table.ts'
import { readErrorCode, readNestedError } from '../support/envelopes.ts'
import { composeRequest } from '../support/http-bytes.ts'
import { pollUntil } from '../support/poll-until.ts'
import { connectRaw } from '../support/raw-client.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import type { Script } from '../support/raw-upstream.ts'
import { answerHead, jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const OVERAGE_REASON = 'anthropic-ratelimit-unified-overage-disabled-reason'
const SECRET = 'planted-webhook-secret-5d41402abc'

interface Budget {
  readonly id: string
  readonly used: { readonly tokens: number }
  readonly reserved: { readonly tokens: number }
  readonly isExhausted: boolean
}

let scene: RawScene
let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = startWebhookReceiver(SECRET)
  scene = await openRawScene({
    gates: { ...DIALECT_GATES, failing: 'openai/failing' },
    environment: { GATEHOUSE_TRUSTED_HOSTS: receiver.host },
  })
})
afterAll(async () => {
  await scene.close()
  await receiver.stop()
})
beforeEach(() => scene.upstream.reset())

async function createBudget(body: object): Promise<Budget> {
  const response = await controlPlaneCall(scene.gatehouse, 'POST', '/v1/budgets', {
    period: 'total',
    ...body,
  })
  expect(response.status).toBe(201)
  return (await response.json()) as Budget
}

async function readBudget({ id }: Budget): Promise<Budget> {
  return (await (
    await controlPlaneCall(scene.gatehouse, 'GET', `/v1/budgets/${id}`)
  ).json()) as Budget
}

test('Codex gets the message of a used-up budget in the form that Codex shows', async () => {
  scene.upstream.answer(jsonAnswer(200, RESPONSES_JSON))
  const { key, id: keyId } = await createKey(scene.gatehouse, 'codex')
  const message = 'Fragt #ai-platform für mehr.'
  const budget = await createBudget({ keyId, limitTokens: 1, period: 'day', message })
  const [recorded] = readAgentFixtures().find(({ agent }) => agent === 'codex')?.calls ?? []
  const authorization = `Bearer ${key}`
  const body = { model: 'responses-gate', input: 'hi' }
  const ask = (headers: Readonly<Record<string, string>> = {}) =>
    scene.post('/v1/responses', body, { ...headers, authorization })
  expect((await ask(recorded?.headers)).status).toBe(200)
  const refused = await ask(recorded?.headers)
  expect(refused.status).toBe(429)
  expect(readNestedError(refused.text)).toMatchObject({
    ...{ type: 'usage_limit_reached', code: 'insufficient_quota' },
    message: expect.stringContaining(message),
  })
  const shown = refused.headers['x-codex-promo-message']
  expect(shown).toContain(budget.id)
  expect(shown).toEndWith('Z. Fragt #ai-platform f?r mehr')
  const other = await ask()
  expect(readNestedError(other.text).type).toBe('insufficient_quota')
  expect(other.headers['x-codex-promo-message']).toBeUndefined()
})

describe.each(DIALECTS.map((row) => [row.dialect, row] as const))('%s', (_, row) => {
  test('a used-up budget refuses calls in their own dialect, with no reason to retry', async () => {
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const { key, id: keyId } = await createKey(scene.gatehouse, row.dialect)
    const message = 'Ask #ai-platform for more.'
    const budget = await createBudget({
      ...{ keyId, limitTokens: 1, period: 'day', name: 'small', message },
    })
    const authorization = `Bearer ${key}`
    expect((await scene.post(row.path, requestBody(row), { authorization })).status).toBe(200)
    expect(await readBudget(budget)).toMatchObject({
      used: { tokens: row.usage.inputTokens + row.usage.outputTokens },
      reserved: { tokens: 0 },
      isExhausted: true,
    })
    const refusal = await scene.post(row.path, requestBody(row), { authorization })
    expect(refusal.status).toBe(429)
    expect(readErrorCode(row.envelope, refusal.text)).toBe(
      { nested: 'insufficient_quota', flat: 'quota_exceeded', messages: 'billing_error' }[
        row.envelope
      ],
    )
    if (row.envelope === 'nested')
      expect(readNestedError(refusal.text).type).toBe('insufficient_quota')
    // Without this header, Claude Code says that the server limits requests "temporarily".
    if (row.envelope === 'messages')
      expect(refusal.headers[OVERAGE_REASON]).toBe('org_spend_cap_reached')
    expect(refusal.text).toContain(budget.id)
    expect(refusal.text).toContain(`Z. ${message}`)
    expect(refusal.headers['x-should-retry']).toBe('false')
    // opencode ignores `x-should-retry`, and would wait in silence until the period ends.
    expect(refusal.headers['retry-after']).toBeUndefined()
    expect(refusal.headers['x-request-id']).toMatch(/^req_/)
    expect(scene.upstream.requests).toHaveLength(1)
    expect((await scene.post(row.path, requestBody(row))).status).toBe(200)
  })

  test('a raise admits calls until its end, and no longer', async () => {
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const { key, id: keyId } = await createKey(scene.gatehouse, `raised ${row.dialect}`)
    const budget = await createBudget({ keyId, limitTokens: 1, period: 'total' })
    const authorization = `Bearer ${key}`
    const call = async () =>
      (await scene.post(row.path, requestBody(row), { authorization })).status
    const raise = (until: number) =>
      controlPlaneCall(scene.gatehouse, 'PATCH', `/v1/budgets/${budget.id}`, {
        raise: { by: 1_000_000, until: new Date(until).toISOString() },
      })
    expect([await call(), await call()]).toEqual([200, 429])
    expect((await raise(Date.now() + 3_600_000)).status).toBe(200)
    expect(await call()).toBe(200)
    expect(await readBudget(budget)).toMatchObject({ isExhausted: false, raise: { by: 1_000_000 } })
    await raise(Date.now() - 1)
    expect(await call()).toBe(429)
    expect(await readBudget(budget)).toMatchObject({ isExhausted: true })
  })

  test.each(['close', 'reset', 'end'] as const)(
    'a stream that breaks (%s) gives its reservation back',
    async (ending) => {
      const { key, id: keyId } = await createKey(scene.gatehouse, row.dialect)
      const budget = await createBudget({ keyId, limitTokens: 1_000_000 })
      scene.upstream.answer(streamAnswer(row.stream.slice(0, 2), { ending }))
      const authorization = `Bearer ${key}`
      await scene.post(row.path, requestBody(row, { stream: true }), { authorization })
      await pollUntil(
        'the reservation back',
        async () => (await readBudget(budget)).reserved.tokens === 0 || undefined,
      )
      expect((await readBudget(budget)).used.tokens).toBeLessThanOrEqual(
        row.usage.inputTokens + row.usage.outputTokens,
      )
    },
  )

  test('a client that leaves gives its reservation back', async () => {
    const { key, id: keyId } = await createKey(scene.gatehouse, row.dialect)
    const budget = await createBudget({ keyId, limitTokens: 1_000_000 })
    scene.upstream.answer(streamAnswer(row.stream.slice(0, 2), { ending: 'hang' }))
    const connection = await connectRaw(scene.gatehouse.url)
    connection.send(
      composeRequest({
        path: row.path,
        headers: { authorization: `Bearer ${key}` },
        body: requestBody(row, { stream: true }),
      }),
    )
    await pollUntil(
      'the reservation',
      async () => (await readBudget(budget)).reserved.tokens > 0 || undefined,
    )
    connection.destroy()
    await pollUntil(
      'the reservation back',
      async () => (await readBudget(budget)).reserved.tokens === 0 || undefined,
    )
  })
})

describe('hanging up does not evade a budget', () => {
  const row = DIALECTS.find(({ dialect }) => dialect === 'openai-chat')
  if (row === undefined) throw new Error('no chat')
  const silence: Script = () => new Promise(() => {})
  const half: Script = async (exchange) => {
    await exchange.write(
      answerHead(200, { 'content-type': 'application/json', 'content-length': '500' }),
    )
    await exchange.write('{"id":"half')
    await silence(exchange)
  }
  const points: readonly (readonly [
    string,
    { stream: boolean; upstream: Script; events: number },
  ])[] = [
    ['before the first byte', { stream: true, upstream: silence, events: 0 }],
    ['before a whole answer', { stream: false, upstream: silence, events: 0 }],
    ['in a whole answer', { stream: false, upstream: half, events: 0 }],
    ...row.stream.slice(0, -1).map((_, index) => {
      const events = index + 1
      const upstream = streamAnswer(row.stream.slice(0, events), { ending: 'hang' })
      return [`after ${events} events`, { stream: true, upstream, events }] as const
    }),
  ]

  test.each(points)('%s: it is filled in the end', async (name, { stream, upstream, events }) => {
    const { key, id: keyId } = await createKey(scene.gatehouse, name)
    // A stream that has begun is read on for a while.
    const times = events > 0 ? 10 : 100
    // A call of some 30 tokens is told as no less than that.
    const budget = await createBudget({ keyId, limitTokens: times * 20 })
    scene.upstream.answer(upstream)
    const request = composeRequest({
      path: row.path,
      headers: { authorization: `Bearer ${key}` },
      body: requestBody(row, { stream }),
    })
    let refused = false
    for (let call = 0; call <= times && !refused; call++) {
      const asked = scene.upstream.requests.length
      const connection = await connectRaw(scene.gatehouse.url)
      connection.send(request)
      await pollUntil(
        'the call at the upstream, or its refusal',
        () =>
          connection.received().includes('HTTP/1.1 429') ||
          (scene.upstream.requests.length > asked &&
            connection.received().toString().split('data: ').length > events),
        { intervalMs: 2 },
      )
      refused = connection.received().includes('HTTP/1.1 429')
      connection.destroy()
      if (!refused)
        await pollUntil(
          'the reservation back',
          async () => (await readBudget(budget)).reserved.tokens === 0 || undefined,
          { intervalMs: 5 },
        )
    }
    expect(refused).toBeTrue()
    expect((await readBudget(budget)).isExhausted).toBeTrue()
  })
})

test('a crowd passes a gate up to its budget, and the budget’s count equals the ledger’s', async () => {
  const [row] = DIALECTS
  if (row === undefined) throw new Error('no dialects')
  scene.upstream.answer(jsonAnswer(200, row.answer))
  const body = { id: 'crowded', targets: [{ model: row.target }] }
  expect((await controlPlaneCall(scene.gatehouse, 'POST', '/v1/gates', body)).status).toBe(201)
  const each = row.usage.inputTokens + row.usage.outputTokens
  const budget = await createBudget({ gateId: 'crowded', limitTokens: 20 * each })
  const calls = Array.from({ length: 100 }, () =>
    scene.post(row.path, requestBody(row, { model: 'crowded' })),
  )
  const statuses = (await Promise.all(calls)).map((answer) => answer.status)
  // Those that found all of it reserved were told to come back: now they do.
  let last = 200
  while (last === 200)
    last = (await scene.post(row.path, requestBody(row, { model: 'crowded' }))).status
  expect(last).toBe(429)
  expect(new Set(statuses).size).toBeGreaterThanOrEqual(1)
  const { used, reserved } = await readBudget(budget)
  expect(reserved.tokens).toBe(0)
  expect(used.tokens).toBeGreaterThanOrEqual(20 * each)
  const rows = await pollUntil('the rows of all', async () => {
    const found = (await listLogRows(scene.gatehouse)).filter(
      (log) => log.gateId === 'crowded' && log.outcome === 'succeeded',
    )
    return found.length * each >= used.tokens ? found : undefined
  })
  const counted = rows.reduce(
    (sum, log) => sum + (log.usage?.inputTokens ?? 0) + (log.usage?.outputTokens ?? 0),
    0,
  )
  expect(used.tokens).toBe(counted)
})

test('a crowd of calls that name no cap passes a budget in money by few of them', async () => {
  const target = 'openai/gpt-4o'
  const usage = { prompt_tokens: 10, completion_tokens: 20_000, total_tokens: 20_010 }
  const answer = jsonAnswer(200, { ...(JSON.parse(CHAT_JSON) as object), usage })
  await createGate(scene.gatehouse, 'dear', target)
  const { key, id: keyId } = await createKey(scene.gatehouse, 'uncapped')
  const ask = () =>
    scene.post(
      '/v1/chat/completions',
      { model: 'dear', messages: [{ role: 'user', content: 'hi' }] },
      { authorization: `Bearer ${key}` },
    )
  scene.upstream.answer(answer)
  const first = await ask()
  const row = await waitForLogRow(scene.gatehouse, first.headers['x-request-id'])
  const { usd: usdEach } = (row as unknown as { cost: { usd: number } }).cost
  const budget = await createBudget({ keyId, limitUsd: 4 * usdEach })

  const asked = Promise.withResolvers<void>()
  scene.upstream.reset()
  scene.upstream.answer(async (exchange) => {
    await asked.promise
    await answer(exchange)
  })
  let refused = 0
  const calls = Array.from({ length: 40 }, async () => {
    const { status } = await ask()
    if (status === 429) refused += 1
  })
  await pollUntil(
    'all of them at the upstream, or refused',
    () => refused + scene.upstream.requests.length === calls.length,
  )
  asked.resolve()
  await Promise.all(calls)
  const { used } = (await readBudget(budget)) as unknown as { used: { usd: number } }
  expect(used.usd).toBeWithin(4 * usdEach, 5.5 * usdEach)
})

test('the SDKs learn not to retry, and do not', async () => {
  const { key, id: keyId } = await createKey(scene.gatehouse, 'sdk')
  await createBudget({ keyId, limitTokens: 1 })
  const [row] = DIALECTS
  if (row === undefined) throw new Error('no dialects')
  scene.upstream.answer(jsonAnswer(200, row.answer))
  await scene.post(row.path, requestBody(row), { authorization: `Bearer ${key}` })
  let sent = 0
  const counting = (...request: Parameters<typeof fetch>) => {
    sent += 1
    return fetch(...request)
  }
  const { url } = scene.gatehouse
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch: counting, maxRetries: 3 })
  const refused = await openai.chat.completions
    .create({ model: 'chat-gate', messages })
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 429, code: 'insufficient_quota' })
  expect(sent).toBe(1)
  const anthropic = new Anthropic({ baseURL: url, apiKey: key, fetch: counting, maxRetries: 3 })
  const refusedToo = await anthropic.messages
    .create({ model: 'messages-gate', max_tokens: 9, messages })
    .catch((error: unknown) => error)
  expect(refusedToo).toMatchObject({ status: 429 })
  expect(sent).toBe(2)
})

describe('webhooks', () => {
  const events = ['budget.threshold', 'budget.exhausted', 'provider.degraded']

  test('get the shares of a budget and a failing target, signed, each once', async () => {
    const [row] = DIALECTS
    if (row === undefined) throw new Error('no dialects')
    const hook = { url: receiver.url, secret: SECRET, events }
    const made = await controlPlaneCall(scene.gatehouse, 'POST', '/v1/webhooks', hook)
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    const tested = await controlPlaneCall(scene.gatehouse, 'POST', `/v1/webhooks/${id}/test`, {})
    expect(await tested.json()).toEqual({ delivered: true, status: 204, detail: 'answered 204' })

    scene.upstream.answer(jsonAnswer(200, row.answer))
    const { key, id: keyId } = await createKey(scene.gatehouse, 'alerted')
    const each = row.usage.inputTokens + row.usage.outputTokens
    const budget = await createBudget({ keyId, limitTokens: 4 * each, alertAt: [0.5, 0.75, 1] })
    for (let call = 0; call < 6; call += 1)
      await scene.post(row.path, requestBody(row), { authorization: `Bearer ${key}` })

    scene.upstream.answer(jsonAnswer(500, {}))
    for (let call = 0; call < 12; call += 1)
      await scene.post(row.path, requestBody(row, { model: 'failing' }))

    const told = await pollUntil('five deliveries', () =>
      receiver.deliveries.length >= 5 ? receiver.deliveries : undefined,
    )
    // Time for what must not come.
    await Bun.sleep(200)
    expect(
      told.map(({ eventName, event }) => [eventName, event.data.threshold ?? event.data.target]),
    ).toEqual([
      ['webhook.test', undefined],
      ['budget.threshold', 0.5],
      ['budget.threshold', 0.75],
      ['budget.exhausted', 1],
      ['provider.degraded', 'openai/failing'],
    ])
    // The operator is told, too.
    expect(scene.gatehouse.output()).toMatch(
      /"target":"openai\/failing","until":"[^"]+","status":502/,
    )
    expect(
      told.every(({ isSigned, event, eventName }) => isSigned && event.type === eventName),
    ).toBeTrue()
    expect(new Set(told.map(({ deliveryId }) => deliveryId)).size).toBe(5)
    expect(told[3]?.event.data).toMatchObject({
      budgetId: budget.id,
      keyId,
      gateId: null,
      unit: 'tokens',
      limit: 4 * each,
      used: 4 * each,
      resetsAt: null,
    })
  })

  test('are told again once the limit of a budget was raised, of a total one too', async () => {
    const [row] = DIALECTS
    if (row === undefined) throw new Error('no dialects')
    scene.upstream.answer(jsonAnswer(200, row.answer))
    const { key, id: keyId } = await createKey(scene.gatehouse, 'raised')
    const each = row.usage.inputTokens + row.usage.outputTokens
    const shares = { keyId, period: 'total', alertAt: [0.5, 1] }
    const budget = await createBudget({ ...shares, limitTokens: 2 * each })
    const told = () =>
      receiver.deliveries
        .filter(({ event }) => event.data.budgetId === budget.id)
        .map(({ event }) => [event.data.threshold, Number(event.data.limit) / each])
    const callUntilRefused = async () => {
      for (;;) {
        const answer = await scene.post(row.path, requestBody(row), {
          authorization: `Bearer ${key}`,
        })
        if (answer.status === 429) return
      }
    }
    const change = async (changes: object) => {
      const path = `/v1/budgets/${budget.id}`
      expect((await controlPlaneCall(scene.gatehouse, 'PATCH', path, changes)).status).toBe(200)
    }
    await callUntilRefused()
    await pollUntil('both shares', () => told().length === 2)
    await change({ name: 'another name' })
    await change({ limitTokens: 6 * each })
    await callUntilRefused()
    await pollUntil('both shares again', () => told().length === 4)
    expect(told()).toEqual([
      [0.5, 2],
      [1, 2],
      [0.5, 6],
      [1, 6],
    ])
    // At a share that is new, what is used already says so at once.
    await change({ alertAt: [0.9] })
    await pollUntil('the new share', () => told().length === 5)
    expect(told().at(-1)).toEqual([0.9, 6])
  })

  test('hear once of a target without credit, and again when it has answered meanwhile', async () => {
    const [row] = DIALECTS
    if (row === undefined) throw new Error('no dialects')
    const hook = { url: receiver.url, secret: SECRET, events: ['target.unusable'] }
    const made = await controlPlaneCall(scene.gatehouse, 'POST', '/v1/webhooks', hook)
    expect(made.status).toBe(201)
    const told = () =>
      receiver.deliveries
        .filter(({ eventName }) => eventName === 'target.unusable')
        .map(({ event }) => event.data)
    const call = () => scene.post(row.path, requestBody(row, { model: 'failing' }))
    const noCredit = { error: { message: 'Insufficient Balance', type: 'unknown_error' } }
    const once = { target: 'openai/failing', reason: 'out_of_credit', status: 402 }
    scene.upstream.answer(jsonAnswer(402, noCredit))
    expect((await call()).status).toBe(402)
    expect((await call()).status).toBe(402)
    await pollUntil('one delivery', () => told().length === 1)
    scene.upstream.answer(jsonAnswer(200, row.answer))
    expect((await call()).status).toBe(200)
    scene.upstream.answer(jsonAnswer(402, noCredit))
    expect((await call()).status).toBe(402)
    await pollUntil('another delivery', () => told().length === 2)
    expect(told()).toEqual([once, once])
    const lines = scene.gatehouse
      .output()
      .match(/"target":"openai\/failing","reason":"out_of_credit"/g)
    expect(lines).toHaveLength(2)
  })

  test('have their secret in no answer, no log line and no file', async () => {
    const { dataFolder } = scene.gatehouse
    const shown = await (await controlPlaneCall(scene.gatehouse, 'GET', '/v1/webhooks')).text()
    expect(shown).toContain(receiver.url)
    const texts = [shown, scene.gatehouse.output()]
    for (const name of readdirSync(dataFolder, { withFileTypes: true }))
      if (name.isFile()) texts.push(readFileSync(join(dataFolder, name.name), 'latin1'))
    for (const text of texts) expect(text.includes(SECRET)).toBeFalse()
  })

  test('at an address inside the network are refused', async () => {
    const hook = { url: 'http://127.0.0.1:9/hook', secret: SECRET, events }
    const refused = await controlPlaneCall(scene.gatehouse, 'POST', '/v1/webhooks', hook)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('"field":"url"')
  })
})
