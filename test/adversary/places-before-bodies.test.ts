/**
 * Nobody makes the process hold more bodies than they may have calls, nor all callers together more
 * bytes than there is room for. The data plane in process, with the limits of one node and of
 * several.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { SharedStore } from '../../src/cluster/shared-store.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { createPlans } from '../../src/core/plan.ts'
import type { Caller, Limits, Slot } from '../../src/gateway/ports.ts'
import { MemoryLimits } from '../../src/limits/memory-limits.ts'
import { SharedLimits } from '../../src/limits/shared-limits.ts'
import { UsageLimits } from '../../src/limits/usage-limits.ts'
import { CHAT_STREAM } from '../support/dialect-samples.ts'
import { CALLER, InProcessGateway } from '../support/in-process-gateway.ts'
import { hold, piece, SILENCE, stream } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_ANSWER, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const LIMITED = new GatewayError('rate_limited', 'Too many.')
const TEXT = JSON.stringify(chatBody())
const SIZE = Buffer.byteLength(TEXT)
const STREAMED = JSON.stringify(chatBody({ stream: true }))

/** A body that comes when the test says so. */
function waiting() {
  let send = () => {}
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(TEXT.slice(0, 10)))
      send = () => {
        controller.enqueue(new TextEncoder().encode(TEXT.slice(10)))
        controller.close()
      }
    },
  })
  return { body, send: () => send() }
}

describe('before a byte of the body is read', () => {
  const limits = {
    acquireSlot: () => {
      throw LIMITED
    },
  }
  runRows([
    {
      name: 'a key without a place is refused, even if its body never comes',
      gateway: { limits },
      request: { body: waiting().body },
      seen: { status: 429, json: { error: { code: 'rate_limit_exceeded' } } },
      settled: null,
      tookMs: 0,
    },
    {
      name: 'and before an invalid body is noticed',
      gateway: { limits },
      request: { body: 'no JSON' },
      seen: { status: 429 },
      settled: null,
    },
    {
      name: 'but not before an unknown key is refused',
      gateway: { limits },
      request: { headers: { authorization: 'Bearer nobody' } },
      seen: { status: 401 },
      settled: null,
    },
    {
      name: 'the place of an invalid body is given back',
      request: { body: 'no JSON' },
      seen: { status: 400 },
      settled: null,
      check: ({ limits: seen }) => expect(seen.slots).toBe(0),
    },
  ])
})

describe('bytes of all bodies together', () => {
  test('are bounded: a body beyond is refused with a time to come back, and room returns with ended calls', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      maxHeldBodyBytes: SIZE + 20,
      upstream: [CHAT_ANSWER, CHAT_ANSWER],
    })
    const first = waiting()
    const begun = gateway.begin({ path: CHAT, body: first.body })
    await gateway.clock.advance(1)
    expect(gateway.bodyBudget.heldBytes).toBe(10)
    const refused = await gateway.begin({ path: CHAT, body: `${TEXT}${' '.repeat(11)}` }).seen
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'unavailable' } })
    first.send()
    expect((await gateway.clock.finish(begun.seen)).status).toBe(200)
    expect((await gateway.ask({ path: CHAT, body: `${TEXT}${' '.repeat(11)}` })).status).toBe(200)
    await gateway.assertNothingIsLeft()
  })

  test('are counted as they come if their length is not declared', async () => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      maxHeldBodyBytes: SIZE - 1,
    })
    const late = waiting()
    const begun = gateway.begin({ path: CHAT, body: late.body })
    late.send()
    expect((await gateway.clock.finish(begun.seen)).status).toBe(503)
    await gateway.assertNothingIsLeft()
  })

  test('are free once a stream has begun, and the stream’s usage is still known', async () => {
    const held = Promise.withResolvers<void>()
    const [first = '', ...rest] = CHAT_STREAM
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      maxHeldBodyBytes: STREAMED.length,
      upstream: [
        stream([first], { ending: [hold(held.promise), ...rest.map(piece)] }),
        stream([first], { ending: [SILENCE] }),
      ],
    })
    const slow = gateway.begin({ path: CHAT, body: STREAMED })
    await gateway.clock.advance(1)
    expect(gateway.bodyBudget.heldBytes).toBe(0)
    const leaving = gateway.begin({ path: CHAT, body: STREAMED }, { leavesAfterEvents: 1 })
    expect((await gateway.clock.finish(leaving.seen)).ending).toBe('left')
    // Its upstream had reported nothing: what was read is estimated from a body that is gone.
    const [left] = gateway.ledger.records
    expect(left?.outcome).toBe('cancelled')
    expect(left?.usage?.inputTokens).toBe(Math.ceil(STREAMED.length / 4))
    expect(gateway.bodyBudget.heldBytes).toBe(0)
    held.resolve()
    expect((await gateway.clock.finish(slow.seen)).text).toBe(CHAT_STREAM.join(''))
    await gateway.assertNothingIsLeft()
  })

  runRows([
    {
      name: 'are held until the answer is over, and no longer',
      gateway: { maxHeldBodyBytes: SIZE },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
  ])
})

const caller = (limits: Partial<Caller['limits']>): Caller => ({
  ...CALLER,
  limits: { ...CALLER.limits, ...limits },
})
const AHEAD = { gateId: GATE, startedAtMs: 1_790_000_000_000, estimatedTokens: 0 }
const now = { now: () => AHEAD.startedAtMs, elapsed: () => AHEAD.startedAtMs }

/** A store that grants nothing and refuses nothing: it is away, and each node counts for itself. */
const AWAY: SharedStore = {
  mode: 'share',
  nodes: 1,
  nodeId: 'node',
  run: () => Promise.reject(new Error('away')),
}

const usage = () => new UsageLimits({ plans: createPlans() })
const kinds: readonly (readonly [string, () => Limits])[] = [
  ['one node', () => new MemoryLimits(now, usage())],
  [
    'several nodes',
    () =>
      new SharedLimits({
        store: AWAY,
        prefix: 'test',
        usage: usage(),
        clock: now,
        sharedClock: now,
      }),
  ],
]

describe.each(kinds)('the places of a key on %s', (_, create) => {
  let limits: Limits
  beforeAll(() => {
    limits = create()
  })

  test('are taken by bodies that are still to come and by calls that run, together', async () => {
    const three = caller({ concurrentCalls: 3 })
    const enter = () => limits.acquireSlot(three, AHEAD.startedAtMs)
    const slots: Slot[] = [enter(), enter()]
    slots.pop()?.release()
    const ticket = await limits.admit(three, AHEAD)
    slots.push(enter())
    expect(enter).toThrow(expect.objectContaining({ kind: 'rate_limited', status: 429 }))
    for (const place of slots) {
      place.release()
      // Only the first call counts.
      place.release()
    }
    slots.push(enter(), enter())
    expect(enter).toThrow(expect.objectContaining({ kind: 'rate_limited' }))
    ticket.settle({
      tokens: 0,
      cost: { nanoUsd: null, status: 'unknown', source: null },
      countsForQuota: true,
      endedAtMs: AHEAD.startedAtMs,
    })
    enter()
  })

  test('count together for all keys of an account, and a refused one holds none of its own key', () => {
    const account = {
      requestsPerMinute: Number.POSITIVE_INFINITY,
      tokensPerMinute: Number.POSITIVE_INFINITY,
      concurrentCalls: 2,
    }
    const enter = (key: string) =>
      limits.acquireSlot(
        { ...caller({ concurrentCalls: 1, account }), keyId: key as Caller['keyId'] },
        AHEAD.startedAtMs,
      )
    const [first] = [enter('key_a'), enter('key_b')]
    expect(() => enter('key_c')).toThrow(
      expect.objectContaining({
        kind: 'rate_limited',
        message: expect.stringContaining(
          'all keys and tokens of this account together are allowed 2',
        ),
      }),
    )
    first?.release()
    enter('key_c')
  })

  test('are not given once the requests of a minute are used up, and entering uses none of them', async () => {
    const one = { ...caller({ requestsPerMinute: 1 }), keyId: 'key_minute' as Caller['keyId'] }
    for (let round = 0; round < 5; round++) limits.acquireSlot(one, AHEAD.startedAtMs).release()
    await limits.admit(one, AHEAD)
    expect(() => limits.acquireSlot(one, AHEAD.startedAtMs)).toThrow(
      expect.objectContaining({
        kind: 'rate_limited',
        message: expect.stringContaining('requests per minute'),
      }),
    )
  })
})
