/**
 * Any call record that the gateway could hand to the ledger, for property tests. Must not be
 * imported outside tests.
 */
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import type { CallColumn } from '../core/call-column.ts'
import { CALL_COLUMNS } from '../core/call-columns.ts'
import type { Cost } from '../core/cost.ts'
import { ERROR_POLICY } from '../core/errors.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { MAX_TOKENS_OF_CALL } from '../core/usage.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constant('line\nbreak "quoted" \u2028 😀 \0'),
)
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const tokens = fc.nat({ max: MAX_TOKENS_OF_CALL })

/** No part is greater than its whole: such usage is cut before it is recorded. */
const usage = fc
  .record(
    { fresh: tokens, cached: tokens, written: tokens, text: tokens, reasoning: tokens },
    { requiredKeys: ['fresh', 'cached', 'text', 'reasoning'] },
  )
  .map(({ fresh, cached, written, text, reasoning }) => {
    const fifth = (count: number) => Math.floor(count / 5)
    return {
      inputTokens: fifth(fresh) + fifth(cached) + fifth(written ?? 0),
      outputTokens: fifth(text) + fifth(reasoning),
      cachedInputTokens: fifth(cached),
      reasoningTokens: fifth(reasoning),
      ...(written === undefined ? {} : { cacheWriteTokens: fifth(written) }),
    }
  })
const failure = fc.record({
  kind: fc.constantFrom(...Object.keys(ERROR_POLICY)),
  code: fc.option(text),
})
const attempt = fc.record(
  {
    target: text,
    status: fc.option(fc.integer({ min: 100, max: 599 })),
    afterMs: count,
    durationMs: count,
    failure,
  },
  { requiredKeys: ['target', 'status', 'afterMs', 'durationMs'] },
)

const cost: fc.Arbitrary<Cost> = fc.record({
  nanoUsd: fc.option(count),
  status: fc.constantFrom('exact', 'estimated', 'unknown'),
  source: fc.option(text),
})

const VALUES: Readonly<Record<Exclude<CallColumn['type'], 'choice'>, fc.Arbitrary<unknown>>> = {
  callId: fc.uuid().map((uuid) => `req_${uuid}`),
  accountId: fc.constant(DEFAULT_ACCOUNT),
  keyId: text,
  gateId: text,
  text,
  flag: fc.boolean(),
  count,
  positiveCount: fc.integer({ min: 1, max: 1e9 }),
  httpStatus: fc.integer({ min: 100, max: 599 }),
  moment: count,
  durationMs: count,
  errorKind: fc.constantFrom(...Object.keys(ERROR_POLICY)),
  attempts: fc.array(attempt, { maxLength: 4 }),
  usage,
  cost,
}

const columns: readonly (readonly [string, CallColumn])[] = Object.entries(CALL_COLUMNS)

function anyValue(column: CallColumn): fc.Arbitrary<unknown> {
  const value = column.type === 'choice' ? fc.constantFrom(...column.values) : VALUES[column.type]
  return column.presence === 'nullable' ? fc.option(value) : value
}

// The list gives the record its type, and every type of the list has its values above.
export const anyCallRecord = fc.record<Record<string, unknown>>(
  Object.fromEntries(columns.map(([name, column]) => [name, anyValue(column)])),
  {
    requiredKeys: columns
      .filter(([, { presence }]) => presence !== 'optional')
      .map(([name]) => name),
  },
) as unknown as fc.Arbitrary<CallRecord>

/** The columns that hold a number. */
export const NUMBER_COLUMNS: readonly string[] = columns
  .filter(([, { type }]) =>
    ['count', 'positiveCount', 'httpStatus', 'moment', 'durationMs'].includes(type),
  )
  .map(([name]) => name)
