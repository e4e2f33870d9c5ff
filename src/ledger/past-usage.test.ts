/**
 * Every row counts once, whether it is in the store, in the journal, or in both because the process
 * died in between.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { databases, forgetCalls, type TestDatabase } from '../../test/support/databases.ts'
import { runsOn } from '../../test/support/property-runs.ts'
import type { CallRecord } from '../core/call.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { createCallRecord, createLaterLine } from './call-record.fixture.ts'
import { Journal } from './journal.ts'
import { PastUsage } from './past-usage.ts'

const DAY_MS = 86_400_000

let folder: string
let store: Store
let database: TestDatabase

/** Tokens through the one gate of all calls in these tests. */
async function tokensSince(past: PastUsage, fromMs: number, untilMs = Number.POSITIVE_INFINITY) {
  const { gateId } = createCallRecord()
  const [used] = await past.ofRanges(DEFAULT_ACCOUNT, [{ fromMs, untilMs, gateId }])
  return used?.tokens
}

describe('usage of an unshipped journal', () => {
  const open = async (segments: readonly string[], unreadable: string[] = []) =>
    await PastUsage.open({
      sums: { since: async () => [], findShipped: async () => new Set() } as never,
      beginnings: { load: async () => new Map() },
      segments: segments as never,
      cutsMs: [],
      onUnreadable: (path) => unreadable.push(path),
    })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-past-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test('counts calls with usage and without a price, each once, and no others', async () => {
    const usage = { inputTokens: 3, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
    const cost = (nanoUsd: number | null) =>
      ({ nanoUsd, status: 'exact', source: 'test@1' }) as const
    const journal = new Journal(folder)
    const records = [
      createCallRecord({ usage, cost: cost(7) }),
      createCallRecord({ usage, cost: cost(0) }),
      createCallRecord({ usage: null }),
      createCallRecord({ usage }),
      createCallRecord({ usage }),
    ]
    for (const record of records) void journal.record(record)
    journal.rotate()
    const past = await open(journal.closed.list() as never)
    journal.close()
    expect(await past.since(0)).toMatchObject([{ tokens: 16, nanoUsd: 7, unpricedCalls: 2 }])
  })

  test('asks the store for some hundred calls of a journal at a time', async () => {
    const journal = new Journal(folder)
    for (let index = 0; index < 2_000; index += 1) void journal.record(createCallRecord())
    journal.rotate()
    const asked: number[] = []
    const past = await PastUsage.open({
      sums: {
        since: async () => [],
        findShipped: async (ids: readonly CallId[]) => {
          asked.push(ids.length)
          return new Set()
        },
      } as never,
      beginnings: { load: async () => new Map() },
      segments: journal.closed.list(),
      onUnreadable: () => {},
    })
    journal.close()
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(2_000)
    expect(asked.length).toBeLessThanOrEqual(5)
    expect(Math.max(...asked)).toBeLessThanOrEqual(500)
    expect(await past.since(0)).toMatchObject([{ tokens: 34_000 }])
  })

  test('reports a segment whose only line is of a later version', async () => {
    const path = join(folder, 'segment')
    writeFileSync(path, createLaterLine())
    const unreadable: string[] = []
    await open([{ path }] as never, unreadable)
    expect(unreadable).toEqual([path])
  })
})

describe.each(databases)('past usage on $name', (kind) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-past-'))
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  function recordOf(index: number, startedAt: number, tokens: number | null): CallRecord {
    const usage =
      tokens === null
        ? null
        : { inputTokens: tokens, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
    return { ...createCallRecord(), id: `req_${index}` as CallId, startedAt, usage }
  }

  async function sumSince(fromMs: number, unreadable: string[] = []) {
    const journal = new Journal(folder)
    const past = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: journal.closed.list(),
      cutsMs: [fromMs + 1, fromMs, fromMs - 1],
      onUnreadable: (path) => unreadable.push(path),
    })
    journal.close()
    return await tokensSince(past, fromMs)
  }

  test('includes rows in the store, in the journal and in both', async () => {
    const row = fc.record({
      startedAt: fc.integer({ min: 0, max: 40 * DAY_MS }),
      tokens: fc.option(fc.nat({ max: 1000 })),
      place: fc.constantFrom('store', 'journal', 'both', 'journal twice'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 150 }),
        fc.integer({ min: 0, max: 40 * DAY_MS }),
        async (rows, fromMs) => {
          await forgetCalls(store)
          rmSync(join(folder, 'journal'), { recursive: true, force: true })
          const records = rows.map(({ startedAt, tokens }, index) =>
            recordOf(index, startedAt, tokens),
          )
          const journal = new Journal(folder)
          for (const [index, record] of records.entries())
            if (rows[index]?.place !== 'store') void journal.record(record)
          journal.rotate()
          for (const [index, record] of records.entries())
            if (rows[index]?.place === 'journal twice') void journal.record(record)
          journal.close()
          const isStored = (index: number) => ['store', 'both'].includes(rows[index]?.place ?? '')
          await store.calls.insertMany(records.filter((_, index) => isStored(index)))
          const expected = rows
            .filter(({ startedAt, tokens }) => startedAt >= fromMs && tokens !== null)
            .reduce((total, { tokens }) => total + (tokens ?? 0) + 1, 0)
          expect(await sumSince(fromMs)).toBe(expected)
        },
      ),
      runsOn(kind, {
        numRuns: 30,
        numShortRuns: 12,
        example: [
          [
            { startedAt: 3 * DAY_MS, tokens: 7, place: 'store' },
            { startedAt: 3 * DAY_MS, tokens: 70, place: 'journal' },
            { startedAt: 3 * DAY_MS + 1, tokens: 700, place: 'both' },
            { startedAt: 5 * DAY_MS, tokens: 0, place: 'journal twice' },
            { startedAt: 5 * DAY_MS, tokens: null, place: 'both' },
            { startedAt: 3 * DAY_MS - 1, tokens: 1, place: 'store' },
            { startedAt: 0, tokens: 3, place: 'both' },
          ],
          3 * DAY_MS,
        ],
      }),
    )
  })

  test('reports a segment that cannot be read, and counts the others', async () => {
    const journal = new Journal(folder)
    void journal.record(recordOf(1, 1000, 41))
    journal.close()
    writeFileSync(join(folder, 'journal', 'x'), '')
    const past = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: [{ path: join(folder, 'gone.journal'), bytes: 1 }, ...journal.closed.list()],
      onUnreadable: (path) => expect(path).toEndWith('gone.journal'),
    })
    const sums = await past.since(0)
    expect(sums.map((sum) => sum.tokens)).toEqual([42])
  })

  test('keeps usage by own and platform credentials apart, in the store and in the journal', async () => {
    const journal = new Journal(folder)
    void journal.record({ ...recordOf(1, 1000, 1), credential: 'own' })
    journal.close()
    await store.calls.insertMany([
      { ...recordOf(2, 1000, 10), credential: 'own' },
      { ...recordOf(3, 1000, 100), credential: 'platform' },
      { ...recordOf(4, 1000, 1000), credential: null },
    ])
    const past = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: journal.closed.list(),
      onUnreadable: () => {},
    })
    const sums = (await past.since(0)).map(({ credential, tokens }) => ({ credential, tokens }))
    expect(sums.sort((a, b) => a.tokens - b.tokens)).toEqual([
      { credential: 'own', tokens: 2 },
      { credential: 'own', tokens: 11 },
      { credential: 'platform', tokens: 101 },
      { credential: null, tokens: 1001 },
    ])
  })

  test('counts calls in the journal from an announced moment within their hour', async () => {
    const hourMs = 3_600_000
    const journal = new Journal(folder)
    const begun = [0, 10, 20, 30, 59].map((minute) => hourMs + minute * 60_000)
    for (const [index, startedAt] of begun.entries())
      void journal.record(recordOf(index, startedAt, 10 ** index - 1))
    journal.close()
    const past = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: journal.closed.list(),
      cutsMs: [hourMs + 20 * 60_000, hourMs + 10 * 60_000, 5 * hourMs],
      onUnreadable: () => {},
    })
    const since = (fromMs: number) => tokensSince(past, fromMs)
    expect(await since(hourMs)).toBe(11_111)
    expect(await since(hourMs + 10 * 60_000)).toBe(11_110)
    expect(await since(hourMs + 20 * 60_000)).toBe(11_100)
    expect(await since(2 * hourMs)).toBe(0)
  })

  test('leaves out calls of a clock far ahead from a period that ends before them', async () => {
    const hourMs = 3_600_000
    const journal = new Journal(folder)
    for (const [index, hour] of [1, 2, 24 * 400].entries())
      void journal.record(recordOf(index, hour * hourMs, 10 ** index - 1))
    journal.close()
    await store.calls.insertMany(
      [1, 2, 24 * 400].map((hour, index) =>
        recordOf(10 + index, hour * hourMs, 10 ** (3 + index) - 1),
      ),
    )
    const past = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: journal.closed.list(),
      onUnreadable: () => {},
    })
    const between = (fromMs: number, untilMs?: number) => tokensSince(past, fromMs, untilMs)
    expect(await between(hourMs)).toBe(111_111)
    expect(await between(hourMs, 3 * hourMs)).toBe(11_011)
    expect(await between(hourMs, 2 * hourMs)).toBe(1_001)
    expect(await between(hourMs + 1, 3 * hourMs)).toBe(10_010)
    // Days are left out too.
    const again = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: [],
      onUnreadable: () => {},
    })
    const sums = await again.since(0, undefined, 31 * DAY_MS)
    expect(sums.reduce((total, { tokens }) => total + tokens, 0)).toBe(11_000)
  })

  test('takes the rest of a period’s first hour from the calls of its key or gate', async () => {
    const hourMs = 3_600_000
    const other = { keyId: 'key_other' as KeyId, gateId: 'other' as GateId }
    const minutes = [0, 20, 40, 70].map((minute) => 5 * hourMs + minute * 60_000)
    const records = minutes.map((startedAt, index) => recordOf(index, startedAt, 10 ** index - 1))
    const { keyId, gateId } = createCallRecord()
    await store.calls.insertMany([
      ...records,
      ...minutes.map((startedAt, index) => ({
        ...recordOf(10 + index, startedAt, 49_999),
        ...other,
      })),
    ])
    const past = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: [],
      onUnreadable: () => {},
    })
    const ranges = [
      { fromMs: 5 * hourMs, untilMs: Number.POSITIVE_INFINITY, keyId },
      { fromMs: 5 * hourMs + 20 * 60_000, untilMs: Number.POSITIVE_INFINITY, gateId },
      { fromMs: 5 * hourMs + 20 * 60_000 + 1, untilMs: 6 * hourMs, gateId },
      { fromMs: 6 * hourMs, untilMs: 7 * hourMs, keyId: other.keyId },
    ]
    const tokensOf = async () =>
      (await past.ofRanges(DEFAULT_ACCOUNT, ranges)).map(({ tokens }) => tokens)
    expect(await tokensOf()).toEqual([1_111, 1_110, 100, 50_000])
  })

  test('drops sums that no reader needs', async () => {
    await store.calls.insertMany([recordOf(1, 1000, 1)])
    const closing = new AbortController()
    const options = {
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: [],
      onUnreadable: () => {},
      signal: closing.signal,
    }
    const past = await PastUsage.open(options)
    closing.abort(new Error('closing'))
    await expect(past.since(0)).rejects.toThrow('closing')
    const ranges = [{ fromMs: 0, untilMs: DAY_MS, keyId: createCallRecord().keyId }]
    await expect(past.ofRanges(DEFAULT_ACCOUNT, ranges)).rejects.toThrow('closing')
  })
})
