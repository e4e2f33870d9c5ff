/** Stretches of time that begin and end within days, in one pass with others. */
import { describe, expect, test } from 'bun:test'
import { databases } from '../../../test/support/databases.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore } from '../open-store.ts'
import type { ScopedRange } from './sum-call-rows.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FROM_MS = Date.UTC(2026, 0, 30)
/** More than Postgres sums in one statement. */
const DAYS = 10
const KEYS = ['key_1', 'key_2', 'key_3'] as KeyId[]
const GATES = ['one', 'two'] as GateId[]

/** Every hour has some of each key, and each call other tokens. */
const CALLS = Array.from({ length: DAYS * 24 * 6 }, (_, number) => ({
  startedAt: FROM_MS + number * (HOUR_MS / 6),
  keyId: KEYS[number % KEYS.length] as KeyId,
  gateId: GATES[(number >> 1) % GATES.length] as GateId,
  inputTokens: 1 + number,
  isPriced: number % 4 !== 0,
}))

function sumOf({ fromMs, untilMs, keyId, gateId }: ScopedRange) {
  const calls = CALLS.filter(
    (call) =>
      call.startedAt >= fromMs &&
      call.startedAt < untilMs &&
      (keyId === undefined || call.keyId === keyId) &&
      (gateId === undefined || call.gateId === gateId),
  )
  return {
    tokens: calls.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    nanoUsd: calls.filter(({ isPriced }) => isPriced).length * 40,
    unpricedCalls: calls.filter(({ isPriced }) => !isPriced).length,
  }
}

const at = (day: number, hour: number) => FROM_MS + day * DAY_MS + hour * HOUR_MS
const RANGES: readonly ScopedRange[] = [
  { fromMs: at(0, 0), untilMs: Number.POSITIVE_INFINITY, keyId: 'key_1' as KeyId },
  { fromMs: at(0, 5), untilMs: Number.POSITIVE_INFINITY, keyId: 'key_2' as KeyId },
  { fromMs: at(1, 23), untilMs: Number.POSITIVE_INFINITY, gateId: 'one' as GateId },
  { fromMs: at(0, 0), untilMs: at(3, 0), gateId: 'two' as GateId },
  { fromMs: at(0, 7), untilMs: at(3, 4), keyId: 'key_3' as KeyId },
  { fromMs: at(1, 7), untilMs: at(1, 9), keyId: 'key_3' as KeyId },
  { fromMs: at(1, 20), untilMs: at(2, 3), gateId: 'one' as GateId },
  { fromMs: at(2, 0), untilMs: at(2, 1), keyId: 'key_1' as KeyId },
  { fromMs: at(2, 3), untilMs: at(2, 3), keyId: 'key_1' as KeyId },
  { fromMs: at(4, 2), untilMs: Number.POSITIVE_INFINITY, keyId: 'key_1' as KeyId },
  { fromMs: at(14, 3), untilMs: Number.POSITIVE_INFINITY, keyId: 'key_1' as KeyId },
  { fromMs: at(0, 5), untilMs: Number.POSITIVE_INFINITY },
  { fromMs: at(2, 0), untilMs: at(9, 0) },
]

describe.each(databases)('on $name', (kind) => {
  test('usage of a key or a gate over any stretch of hours is exact', async () => {
    const database = await kind.create()
    const store = await openStore(database.location)
    try {
      await store.calls.insertMany(
        CALLS.map(({ inputTokens, isPriced, ...call }) =>
          createCallRecord({
            ...call,
            usage: { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
            cost: isPriced
              ? { nanoUsd: 40, status: 'exact', source: 'test' }
              : { nanoUsd: null, status: 'unknown', source: null },
          }),
        ),
      )
      expect(await store.usageSums.ofRanges(DEFAULT_ACCOUNT, RANGES)).toEqual(RANGES.map(sumOf))
      // Each by itself, since it lies in other company then.
      for (const range of RANGES)
        expect(await store.usageSums.ofRanges(DEFAULT_ACCOUNT, [range])).toEqual([sumOf(range)])
    } finally {
      await store.close()
      await database.remove()
    }
  })
})
