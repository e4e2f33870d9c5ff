import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { openExplained } from '../../../test/support/explained-database.ts'
import { runsOn } from '../../../test/support/property-runs.ts'
import type { CallRecord } from '../../core/call.ts'
import { UNKNOWN_COST } from '../../core/cost.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Schema } from '../schema.ts'
import { type CallFilter, type CallPosition, findCallPage } from './call-pages.ts'
import { toRow } from './call-rows.ts'

const ODD_TEXT = 'a"b\\c/\n\t\u0001\u007f\u2028 é 😀, \'{}[]=1'

let created: TestDatabase
let database: Kysely<Schema>

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    created = await kind.create()
    database = await openDatabase(created.location)
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  const anyCall = fc.record({
    gateId: fc.constantFrom('a', 'b').map((id) => id as GateId),
    keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
    stream: fc.boolean(),
    hasFailed: fc.boolean(),
    startedAt: fc.integer({ min: 1, max: 12 }),
  })

  const anyFilter: fc.Arbitrary<CallFilter> = fc.record(
    {
      gateId: fc.constantFrom('a', 'b'),
      keyId: fc.constantFrom('key_1', 'key_2'),
      stream: fc.boolean(),
      outcome: fc.constantFrom('succeeded', 'failed'),
      fromMs: fc.integer({ min: 1, max: 6 }),
      toMs: fc.integer({ min: 7, max: 12 }),
    },
    { requiredKeys: [] },
  )

  /** Several within a millisecond, those that match rare among those that do not. */
  const EXAMPLE = Array.from({ length: 24 }, (_, n) => ({
    gateId: (n % 3 === 0 ? 'a' : 'b') as GateId,
    keyId: `key_${1 + (n % 2)}` as KeyId,
    stream: n % 4 === 0,
    hasFailed: n % 5 < 2,
    startedAt: 1 + (n % 6),
  }))

  const EXAMPLE_FILTER: CallFilter = { gateId: 'b', outcome: 'failed', fromMs: 2 }

  test('a call comes back unchanged, with the unknown gate id that it sent', async () => {
    const sent = createCallRecord({ sentGateId: 'gpt-4o%20…', refusals: 2 })
    await database.insertInto('calls').values(toRow(sent)).execute()
    const { calls } = await findCallPage(database, DEFAULT_ACCOUNT, {
      filter: {},
      page: { limit: 1 },
    })
    expect(calls).toEqual([sent])
  })

  test('calls without a known price are found, also those whose cost was estimated', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
    const estimated = { nanoUsd: 5, status: 'estimated' } as const
    const records = [
      { cost: UNKNOWN_COST, usage },
      { cost: UNKNOWN_COST, usage: null },
      { cost: { ...estimated, source: 'unpriced' }, usage },
      { cost: { ...estimated, source: 'unpriced+webSearch:1@10000' }, usage },
      { cost: { ...estimated, source: 'prices@1' }, usage },
    ].map((given, index) => createCallRecord({ ...given, startedAt: 1 + index }))
    await database.insertInto('calls').values(records.map(toRow)).execute()
    const find = async (isUnpriced: boolean) => {
      const page = { limit: 9 }
      const found = await findCallPage(database, DEFAULT_ACCOUNT, { filter: { isUnpriced }, page })
      return found.calls.map(({ startedAt }) => startedAt)
    }
    expect(await find(true)).toEqual([4, 3, 1])
    expect(await find(false)).toEqual([5, 2])
  })

  test('calls come back to the letter and in order, whatever their texts and numbers hold', async () => {
    const sent = [ODD_TEXT, '[null]', '1e3', 'null'].map((text, index) =>
      createCallRecord({
        id: `req_${index}` as CallId,
        gateId: text as GateId,
        target: index === 0 ? text : null,
        startedAt: 1_700_000_000_000 - index,
        firstByteMs: index === 0 ? 0 : null,
        usage: {
          inputTokens: 2 ** 53 - 1 - index,
          outputTokens: 0,
          cachedInputTokens: 2,
          reasoningTokens: 3,
        },
        cost: { nanoUsd: 2 ** 52 + index, status: 'exact', source: text },
        attemptDetails: [{ target: text, status: null, afterMs: 1, durationMs: 2 }],
      }),
    )
    await database.insertInto('calls').values(sent.map(toRow)).execute()
    const { calls } = await findCallPage(database, DEFAULT_ACCOUNT, {
      filter: {},
      page: { limit: 9 },
    })
    expect(calls).toEqual(sent)
  })

  test('pages lead to every call once, however few rows a page may read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { maxLength: 40 }),
        anyFilter,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        async (list, filter, maxCandidates, step) => {
          const calls = list.map(({ hasFailed, ...call }, index): CallRecord => {
            const end = hasFailed ? ({ outcome: 'failed', status: 502 } as const) : SUCCEEDED
            return {
              ...BARE,
              ...call,
              ...end,
              id: `req_${String(index).padStart(2, '0')}` as CallId,
            }
          })
          await database.deleteFrom('calls').execute()
          if (calls.length > 0)
            await database.insertInto('calls').values(calls.map(toRow)).execute()
          const seen: string[] = []
          let before: CallPosition | undefined
          for (;;) {
            const page = { limit: 2, ...(before === undefined ? {} : { before }) }
            const found = await findCallPage(database, DEFAULT_ACCOUNT, {
              filter,
              page,
              maxCandidates,
              step,
            })
            seen.push(...found.calls.map(({ id }) => id as string))
            before = found.goOnBefore ?? (found.calls.length < 2 ? undefined : found.calls.at(-1))
            if (before === undefined) break
          }
          const expected = calls.filter(
            (call) =>
              call.startedAt >= (filter.fromMs ?? 0) &&
              call.startedAt < (filter.toMs ?? 99) &&
              (['gateId', 'keyId', 'stream', 'outcome'] as const).every(
                (name) => filter[name] === undefined || filter[name] === call[name],
              ),
          )
          expect(seen).toEqual(
            expected
              .toSorted(
                (left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1),
              )
              .map(({ id }) => id as string),
          )
        },
      ),
      runsOn(kind, { numRuns: 150, example: [EXAMPLE, EXAMPLE_FILTER, 3, 2] }),
    )
  })

  const SUCCEEDED = { outcome: 'succeeded', status: 200 } as const
  const BARE = {
    accountId: DEFAULT_ACCOUNT,
    dialect: 'openai-chat',
    target: null,
    attempts: 1,
    errorKind: null,
    firstByteMs: null,
    durationMs: 1,
    usage: null,
    credential: null,
  } as const

  test('each kind of filter is answered by the index meant for it, without sorting', async () => {
    const isSqlite = kind.name === 'SQLite'
    // Postgres decides by its figures of what is there.
    if (!isSqlite) await fillWithOrdinaryCalls()
    const plans = [
      [sql`gate_id = ${'a'}`, 'calls_in_order'],
      [sql`target = ${'p/1'}`, 'calls_in_order'],
      [sql`key_id = ${'a'}`, 'calls_in_order'],
      [
        sql`(outcome <> 'succeeded' OR status >= 400) AND outcome = ${'failed'}`,
        'calls_gone_wrong',
      ],
    ] as const
    for (const [condition, index] of plans) {
      const { rows } = await sql<Record<string, unknown>>`
        ${sql.raw(isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN')} SELECT * FROM calls
        WHERE account_id = ${'a'} AND ${condition}
          AND started_at >= ${4_500} AND (started_at, id) < (${1_000_000}, ${'b'})
        ORDER BY started_at DESC, id DESC LIMIT ${50}`.execute(database)
      const plan = JSON.stringify(rows)
      expect(plan).toContain(index)
      // Within one millisecond the calls are sorted by their ids.
      const sorting = isSqlite ? 'TEMP B-TREE' : '"Sort'
      expect(plan.replace('TEMP B-TREE FOR LAST TERM OF ORDER BY', '')).not.toContain(sorting)
    }
  })

  async function fillWithOrdinaryCalls(): Promise<void> {
    await insertOrdinaryCalls(created, 5_000)
    await created.run('ANALYZE calls')
  }
})

test.each(databases.filter(({ name }) => name === 'Postgres'))(
  'without statistics, a page of $name reads about as many calls as it holds',
  async (kind) => {
    const own = await kind.create({ own: true })
    try {
      const { database: explained, asked } = openExplained(own.location)
      await insertOrdinaryCalls(own, 20_000)
      const before = { startedAt: 16_000, id: 'req_9' }
      await findCallPage(explained, 'a' as AccountId, { filter: {}, page: { limit: 50, before } })
      const statements = [...asked]
      expect(statements.length).toBeGreaterThan(0)
      for (const { sql: text, parameters } of statements) {
        const explain = CompiledQuery.raw(`EXPLAIN (ANALYZE) ${text}`, [...parameters])
        const { rows } = await explained.executeQuery(explain)
        const read = [...JSON.stringify(rows).matchAll(/actual time=\S+ rows=(\d+)/g)]
        expect(Math.max(...read.map(([, count]) => Number(count)))).toBeLessThanOrEqual(55)
      }
      await explained.destroy()
    } finally {
      await own.remove()
    }
  },
)

async function insertOrdinaryCalls(into: TestDatabase, count: number): Promise<void> {
  await into.run(`
    INSERT INTO calls (id, account_id, key_id, gate_id, dialect, stream, target, attempts, outcome, status, started_at, duration_ms)
    SELECT 'req_' || n, 'a', 'key_' || n % 200, 'gate_' || n % 200, 'openai-chat', 0, 'p/' || n % 3, 1,
      CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'succeeded' END, CASE WHEN n % 100 = 0 THEN 502 ELSE 200 END, n, 1
    FROM generate_series(1, ${count}) AS n`)
}
