/**
 * A key that is revoked during its calls: what the client receives, in each dialect, and what is
 * stored.
 */
import { describe, expect, test } from 'bun:test'
import { NO_RULES } from '../../src/core/access-token.ts'
import { DIALECTS } from '../support/dialect-table.ts'
import { readErrorCode } from '../support/envelopes.ts'
import { CALLER, InProcessGateway, REVOKED_CALLS_MS } from '../support/in-process-gateway.ts'
import { head, json, pause, piece, SILENCE, stream } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_ANSWER, CHAT_EVENTS, chatBody, GATE, TARGET } from '../support/stage-rows.ts'
import { TRANSLATED } from '../support/translated-samples.ts'

const MESSAGE = 'The API key or session of this call was deleted or has expired.'
const STOPPED = 'This access token was stopped by an administrator. Reason: It leaked.'
const [anthropic] = TRANSLATED
const TRANSLATING = 'anthropic/claude-opus-5'

const DOORS = [
  ...DIALECTS.map(({ dialect, path, target, envelope, fields, stream: events }) => ({
    name: dialect,
    path,
    target,
    envelope,
    body: { ...fields, model: GATE, stream: true },
    events: events as readonly (string | Uint8Array)[],
  })),
  {
    name: 'gatehouse-chat, translated',
    path: '/v3/chat',
    target: TRANSLATING,
    envelope: 'flat',
    body: { gate_id: GATE, messages: [{ role: 'user', content: 'hi' }], stream: true },
    events: anthropic?.stream ?? [],
  },
  {
    name: 'openai-chat, translated',
    path: CHAT,
    target: TRANSLATING,
    envelope: 'nested',
    body: chatBody({ stream: true }),
    events: anthropic?.stream ?? [],
  },
] as const

const failuresOf = (target: string) => `${CALLER.accountId}\n${target}`

describe.each(DOORS.map((door) => [door.name, door] as const))('%s', (_, door) => {
  const { path, body, target, envelope, events } = door

  test('a stream gets an error in its dialect, is cut, and settled once when its key is deleted', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [target] },
      upstream: [stream(events.slice(0, -1), { ending: [SILENCE] })],
    })
    const { seen } = gateway.begin({ path, body })
    await gateway.clock.advance(5_000)
    expect(gateway.ledger.records).toEqual([])
    gateway.deleteKey()
    const beganAt = gateway.clock.passedMs
    const { status, ending, text } = await gateway.clock.finish(seen)
    expect({ status, ending }).toEqual({ status: 200, ending: 'cut' })
    expect(text).toContain(MESSAGE)
    expect(gateway.clock.passedMs - beganAt).toBeLessThanOrEqual(REVOKED_CALLS_MS + 50)
    expect(gateway.upstream.sent).toMatchObject([{ state: 'revoked' }])
    expect(gateway.ledger.records).toMatchObject([
      { outcome: 'failed', status: 200, errorKind: 'unauthorized', keyId: CALLER.keyId, target },
    ])
    // The failure must not count against the target.
    expect(gateway.breakers.seenOf(failuresOf(target))?.failuresInARow).toBe(0)
    await gateway.assertNothingIsLeft()
  })

  test('a stream with its key deleted before its usage report has its input tokens recorded', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [target] },
      upstream: [stream(events.slice(0, -2), { ending: [SILENCE] })],
    })
    const { seen } = gateway.begin({ path, body })
    await gateway.clock.advance(5_000)
    gateway.deleteKey()
    await gateway.clock.finish(seen)
    expect(gateway.ledger.records[0]?.usage?.inputTokens).toBeGreaterThan(0)
    await gateway.assertNothingIsLeft()
  })

  test('a stream and a waiting call end at once with the reason when their token is stopped', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [target] },
      upstream: [stream(events.slice(0, -1), { ending: [SILENCE] }), [SILENCE]],
      token: NO_RULES,
    })
    const calls = [gateway.begin({ path, body }), gateway.begin({ path, body })]
    await gateway.clock.advance(1_000)
    const beganAt = gateway.clock.passedMs
    expect(gateway.stopToken('It leaked.')).toEqual([{ id: CALLER.keyId, calls: 2 }])
    expect(gateway.upstream.sent).toMatchObject([{ state: 'revoked' }, { state: 'revoked' }])
    const [begun, waiting] = await Promise.all(calls.map(({ seen }) => gateway.clock.finish(seen)))
    expect(gateway.clock.passedMs - beganAt).toBeLessThanOrEqual(50)
    expect(begun).toMatchObject({ status: 200, ending: 'cut' })
    expect(waiting?.status).toBe(403)
    for (const seen of [begun, waiting]) expect(seen?.text).toContain(STOPPED)
    readErrorCode(envelope, waiting?.text ?? '')
    const later = await gateway.ask({ path, body })
    expect([later.status, later.text]).toEqual([403, expect.stringContaining(STOPPED)])
    expect(later.headers['x-should-retry']).toBe('false')
    expect(gateway.ledger.records).toMatchObject([
      { outcome: 'failed', errorKind: 'forbidden' },
      { outcome: 'failed', errorKind: 'forbidden' },
    ])
    await gateway.assertNothingIsLeft()
  })

  test('a waiting call is 401 when its key is deleted, and no other target is tried', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: { targets: [{ model: target }, { model: target }], maxRetries: 3 } },
      upstream: [[SILENCE]],
    })
    const { seen } = gateway.begin({ path, body })
    await gateway.clock.advance(5_000)
    gateway.deleteKey()
    const { status, text } = await gateway.clock.finish(seen)
    expect(status).toBe(401)
    readErrorCode(envelope, text)
    expect(text).toContain(MESSAGE)
    expect(gateway.ledger.records).toMatchObject([
      { outcome: 'failed', status: 401, errorKind: 'unauthorized', attempts: 1 },
    ])
    await gateway.assertNothingIsLeft()
  })
})

test('usage that the upstream has reported by then is counted', async () => {
  const [begins = '', ...more] =
    DIALECTS.find(({ dialect }) => dialect === 'anthropic-messages')?.stream ?? []
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TRANSLATING] },
    upstream: [stream([begins, more[0] ?? ''], { ending: [SILENCE] })],
  })
  const body = {
    model: GATE,
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
  }
  const { seen } = gateway.begin({ path: '/v1/messages', body })
  await gateway.clock.advance(1_000)
  gateway.deleteKey()
  await gateway.clock.finish(seen)
  expect(gateway.ledger.records[0]?.usage?.inputTokens).toBeGreaterThan(0)
  await gateway.assertNothingIsLeft()
})

test('a call without streaming is 401 in the middle of its answer', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    upstream: [[head(200, { 'content-type': 'application/json' }), piece('{"id":'), SILENCE]],
  })
  const { seen } = gateway.begin({ path: CHAT, body: chatBody() })
  await gateway.clock.advance(1_000)
  gateway.deleteKey()
  expect((await gateway.clock.finish(seen)).status).toBe(401)
  await gateway.assertNothingIsLeft()
})

test('a call with its body still on its way is 401 when its key is deleted, without an attempt', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    bodyLimits: { bodyTimeoutMs: 60_000 },
    upstream: [],
  })
  const [whole, bytes] = [Promise.withResolvers<void>(), Buffer.from(JSON.stringify(chatBody()))]
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async start(controller) {
      controller.enqueue(new Uint8Array(bytes.subarray(0, 20)))
      await whole.promise
      controller.enqueue(new Uint8Array(bytes.subarray(20)))
      controller.close()
    },
  })
  const { seen } = gateway.begin({ path: CHAT, body })
  await gateway.clock.advance(5_000)
  gateway.deleteKey()
  await gateway.clock.advance(REVOKED_CALLS_MS + 50)
  whole.resolve()
  const { status, text } = await gateway.clock.finish(seen)
  expect({ status, text }).toEqual({ status: 401, text: expect.stringContaining(MESSAGE) })
  expect(gateway.upstream.sent).toEqual([])
  await gateway.assertNothingIsLeft()
})

test('a hedged call that a stop ends counts once', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: { targets: [{ model: TARGET }, { model: TRANSLATING }], hedgeAfterMs: 100 } },
    upstream: [[SILENCE], [SILENCE]],
    token: NO_RULES,
  })
  const { seen } = gateway.begin({ path: CHAT, body: chatBody({ stream: true }) })
  await gateway.clock.advance(1_000)
  expect(gateway.stopToken(null)).toEqual([{ id: CALLER.keyId, calls: 1 }])
  expect((await gateway.clock.finish(seen)).status).toBe(403)
  await gateway.assertNothingIsLeft()
})

test('a call that waits for its admission while its key is deleted asks no upstream', async () => {
  const admission = Promise.withResolvers<void>()
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    limits: { whenReady: () => admission.promise },
  })
  const { seen } = gateway.begin({ path: CHAT, body: chatBody() })
  await gateway.clock.idle()
  gateway.deleteKeyQuietly()
  admission.resolve()
  expect((await gateway.clock.finish(seen)).status).toBe(401)
  expect(gateway.upstream.sent).toEqual([])
  await gateway.assertNothingIsLeft()
})

test('both of a hedged pair end with the key', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: { targets: [{ model: TARGET }, { model: TRANSLATING }], hedgeAfterMs: 100 } },
    upstream: [[SILENCE], [SILENCE]],
  })
  const { seen } = gateway.begin({ path: CHAT, body: chatBody({ stream: true }) })
  await gateway.clock.advance(1_000)
  gateway.deleteKey()
  expect((await gateway.clock.finish(seen)).status).toBe(401)
  expect(gateway.upstream.sent).toMatchObject([{ state: 'revoked' }, { state: 'revoked' }])
  expect(gateway.ledger.records).toHaveLength(1)
  await gateway.assertNothingIsLeft()
})

test.each([
  ['a stream', CHAT_EVENTS, true],
  ['an answer', CHAT_ANSWER, false],
])('%s that is complete before the next check stays whole', async (_, answer, isStream) => {
  const [begin = head(200), ...rest] = answer
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    upstream: [[begin, pause(REVOKED_CALLS_MS - 1), ...rest]],
  })
  const { seen } = gateway.begin({ path: CHAT, body: chatBody({ stream: isStream }) })
  await gateway.clock.idle()
  gateway.deleteKey()
  expect(await gateway.clock.finish(seen)).toMatchObject({ status: 200, ending: 'whole' })
  expect(gateway.ledger.records).toMatchObject([{ outcome: 'succeeded' }])
  await gateway.clock.advance(REVOKED_CALLS_MS)
  await gateway.assertNothingIsLeft()
})

test('calls of an active key go on', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    upstream: [json(200, { id: 'x', choices: [] })],
  })
  expect((await gateway.ask({ path: CHAT, body: chatBody() })).status).toBe(200)
  await gateway.assertNothingIsLeft()
})

test('a call that waits for its retry ends when its key is deleted, without another attempt', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: { targets: [{ model: TARGET }], maxRetries: 3 } },
    upstream: [json(503, '{}', { 'retry-after': '8' })],
  })
  const { seen } = gateway.begin({ path: CHAT, body: chatBody() })
  await gateway.clock.advance(1_000)
  expect(gateway.upstream.sent).toHaveLength(1)
  gateway.deleteKey()
  const { status, text } = await gateway.clock.finish(seen)
  expect({ status, code: readErrorCode('nested', text) }).toEqual({
    status: 401,
    code: 'invalid_api_key',
  })
  expect(gateway.clock.passedMs).toBeLessThanOrEqual(1_000 + REVOKED_CALLS_MS + 50)
  expect(gateway.upstream.sent).toHaveLength(1)
  expect(gateway.ledger.records).toMatchObject([{ outcome: 'failed', errorKind: 'unauthorized' }])
  await gateway.assertNothingIsLeft()
})
