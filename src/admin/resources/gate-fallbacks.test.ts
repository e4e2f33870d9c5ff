/** Which gates live on a fallback, how much, and why: from recorded calls and this node's memory. */
import { expect, test } from 'bun:test'
import type { CallRecord } from '../../core/call.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import type { SeenTarget } from '../../gateway/attempt/circuit-breakers.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { strangerKey, useControlPlane } from '../control-plane.fixture.ts'

const { check, current, send, sendForJson } = useControlPlane()
const url = '/v1/targets/fallbacks'
const FIRST = 'openai/gpt-5'
const SECOND = 'openai/gpt-4o'

check([
  ['no gate that lives on its fallback', `GET ${url}`, undefined, 200, '"data":[]'],
  ['a query', `GET ${url}?limit=1`, undefined, 400, 'limit'],
])

async function createGate(id: string, changes: object = {}): Promise<void> {
  const body = { id, targets: [{ model: FIRST }, { model: SECOND }], ...changes }
  expect((await send({ method: 'POST', url: '/v1/gates', body })).status).toBe(201)
}

/** Enough to be told of where no failure is known. */
const five = (call: Partial<CallRecord>) => Array.from({ length: 5 }, () => call)

async function record(...calls: readonly Partial<CallRecord>[]): Promise<void> {
  const gateId = 'g' as GateId
  await current().store.calls.insertMany(
    calls.map((call) => createCallRecord({ gateId, startedAt: Date.now(), ...call })),
  )
}

function see(changes: Partial<SeenTarget>): void {
  current().seen.set(`${DEFAULT_ACCOUNT} ${FIRST}`, {
    condition: 'well',
    failuresInARow: 0,
    restsUntilMs: 0,
    averageFirstByteMs: 1,
    lastAnsweredAtMs: 1,
    lastFailure: undefined,
    ...changes,
  })
}

async function list() {
  const { data } = (await sendForJson({ url })) as { data: Record<string, unknown>[] }
  return data
}

test('three of four calls on the fallback are a share of 0.75, with the reason of the rest', async () => {
  await createGate('g')
  await record({ target: FIRST }, { target: SECOND }, { target: SECOND }, { target: SECOND })
  const atMs = Date.now()
  see({
    condition: 'resting',
    failuresInARow: 1,
    restsUntilMs: atMs + 60_000,
    lastFailure: { kind: 'rate_limited', status: 402, atMs, targetFault: 'out_of_credit' },
  })
  expect(await list()).toEqual([
    {
      gate: 'g',
      target: FIRST,
      answeredCalls: 4,
      fallbackCalls: 3,
      share: 0.75,
      reason: 'out_of_credit',
      message: 'The account at openai has no credit. The target is paused, and is tried last.',
      state: 'resting',
      restsUntil: new Date(atMs + 60_000).toISOString(),
      lastFailure: {
        code: 'rate_limit_exceeded',
        status: 402,
        at: new Date(atMs).toISOString(),
        fault: 'out_of_credit',
      },
    },
  ])
  const headers = { authorization: `Bearer ${strangerKey}` }
  expect(await sendForJson({ url, headers })).toMatchObject({ data: [] })
})

test.each([
  ['upstream_error', 429, 'rate_limited', 'was asked too often (429)'],
  ['provider_auth_failed', 502, 'credential_refused', 'credential for openai/gpt-5 was refused'],
  ['upstream_timeout', 504, 'timeout', 'did not answer in time'],
  ['upstream_error', 502, 'failed', 'openai/gpt-5 failed (upstream_error, 502)'],
] as const)('after %s with %d the reason is %s', async (kind, status, reason, words) => {
  await createGate('g')
  await record({ target: SECOND })
  see({ failuresInARow: 1, lastFailure: { kind, status, atMs: Date.now() } })
  const [found] = await list()
  expect(found).toMatchObject({ reason, state: 'failing' })
  expect(found?.message).toContain(words)
  expect(found?.message).toContain('still tried first')
})

test('a failure that another node saw is found in the recorded calls', async () => {
  await createGate('g')
  const failed = { target: FIRST, status: 404, afterMs: 0, durationMs: 5 }
  const answered = { target: SECOND, status: 200, afterMs: 5, durationMs: 9 }
  await record({
    target: SECOND,
    attempts: 2,
    attemptDetails: [
      { ...failed, failure: { kind: 'invalid_request', code: 'model_not_found' } },
      answered,
    ],
  })
  expect(await list()).toMatchObject([
    {
      share: 1,
      reason: 'model_not_found',
      message: 'The model of openai/gpt-5 is retired or unknown at openai.',
      state: 'unknown',
      lastFailure: { status: 404, fault: 'model_not_found' },
    },
  ])
})

test('without any failure it was too slow where the gate hedges, and nobody knows elsewhere', async () => {
  await createGate('g', { hedgeAfterMs: 50 })
  await createGate('h')
  await record(...five({ target: SECOND }), ...five({ target: SECOND, gateId: 'h' as GateId }))
  expect(await list()).toMatchObject([
    { gate: 'h', reason: 'unknown' },
    {
      gate: 'g',
      reason: 'slow',
      message: 'openai/gpt-5 begins later than the gate waits (50 ms).',
    },
  ])
})

test('a target that a budget chose is no fallback', async () => {
  await createGate('g')
  const steered = { target: SECOND, steeredBy: 'bud_1; cheaper' }
  await record({ target: FIRST }, ...five(steered))
  expect(await list()).toEqual([])
  await record(...five({ target: SECOND }))
  expect(await list()).toMatchObject([{ answeredCalls: 6, fallbackCalls: 5 }])
})

test('a first target without a key is passed over', async () => {
  await createGate('g', { targets: [{ model: 'mistral/small' }, { model: SECOND }] })
  await record({ target: SECOND })
  expect(await list()).toMatchObject([
    {
      target: 'mistral/small',
      reason: 'no_credential',
      message: 'No key is configured for mistral, so mistral/small is skipped.',
    },
  ])
})

test('one call in thirty, or the calls of a test, do not make a gate one that lives on its fallback', async () => {
  await createGate('g')
  await createGate('h')
  await record(...Array.from({ length: 29 }, () => ({ target: FIRST })), { target: SECOND })
  await record(...[FIRST, SECOND].map((target) => ({ target, gateId: 'h' as GateId })))
  see({ lastFailure: undefined })
  expect(await list()).toEqual([])
})

test('old calls, failed ones, other strategies and targets that the gate no longer has do not count', async () => {
  await createGate('g')
  await createGate('w', { strategy: 'weighted' })
  await record(
    { target: SECOND, startedAt: Date.now() - 3 * 3_600_000 },
    { target: SECOND, outcome: 'failed', status: 502, errorKind: 'upstream_error' },
    { target: 'openai/o3' },
    { target: SECOND, gateId: 'w' as GateId },
  )
  expect(await list()).toEqual([])
})

test('after a change of the gate, calls before it do not count', async () => {
  await createGate('g')
  await record(...five({ target: SECOND, startedAt: Date.now() - 1 }))
  expect(await list()).toHaveLength(1)
  current().time.now = Date.now()
  const body = { targets: [{ model: SECOND }, { model: FIRST }] }
  await send({ method: 'PATCH', url: '/v1/gates/g', body })
  expect(await list()).toEqual([])
  await record(...five({ target: FIRST, startedAt: Date.now() + 5_000 }))
  expect(await list()).toMatchObject([{ target: SECOND, answeredCalls: 5, fallbackCalls: 5 }])
})
