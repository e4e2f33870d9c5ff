/**
 * From an attempt to the next at the same target: which failures are retried, after which pause,
 * and clients that leave meanwhile.
 */
import { afterEach, beforeEach, describe, expect, type Mock, spyOn, test } from 'bun:test'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CUT,
  head,
  json,
  pause,
  piece,
  type Script,
  SILENCE,
  stream,
  UNREACHABLE,
} from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  CHAT_EVENTS,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRow,
  runRows,
  type StageRow,
  TARGET,
} from '../support/stage-rows.ts'

const gate = (maxRetries: number, members: object = {}) => ({
  gates: { [GATE]: { targets: [{ model: TARGET }], maxRetries, ...members } },
})
const refusal = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  json(
    status,
    { error: { message: `said ${status}`, type: 't', param: null, code: null } },
    headers,
  )

let random: Mock<typeof Math.random>
beforeEach(() => {
  random = spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(() => random.mockRestore())

describe('tried again', () => {
  const passing: readonly (readonly [string, Script, number | null])[] = [
    ['an address that cannot be reached', UNREACHABLE, null],
    ['a connection that goes before the head', [CUT], null],
    ['a connection that goes in the body', [head(200), piece('{'), CUT], 200],
    ['a silent upstream', [SILENCE], null],
    ['an upstream that falls silent in the body', [head(200), piece('{'), SILENCE], 200],
    ['no JSON', json(200, 'no JSON'), 200],
    ['no content', json(200, ''), 200],
    ['408', refusal(408), 408],
    ['409', refusal(409), 409],
    ['424', refusal(424), 424],
    ['429', refusal(429), 429],
    ['500', refusal(500), 500],
    ['503', refusal(503), 503],
  ]
  runRows(
    passing.map(([name, script, status]) => ({
      name,
      gateway: gate(1),
      upstream: [script, CHAT_ANSWER],
      seen: {
        status: 200,
        headers: { 'x-gatehouse-attempts': '2', 'x-gatehouse-target': TARGET },
        forbids: ['said'],
      },
      sent: [{ json: { model: 'gpt-4o' } }, { json: { model: 'gpt-4o' }, state: 'whole' }],
      settled: {
        outcome: 'succeeded',
        status: 200,
        attempts: 2,
        target: TARGET,
        usage: script.includes(SILENCE)
          ? { ...CHAT_USAGE, inputTokens: CHAT_USAGE.inputTokens + 16 }
          : CHAT_USAGE,
        attemptDetails: [
          { target: TARGET, status, afterMs: 0, durationMs: expect.any(Number) as never },
          { target: TARGET, status: 200, afterMs: expect.any(Number) as never, durationMs: 0 },
        ],
      },
    })),
  )

  const stalls: readonly (readonly [string, Script])[] = [
    ['a stream that ends before its first event', stream([])],
    ['a stream that ends in the middle of its first event', stream(['data: {"id"'])],
    ['a stream whose first event is an error', stream(['data: {"error":{"message":"boom"}}\n\n'])],
    ['JSON for a call with streaming', CHAT_ANSWER],
  ]
  runRows(
    stalls.map(([name, script]) => ({
      name,
      gateway: gate(1),
      request: { body: chatBody({ stream: true, stream_options: { include_usage: true } }) },
      upstream: [script, CHAT_EVENTS],
      seen: { status: 200, headers: { 'x-gatehouse-attempts': '2' }, forbids: ['boom'] },
      sent: [{ state: expect.any(String) as never }, { state: 'whole' }],
      settled: { outcome: 'succeeded', attempts: 2, stream: true },
    })),
  )
})

describe('not tried again', () => {
  const lasting: readonly (readonly [string, Script, number, string])[] = [
    ['400', refusal(400), 400, 'upstream_error'],
    ['404', refusal(404), 404, 'upstream_error'],
    ['413', refusal(413), 413, 'upstream_error'],
    ['422', refusal(422), 422, 'upstream_error'],
    ['a refused credential', refusal(401), 502, 'provider_auth_failed'],
    ['a forbidden one', refusal(403), 502, 'provider_auth_failed'],
  ]
  runRows(
    lasting.map(([name, script, status, errorKind]) => ({
      name,
      gateway: gate(2),
      upstream: [script],
      seen: { status },
      sent: [{}],
      settled: {
        outcome: 'failed',
        status,
        errorKind: errorKind as never,
        attempts: 1,
        usage: null,
      },
      spent: { tokens: 0 },
      tookMs: 0,
    })),
  )

  runRows([
    {
      name: 'anything, without retries in the gate',
      gateway: gate(0),
      upstream: [refusal(503)],
      seen: { status: 503, json: { error: { message: 'said 503' } } },
      sent: [{}],
      settled: { outcome: 'failed', status: 503, attempts: 1 },
      tookMs: 0,
    },
    {
      name: 'more often than the gate says: the last failure is shown',
      gateway: gate(2),
      upstream: [refusal(503), refusal(500), refusal(429)],
      seen: { status: 429, json: { error: { message: 'said 429' } } },
      sent: [{}, {}, {}],
      settled: {
        outcome: 'failed',
        status: 429,
        attempts: 3,
        attemptDetails: [{ status: 503 }, { status: 500 }, { status: 429 }] as never,
      },
      spent: { tokens: 0, cost: { nanoUsd: null, status: 'unknown', source: null } },
    },
  ])
})

describe('the pause before it', () => {
  const times = (scripts: readonly Script[]) => ({
    gateway: gate(scripts.length),
    upstream: [...scripts, CHAT_ANSWER],
    seen: { status: 200 },
    settled: { outcome: 'succeeded' as const, attempts: scripts.length + 1 },
  })
  const at = (...atMs: number[]) => atMs.map((ms) => ({ atMs: ms }))
  const rows: readonly StageRow[] = [
    {
      name: 'doubles from one to the next, up to eight seconds',
      ...times(Array(7).fill(UNREACHABLE)),
      sent: at(0, 100, 300, 700, 1_500, 3_100, 6_300, 10_300),
    },
    {
      name: 'is as long as the upstream requests',
      ...times([refusal(429, { 'retry-after': '2' })]),
      sent: at(0, 2_000),
    },
    {
      name: 'is as long as the upstream requests in milliseconds, which is more exact',
      ...times([refusal(429, { 'retry-after': '9', 'retry-after-ms': '250' })]),
      sent: at(0, 250),
    },
    {
      name: 'is never shorter than its own backoff',
      ...times([refusal(429, { 'retry-after-ms': '1' })]),
      sent: at(0, 100),
    },
    {
      name: 'is never longer than eight seconds',
      ...times([refusal(503, { 'retry-after': '3600' })]),
      sent: at(0, 8_000),
    },
    {
      name: 'is its own if the upstream sent a date or nothing readable',
      ...times([refusal(503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })]),
      sent: at(0, 100),
    },
    {
      name: 'counts from the end of the attempt that failed',
      ...times([[pause(700), ...refusal(503)]]),
      sent: at(0, 800),
      tookMs: 800,
    },
  ]
  runRows(rows)

  test('is somewhere between zero and the whole backoff', async () => {
    for (const [share, atMs] of [
      [0, 0],
      [0.25, 50],
      [0.999, 199.8],
    ] as const) {
      random.mockReturnValue(share)
      await runRow({ ...times([UNREACHABLE]), sent: at(0, atMs) })
    }
  })
})

describe('a client that leaves during the pause', () => {
  const left: StageRow = {
    name: 'ends the call at once: nothing more is sent, the place is free, the call is recorded',
    gateway: gate(3),
    upstream: [refusal(429, { 'retry-after': '8' })],
    client: { leavesAfterMs: 1_000 },
    seen: { status: 502, ending: 'left' },
    sent: [{ atMs: 0 }],
    settled: {
      outcome: 'cancelled',
      status: 499,
      errorKind: null,
      attempts: 1,
      target: TARGET,
      usage: null,
      durationMs: 1_000,
      firstByteMs: null,
    },
    spent: { tokens: 0 },
    tookMs: 1_000,
  }
  runRows([left])

  test('before it begins, while the refusal is still being read', () =>
    runRow({
      ...left,
      upstream: [[head(503), pause(5_000), piece('{}')]],
      client: { leavesAfterMs: 500 },
      sent: [{ state: 'cancelled' }],
      settled: { outcome: 'cancelled', status: 499, durationMs: 500 },
      tookMs: 500,
    }))

  test('does not count against the target', async () => {
    const gateway = new InProcessGateway({ ...gate(3), upstream: [refusal(503)] })
    await gateway.ask({ path: CHAT, body: chatBody() }, { leavesAfterMs: 50 })
    expect(gateway.breakers.seenOf(`acct_caller\n${TARGET}`)).toMatchObject({ failuresInARow: 1 })
    await gateway.assertNothingIsLeft()
  })
})

describe('the time that the gate grants', () => {
  test('counts from the first attempt on, pauses and all', () =>
    // Retries after 100 and 300 ms.
    runRow({
      gateway: gate(3, { timeoutMs: 1_000 }),
      upstream: [UNREACHABLE, UNREACHABLE, [SILENCE]],
      seen: { status: 504, json: { error: { type: 'upstream_error', code: 'total_timeout' } } },
      sent: [
        { timeouts: expect.objectContaining({ totalMs: 1_000 }) as never },
        { timeouts: expect.objectContaining({ totalMs: 900 }) as never },
        { timeouts: expect.objectContaining({ totalMs: 700 }) as never, state: 'total_timeout' },
      ],
      settled: { outcome: 'failed', status: 504, errorKind: 'upstream_timeout', attempts: 3 },
      // No pause and no retry after the time limit.
      tookMs: 1_000,
    }))

  const busy = refusal(429, { 'retry-after': '8' })
  runRows([
    {
      name: 'ends the call at once, with the reason, if a retry would begin after it',
      gateway: gate(3, { timeoutMs: 5_000 }),
      upstream: [busy],
      seen: {
        status: 429,
        json: { error: { message: 'said 429' } },
        headers: { 'retry-after': '8' },
      },
      sent: [{}],
      settled: { outcome: 'failed', status: 429, attempts: 1, durationMs: 0 },
      tookMs: 0,
    },
    {
      name: 'is left to the next target then',
      gateway: gate(3, { timeoutMs: 5_000, targets: [{ model: TARGET }, { model: 'groq/other' }] }),
      upstream: [busy, CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': 'groq/other' } },
      sent: [{ atMs: 0 }, { atMs: 0 }],
      settled: { outcome: 'succeeded', attempts: 2 },
      tookMs: 0,
    },
    {
      name: 'is the server’s if the gate has none',
      gateway: { ...gate(3), timeouts: { totalMs: 5_000 } },
      upstream: [busy],
      seen: { status: 429 },
      sent: [{}],
      settled: { outcome: 'failed', attempts: 1 },
      tookMs: 0,
    },
    {
      name: 'is used to its end',
      gateway: gate(1, { timeoutMs: 8_001 }),
      upstream: [busy, CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ atMs: 0 }, { atMs: 8_000 }],
      settled: { outcome: 'succeeded', attempts: 2 },
    },
  ])
})
