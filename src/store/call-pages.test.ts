import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Kysely, sql } from 'kysely'
import type { CallRecord } from '../core/call.ts'
import { type CallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { type CallFilter, type CallPosition, findCallPage } from './call-pages.ts'
import { toRow } from './call-rows.ts'
import { migrateToLatest } from './migrations.ts'
import type { Schema } from './schema.ts'
import { BunSqliteDialect } from './sqlite-driver.ts'

let database: Kysely<Schema>
beforeEach(async () => {
  database = new Kysely<Schema>({ dialect: new BunSqliteDialect(':memory:') })
  await migrateToLatest(database)
})
afterEach(() => database.destroy())

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

test('however few rows a page may look at, its places to go on lead to every call once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCall, { maxLength: 40 }),
      anyFilter,
      fc.integer({ min: 1, max: 6 }),
      async (list, filter, maxCandidates) => {
        const calls = list.map(({ hasFailed, ...call }, index): CallRecord => {
          const end = hasFailed ? ({ outcome: 'failed', status: 502 } as const) : SUCCEEDED
          return { ...BARE, ...call, ...end, id: `req_${String(index).padStart(2, '0')}` as CallId }
        })
        await database.deleteFrom('calls').execute()
        if (calls.length > 0) await database.insertInto('calls').values(calls.map(toRow)).execute()
        const seen: string[] = []
        let before: CallPosition | undefined
        for (;;) {
          const page = { limit: 2, ...(before === undefined ? {} : { before }) }
          const found = await findCallPage(database, DEFAULT_ACCOUNT, { filter, page, maxCandidates })
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
            .toSorted((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1))
            .map(({ id }) => id as string),
        )
      },
    ),
    { numRuns: 150 },
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
  const plans = [
    [sql`likelihood(gate_id = ${'a'}, 0.01)`, 'calls_by_gate_id'],
    [sql`target = ${'a'}`, 'calls_by_account_and_time'],
    [sql`likelihood(key_id = ${'a'}, 0.01)`, 'calls_by_key_id'],
    [sql`(outcome <> 'succeeded' OR status >= 400) AND outcome = ${'failed'}`, 'calls_gone_wrong'],
  ] as const
  for (const [condition, index] of plans) {
    const { rows } = await sql<{ detail: string }>`
      EXPLAIN QUERY PLAN SELECT * FROM calls WHERE account_id = ${'a'} AND ${condition}
        AND started_at >= ${1} AND (started_at, id) < (${2}, ${'b'})
      ORDER BY started_at DESC, id DESC LIMIT ${50}`.execute(database)
    const plan = rows.map(({ detail }) => detail).join('\n')
    expect(plan).toContain(index)
    // Within one millisecond the calls are sorted by their ids.
    expect(plan.replace('TEMP B-TREE FOR LAST TERM OF ORDER BY', '')).not.toContain('TEMP B-TREE')
  }
})
