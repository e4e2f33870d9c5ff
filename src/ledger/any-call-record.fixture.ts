/** Any call record that the gateway could hand to the ledger, for property tests. Must not be imported outside tests. */
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import type { Cost } from '../core/cost.ts'
import { ERROR_POLICY, type ErrorKind } from '../core/errors.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constant('line\nbreak "quoted" \u2028 😀 \0'),
)
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })

const counts = {
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  reasoningTokens: count,
}
const attempt = fc.record({
  target: text,
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  afterMs: count,
  durationMs: count,
})

const cost: fc.Arbitrary<Cost> = fc.record({
  microUsd: fc.option(count),
  status: fc.constantFrom('exact', 'estimated', 'unknown'),
  source: fc.option(text),
})

export const anyCallRecord: fc.Arbitrary<CallRecord> = fc.record(
  {
    id: fc.uuid().map((uuid) => `req_${uuid}` as CallId),
    accountId: fc.constant(DEFAULT_ACCOUNT),
    keyId: text.map((id) => id as KeyId),
    gateId: text.map((id) => id as GateId),
    dialect: text,
    stream: fc.boolean(),
    target: fc.option(text),
    attempts: fc.nat(),
    outcome: fc.constantFrom('succeeded', 'failed', 'cancelled'),
    status: fc.integer({ min: 100, max: 599 }),
    errorKind: fc.option(fc.constantFrom(...(Object.keys(ERROR_POLICY) as ErrorKind[]))),
    startedAt: count,
    firstByteMs: fc.option(count),
    durationMs: count,
    usage: fc.option(
      fc.oneof(fc.record(counts), fc.record({ ...counts, cacheWriteTokens: count })),
    ),
    credential: fc.constantFrom('own', 'platform', null),
    attemptDetails: fc.array(attempt, { maxLength: 4 }),
    cost,
    refusals: fc.integer({ min: 1, max: 1e9 }),
  },
  {
    requiredKeys: [
      'id',
      'accountId',
      'keyId',
      'gateId',
      'dialect',
      'stream',
      'target',
      'attempts',
      'outcome',
      'status',
      'errorKind',
      'startedAt',
      'firstByteMs',
      'durationMs',
      'usage',
      'credential',
    ],
  },
)
