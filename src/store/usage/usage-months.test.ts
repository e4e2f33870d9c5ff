/**
 * Months that are summed up give the same as their days and hours, whoever adds to those, and
 * builds before them too.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { CallRecord } from '../../core/call.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../../core/ids.ts'
import { openStore, type Store } from '../open-store.ts'
import { shortenEncoded } from './latency-histogram.ts'
import { readSums } from './read-sums.fixture.ts'
import { DAY_MS, HOUR_MS } from './usage-hours.ts'
import { sumUpRows } from './usage-roll-up.ts'
import { planSpans } from './usage-rows.ts'

const OTHER = 'acct_other' as AccountId
/** From the middle of a month, over a year's end. */
const BEGIN_MS = Date.UTC(2025, 9, 16, 5)
const NOW_MS = Date.UTC(2026, 2, 10, 12)

function callOf(index: number, startedAt: number): CallRecord {
  return {
    id: `req_${index}` as CallId,
    accountId: index % 5 === 4 ? OTHER : DEFAULT_ACCOUNT,
    keyId: `key_${index % 3}` as KeyId,
    gateId: 'gate' as GateId,
    dialect: 'openai-chat',
    stream: false,
    target: 'openai/gpt-5',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt,
    firstByteMs: 10,
    durationMs: 100 + 17 * index,
    usage: { inputTokens: 1, outputTokens: index, cachedInputTokens: 0, reasoningTokens: 0 },
    credential: 'platform',
  }
}

/** Some on every fifth day, among them the first and the last hours of months. */
const CALLS = [
  ...Array.from({ length: 30 }, (_, index) => BEGIN_MS + index * 5 * DAY_MS),
  Date.UTC(2025, 11, 1),
  Date.UTC(2025, 11, 1) - 1,
  Date.UTC(2026, 0, 1) - 1,
  Date.UTC(2026, 1, 28, 23, 59),
].map((startedAt, index) => callOf(index, startedAt))

const QUERIES = [
  { fromMs: BEGIN_MS - (BEGIN_MS % HOUR_MS), toMs: NOW_MS, interval: 'month', groupBy: 'key' },
  { fromMs: 0, toMs: NOW_MS, interval: 'all', groupBy: null },
  {
    fromMs: Date.UTC(2025, 10, 3),
    toMs: Date.UTC(2026, 1, 15, 7),
    interval: 'month',
    groupBy: null,
  },
  { fromMs: Date.UTC(2025, 10), toMs: Date.UTC(2026, 1), interval: 'all', groupBy: 'key' },
  { fromMs: Date.UTC(2025, 11), toMs: Date.UTC(2026, 0), interval: 'day', groupBy: null },
] as const

describe.each(databases)('on $name', (kind) => {
  let store: Store
  let database: TestDatabase
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  async function readAll() {
    const answers: unknown[] = []
    for (const accountId of [DEFAULT_ACCOUNT, OTHER]) {
      for (const query of QUERIES) answers.push(await readSums(store.usage, accountId, query))
      const [last] = QUERIES
      answers.push(await store.usage.readLatencies(accountId, last))
      const since = await store.usageSums.since({ fromMs: Date.UTC(2025, 10), accountId })
      answers.push(since.map(({ keyId, tokens }) => [keyId, tokens]).sort())
      const range = { fromMs: Date.UTC(2025, 11), untilMs: NOW_MS, keyId: 'key_1' as KeyId }
      answers.push(await store.usageSums.ofRanges(accountId, [range, { ...range, fromMs: 0 }]))
    }
    return answers
  }

  async function listMonths(): Promise<readonly string[]> {
    const rows = await store.database
      .selectFrom('usage_rolled_months')
      .select('starts_at')
      .where('account_id', '=', DEFAULT_ACCOUNT)
      .orderBy('starts_at')
      .execute()
    return rows.map(({ starts_at }) => new Date(starts_at).toISOString().slice(0, 7))
  }

  const ENDED = ['2025-10', '2025-11', '2025-12', '2026-01', '2026-02']

  test('past months are summed, and every answer stays the same', async () => {
    await store.calls.insertMany(CALLS)
    const before = await readAll()
    await store.usage.rollUpDays(NOW_MS)
    expect(await listMonths()).toEqual(ENDED)
    expect(await readAll()).toEqual(before)
    // Once they are over: the month that runs is read by its days.
    await store.usage.rollUpDays(Date.UTC(2026, 3, 1, 1))
    expect(await listMonths()).toEqual([...ENDED, '2026-03'])
    expect(await readAll()).toEqual(before)
  })

  test('a range is read by whole months, and by days and hours at its ends', async () => {
    await store.calls.insertMany(CALLS)
    await store.usage.rollUpDays(NOW_MS)
    const range = {
      fromMs: Date.UTC(2025, 10, 20, 1),
      toMs: Date.UTC(2026, 1, 14),
      interval: 'all',
    } as const
    const spans = await planSpans(store.database, DEFAULT_ACCOUNT, range)
    expect(spans.filter(({ table }) => table === 'usage_months')).toEqual([
      { table: 'usage_months', fromMs: Date.UTC(2025, 11), toMs: Date.UTC(2026, 1) },
    ])
    expect(spans[0]?.fromMs).toBe(range.fromMs)
    expect(spans.at(-1)?.toMs).toBe(range.toMs)
    for (const [index, { fromMs }] of spans.slice(1).entries())
      expect(fromMs).toBe(spans[index]?.toMs ?? 0)
  })

  test('a late call counts at once, in a day with calls and in one without', async () => {
    await store.calls.insertMany(CALLS)
    await store.usage.rollUpDays(NOW_MS)
    const late = [BEGIN_MS + 50 * DAY_MS, BEGIN_MS + 83 * DAY_MS].map((at, index) =>
      callOf(500 + index, at),
    )
    await store.calls.insertMany(late)
    const after = await readAll()
    await store.usage.rollUpDays(NOW_MS)
    expect(await listMonths()).toEqual(ENDED)
    expect(await readAll()).toEqual(after)
    const [, all] = after as [unknown, readonly { calls: number }[]]
    expect(all[0]?.calls).toBe(
      [...CALLS, ...late].filter(({ accountId }) => accountId === DEFAULT_ACCOUNT).length,
    )
  })

  test('a build without months adds to a summed month, and sums its day again', async () => {
    await store.calls.insertMany(CALLS)
    await store.usage.rollUpDays(NOW_MS)
    await store.calls.insertMany([callOf(500, BEGIN_MS + 50 * DAY_MS)])
    const after = await readAll()
    const day = Math.floor((BEGIN_MS + 50 * DAY_MS) / DAY_MS) * DAY_MS
    await store.usage.rollUpDays(0)
    await store.database.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('usage_due_days').where('starts_at', '=', day).execute()
      await sumUpRows(transaction, {
        accountId: DEFAULT_ACCOUNT,
        from: { table: 'usage_hours', fromMs: day, toMs: day + DAY_MS },
        into: { table: 'usage_days', startsAt: day },
        shorten: shortenEncoded,
      })
      const rolled = { account_id: DEFAULT_ACCOUNT, starts_at: day }
      await transaction.insertInto('usage_rolled_days').values(rolled).execute()
    })
    expect(await listMonths()).not.toContain('2025-12')
    expect(await readAll()).toEqual(after)
    await store.usage.rollUpDays(NOW_MS)
    expect(await listMonths()).toEqual(ENDED)
    expect(await readAll()).toEqual(after)
  })

  test('a month with an unsummed day is not summed, and is once the day is', async () => {
    await store.calls.insertMany(CALLS)
    await store.usage.rollUpDays(NOW_MS)
    const before = await readAll()
    const day = Math.floor((BEGIN_MS + 50 * DAY_MS) / DAY_MS) * DAY_MS
    const ofDay = (table: 'usage_rolled_days' | 'usage_due_days') =>
      store.database.deleteFrom(table).where('starts_at', '=', day).execute()
    // A build that deletes the mark and notes nothing leaves the same.
    await ofDay('usage_rolled_days')
    expect(await listMonths()).not.toContain('2025-12')
    await store.database
      .insertInto('usage_due_months')
      .values({ account_id: DEFAULT_ACCOUNT, starts_at: Date.UTC(2025, 11) })
      .execute()
    await store.usage.rollUpDays(NOW_MS)
    expect(await listMonths()).not.toContain('2025-12')
    expect(await readAll()).toEqual(before)
    await store.database
      .insertInto('usage_due_days')
      .values({ account_id: DEFAULT_ACCOUNT, starts_at: day })
      .execute()
    await store.usage.rollUpDays(NOW_MS)
    expect(await listMonths()).toEqual(ENDED)
    expect(await readAll()).toEqual(before)
  })
})
