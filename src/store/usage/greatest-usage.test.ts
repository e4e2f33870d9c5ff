/**
 * The sums of calls whose servers report as much as they can: a server of somebody's own may say
 * what it likes, and everybody's limits wait for these sums at a start.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { Budget } from '../../core/budget.ts'
import { toTrueUsage } from '../../core/usage.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openDatabase } from '../database/open-database.ts'
import { openStore, type Store } from '../open-store.ts'
import { readSums } from './read-sums.fixture.ts'
import { HOUR_MS } from './usage-columns.ts'
import { UsageSums } from './usage-sums.ts'

/** So many calls overflow 63 bits if each counts as it was reported. */
const CALLS = 1_200
const MOST = Number.MAX_SAFE_INTEGER
const REPORTED = {
  inputTokens: MOST,
  outputTokens: MOST,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

test.each(databases)('on $name they can be added up and read', async (kind) => {
  const created = await kind.create()
  const database = await openDatabase(created.location)
  try {
    const calls = new CallTableStore(database)
    const usage = toTrueUsage(REPORTED)
    for (let start = 0; start < CALLS; start += 400)
      await calls.insertMany(Array.from({ length: 400 }, () => createCallRecord({ usage })))
    const found = await new UsageSums(database).since({ fromMs: 0 })
    expect(found).toHaveLength(1)
  } finally {
    await database.destroy()
    await created.remove()
  }
})

/** A call could be said to have used up to 2^53 tokens of each kind. */
describe.each(databases)('on $name, what an earlier version let in', (kind) => {
  const BEGIN_MS = Date.UTC(2026, 0, 5, 10)
  const UNTIL_MS = Date.UTC(2026, 2)
  const { accountId, keyId } = createCallRecord()
  const budget: Budget = {
    accountId,
    id: 'bud_1',
    name: 'team',
    scope: { type: 'key', keyId },
    limit: { type: 'tokens', tokens: 1 },
    period: 'total',
    unpriced: 'refuse',
    alertAt: [],
    createdAt: BEGIN_MS,
    updatedAt: BEGIN_MS,
  }
  let created: TestDatabase
  let store: Store
  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
    await insertCalls(3)
    for (const table of ['usage_hours', 'usage_days'])
      await created.run(
        `UPDATE ${table} SET input_tokens = 9223372036854775000,
          output_tokens = 9223372036854775000, cost_nano_usd = 9223372036854775000`,
      )
  })
  afterEach(async () => {
    await store.close()
    await created.remove()
  })

  /** An hour after each other. */
  async function insertCalls(count: number, stepMs = HOUR_MS): Promise<void> {
    const cost = { status: 'exact', nanoUsd: MOST, source: null } as const
    await store.calls.insertMany(
      Array.from({ length: count }, (_, index) =>
        createCallRecord({ startedAt: BEGIN_MS + index * stepMs, usage: REPORTED, cost }),
      ),
    )
  }

  test('is added up at a start, for quotas and for budgets', async () => {
    const [ofQuota] = await store.usageSums.since({ fromMs: BEGIN_MS })
    expect(ofQuota?.tokens).toBeGreaterThan(MOST)
    const ranges = [{ keyId, fromMs: BEGIN_MS, untilMs: BEGIN_MS + 3 * HOUR_MS }]
    const [ofBudget] = await store.usageSums.ofRanges(accountId, ranges)
    expect(ofBudget?.nanoUsd).toBeGreaterThan(MOST)
  })

  test('is added to hours and days, which analytics read', async () => {
    await insertCalls(3)
    const range = { fromMs: Date.UTC(2026, 0, 1), toMs: UNTIL_MS, groupBy: null }
    for (const interval of ['hour', 'day', 'month', 'all'] as const) {
      const sums = await readSums(store.usage, accountId, { ...range, interval })
      expect(sums.reduce((calls, sum) => calls + sum.calls, 0)).toBe(6)
      expect(sums[0]?.inputTokens).toBeGreaterThanOrEqual(MOST)
    }
  })

  test('is kept of a budget whose first calls are deleted', async () => {
    await insertCalls(CALLS, 1)
    await store.budgets.insert(budget)
    await store.budgetBeginnings.keep(UNTIL_MS)
    const kept = await store.budgetBeginnings.load()
    expect(kept.get(budget.id)?.tokens).toBeGreaterThanOrEqual(MOST)
  })

  test('is in the pages of calls as it was reported', async () => {
    const calls = await store.calls.list(accountId, { limit: 10 })
    expect(calls.map(({ usage }) => usage?.inputTokens)).toEqual([MOST, MOST, MOST])
  })
})
