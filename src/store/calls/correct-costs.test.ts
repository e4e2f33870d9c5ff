/** Costs that are replaced in rows, and the sums that follow by the difference. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { Kysely } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { runsOn } from '../../../test/support/property-runs.ts'
import type { CallRecord } from '../../core/call.ts'
import type { Cost } from '../../core/cost.ts'
import { type AccountId, type CallId, DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'
import type { Schema } from '../schema.ts'
import { sumCalls } from '../usage/sum-calls.ts'

setDefaultTimeout(120_000)

const HOUR = 3_600_000
const DAY = 24 * HOUR
const FIRST_DAY = Date.parse('2026-11-01T00:00:00Z')
const stranger = 'acct_stranger' as AccountId

const cost: fc.Arbitrary<Cost> = fc.oneof(
  fc.record({
    nanoUsd: fc.integer({ min: 0, max: 1e9 }),
    status: fc.constantFrom('exact', 'estimated'),
    source: fc.constantFrom('table@1', 'unpriced'),
  }),
  fc.constant({ nanoUsd: null, status: 'unknown', source: null } as const),
)

const call = fc.record({
  hour: fc.integer({ min: 0, max: 47 }),
  gate: fc.constantFrom('a', 'b'),
  target: fc.constantFrom('p/x', 'p/y', null),
  isFailed: fc.boolean(),
  before: cost,
  after: fc.option(cost, { nil: undefined }),
})

type Planned = typeof call extends fc.Arbitrary<infer Value> ? Value : never

const EXAMPLE: [readonly Planned[], number] = [
  [
    {
      ...{ hour: 3, gate: 'a', target: 'p/x', isFailed: false },
      before: { nanoUsd: 7, status: 'exact', source: 'table@1' },
      after: { nanoUsd: 5, status: 'estimated', source: 'table@1' },
    },
    {
      ...{ hour: 30, gate: 'b', target: 'p/y', isFailed: false },
      before: { nanoUsd: null, status: 'unknown', source: null },
      after: { nanoUsd: 9, status: 'exact', source: 'table@1' },
    },
  ],
  1,
]

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let store: Store
  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
  })
  afterEach(async () => {
    await store.close()
    await created.remove()
  })

  const clear = async (database: Kysely<Schema>) => {
    for (const table of ['calls', 'usage_hours', 'usage_days', 'audit_log'] as const)
      await database.deleteFrom(table).execute()
  }

  async function correctDay(day: number, recompute: (call: CallRecord) => Cost | undefined) {
    const fromMs = FIRST_DAY + day * DAY
    const filter = { fromMs, toMs: fromMs + DAY }
    return await store.calls.correctCosts(DEFAULT_ACCOUNT, {
      ...{ name: `day ${day}`, filter, recompute },
    })
  }

  test('sums by difference are sums of the rows, also after a crash and another run', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 30 }),
        fc.nat(30),
        async (planned, crash) => {
          await clear(store.database)
          const wanted = new Map<string, Cost | undefined>()
          const calls = planned.map((each, index) => {
            const record = createCallRecord({
              ...{ id: `req_${index}` as CallId, gateId: each.gate as GateId, target: each.target },
              ...{ startedAt: FIRST_DAY + each.hour * HOUR + index, cost: each.before },
              ...(each.isFailed ? { outcome: 'failed', status: 502, usage: null } : {}),
            })
            wanted.set(record.id, each.after)
            return record
          })
          const theirs = {
            ...createCallRecord({ cost: EXAMPLE[0][0]?.before }),
            accountId: stranger,
          }
          await store.calls.insertMany([...calls, { ...theirs, startedAt: FIRST_DAY }])

          const recompute = ({ id, cost: stored }: CallRecord) => {
            const after = wanted.get(id)
            return after === undefined || Bun.deepEquals(after, stored ?? UNKNOWN)
              ? undefined
              : after
          }
          let left = crash
          const crashing = (each: CallRecord) => {
            if (left-- === 0) throw new Error('crashed')
            return recompute(each)
          }
          for (const day of [1, 0]) await correctDay(day, crashing).catch(() => {})
          await expectSums()
          for (const day of [1, 0]) await correctDay(day, recompute)
          await expectSums()
          const rows = await store.calls.list(DEFAULT_ACCOUNT, { limit: 100 })
          for (const { id, cost: stored = UNKNOWN } of rows)
            expect(stored).toEqual(
              wanted.get(id) ?? calls.find((each) => each.id === id)?.cost ?? UNKNOWN,
            )
          for (const day of [1, 0]) expect(await correctDay(day, recompute)).toBe(0)
        },
      ),
      runsOn(kind, { numRuns: 60, example: EXAMPLE }),
    )
  })

  async function expectSums(): Promise<void> {
    const rows = (
      await Promise.all(
        [DEFAULT_ACCOUNT, stranger].map((id) => store.calls.list(id, { limit: 100 })),
      )
    ).flat()
    for (const [table, stepMs] of [
      ['usage_hours', HOUR],
      ['usage_days', DAY],
    ] as const) {
      const expected = new Map<string, Amounts>()
      for (const row of sumCalls(rows))
        add(expected, { ...row, starts_at: row.starts_at - (row.starts_at % stepMs) })
      const found = new Map<string, Amounts>()
      for (const row of await store.database.selectFrom(table).selectAll().execute())
        add(found, row as never)
      expect(found).toEqual(expected)
    }
  }

  test('each correction is one entry of the audit log, with the sums before and after', async () => {
    const [one, other] = [1, 2].map((index) =>
      createCallRecord({
        ...{ id: `req_${index}` as CallId, startedAt: FIRST_DAY + index },
        cost: { nanoUsd: 1e9, status: 'exact', source: 'table@1' },
      }),
    )
    await store.calls.insertMany([one, other].filter((each) => each !== undefined))
    const recompute = ({ id }: CallRecord): Cost | undefined =>
      id === one?.id ? { nanoUsd: 3e9, status: 'exact', source: 'table@2' } : undefined
    expect(await correctDay(0, recompute)).toBe(1)
    expect(await correctDay(1, recompute)).toBe(0)
    expect(await store.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 9 })).toMatchObject([
      {
        action: 'costs.correct',
        resourceId: 'day 0',
        before: { calls: 1, usd: 1 },
        after: { calls: 1, usd: 3 },
      },
    ])
  })
})

const UNKNOWN: Cost = { nanoUsd: null, status: 'unknown', source: null }

interface Amounts {
  calls: number
  cost_nano_usd: number
  cost_estimated: number
  cost_unknown: number
}

function add(
  sums: Map<string, Amounts>,
  row: Amounts & { account_id: string; starts_at: number; gate_id: string; target: string },
): void {
  const key = `${row.account_id} ${row.starts_at} ${row.gate_id} ${row.target}`
  const sum = sums.get(key) ?? { calls: 0, cost_nano_usd: 0, cost_estimated: 0, cost_unknown: 0 }
  for (const name of Object.keys(sum) as (keyof Amounts)[]) sum[name] += row[name]
  sums.set(key, sum)
}
