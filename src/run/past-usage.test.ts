/**
 * A start counts exactly the past usage, whatever retention has deleted and wherever the sums are
 * kept.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases, forgetCalls, type TestDatabase } from '../../test/support/databases.ts'
import { runsOn } from '../../test/support/property-runs.ts'
import { watchStatements } from '../../test/support/watched-statements.ts'
import type { Budget } from '../core/budget.ts'
import type { CallRecord } from '../core/call.ts'
import {
  type AccountId,
  type CallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../core/ids.ts'
import { spanOf } from '../core/period.ts'
import { createPlans } from '../core/plan.ts'
import { countsForQuota } from '../gateway/check-quota.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { PastUsage } from '../ledger/past-usage.ts'
import { Retention } from '../ledger/retention.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { loadUsage } from '../limits/load-usage.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { UsageSums } from '../store/usage/usage-sums.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** In the last hours of a month of 31 days. */
const NOW = Date.parse('2026-10-31T20:17:03.123Z')
const OTHER = 'acct_other' as AccountId

const MEMBER = 'user_1'
const END_USER = 'end:00112233445566ff'
const TAG = 'aa112233445566ff'
const OTHER_TAG = 'bb112233445566ff'

const anyCall = fc.record({
  accountId: fc.constantFrom(DEFAULT_ACCOUNT, OTHER),
  keyId: fc.constantFrom('key_1', 'key_2').map((id) => id as KeyId),
  gateId: fc.constantFrom('a', 'b').map((id) => id as GateId),
  target: fc.constantFrom('p/one', 'owned/mine', null),
  credential: fc.constantFrom('own', 'platform', null),
  user: fc.constantFrom(MEMBER, END_USER, undefined),
  tags: fc.constantFrom(TAG, `${OTHER_TAG} ${TAG}`, OTHER_TAG, undefined),
  // A few hours that many calls and budgets fall into, and any time at all.
  startedAt: fc.oneof(
    fc.integer({ min: NOW - 70 * DAY_MS, max: NOW }),
    fc.integer({ min: NOW - 41 * DAY_MS, max: NOW - 41 * DAY_MS + 2 * HOUR_MS }),
  ),
  tokens: fc.option(fc.integer({ min: 1, max: 500 })),
  nanoUsd: fc.option(fc.nat({ max: 100 })),
})

const anyBudget = fc.record({
  scope: fc.constantFrom<Budget['scope']>(
    { type: 'key', keyId: 'key_1' as KeyId },
    { type: 'gate', gateId: 'b' as GateId },
    { type: 'account' },
    { type: 'user', userId: MEMBER },
    { type: 'user', userId: END_USER, endUser: 'ann' },
    { type: 'tag', tag: 'team-a', tagId: TAG },
  ),
  accountId: fc.constantFrom(DEFAULT_ACCOUNT, OTHER),
  period: fc.constantFrom('total', 'month', 'week', 'day'),
  // Zones with whole hours, because retention keeps sums of hours.
  timeZone: fc.constantFrom(undefined, 'America/New_York', 'Pacific/Kiritimati'),
  createdAt: fc.oneof(
    fc.integer({ min: NOW - 60 * DAY_MS, max: NOW }),
    fc.integer({ min: NOW - 41 * DAY_MS, max: NOW - 41 * DAY_MS + 2 * HOUR_MS }),
    fc.constant(NOW - (NOW % HOUR_MS) - 40 * DAY_MS),
  ),
})

function toRecord(
  call: Parameters<Parameters<typeof anyCall.map>[0]>[0],
  index: number,
): CallRecord {
  const { tokens, nanoUsd, ...rest } = call
  return createCallRecord({
    ...rest,
    id: `req_${index}` as CallId,
    usage:
      tokens === null
        ? null
        : { inputTokens: tokens, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
    cost:
      tokens === null || nanoUsd === null
        ? { nanoUsd: null, status: 'unknown', source: null }
        : { nanoUsd, status: 'exact', source: 'test@1' },
  })
}

/** All that is due is deleted in one pass. */
function until(nowMs: number, days: number) {
  return {
    horizon: { cut: () => nowMs - days * DAY_MS },
    hoursHorizon: { cut: () => undefined },
    usersHorizon: { cut: () => undefined },
  }
}

/** A budget is made in the middle of it; retention deletes its calls and keeps their sums. */
const PAST_HOUR = NOW - 41 * DAY_MS

const exampleCall = {
  accountId: DEFAULT_ACCOUNT,
  keyId: 'key_1' as KeyId,
  gateId: 'b' as GateId,
  target: 'p/one',
  credential: 'platform',
  user: MEMBER,
  tags: `${OTHER_TAG} ${TAG}`,
  startedAt: NOW - DAY_MS,
  tokens: 10,
  nanoUsd: 1,
} as const
const EXAMPLE_CALLS: Parameters<typeof toRecord>[0][] = [
  exampleCall,
  { ...exampleCall, tokens: 20, credential: 'own', nanoUsd: null },
  { ...exampleCall, tokens: 30, target: 'owned/mine', keyId: 'key_2' as KeyId },
  { ...exampleCall, tokens: null, target: null, credential: null },
  { ...exampleCall, tokens: 40, accountId: OTHER, gateId: 'a' as GateId },
  { ...exampleCall, tokens: 50, startedAt: NOW - 29 * DAY_MS - 5 * HOUR_MS },
  { ...exampleCall, tokens: 60, startedAt: PAST_HOUR },
  { ...exampleCall, tokens: 70, startedAt: PAST_HOUR + HOUR_MS / 3 },
  { ...exampleCall, tokens: 80, startedAt: PAST_HOUR + 2 * HOUR_MS },
  { ...exampleCall, tokens: 90, startedAt: PAST_HOUR + HOUR_MS / 3, accountId: OTHER },
]
type GivenBudget = Parameters<Parameters<typeof anyBudget.map>[0]>[0]
const EXAMPLE_BUDGETS: GivenBudget[] = [
  {
    accountId: DEFAULT_ACCOUNT,
    scope: { type: 'key', keyId: 'key_1' as KeyId },
    period: 'total',
    timeZone: undefined,
    createdAt: PAST_HOUR + HOUR_MS / 4,
  },
  {
    accountId: DEFAULT_ACCOUNT,
    scope: { type: 'gate', gateId: 'b' as GateId },
    period: 'month',
    timeZone: 'America/New_York',
    createdAt: PAST_HOUR,
  },
  {
    accountId: OTHER,
    scope: { type: 'gate', gateId: 'b' as GateId },
    period: 'total',
    timeZone: undefined,
    createdAt: PAST_HOUR,
  },
  {
    accountId: DEFAULT_ACCOUNT,
    scope: { type: 'key', keyId: 'key_1' as KeyId },
    period: 'week',
    timeZone: 'Pacific/Kiritimati',
    createdAt: NOW - 40 * DAY_MS - (NOW % HOUR_MS),
  },
  ...[
    { type: 'account' } as const,
    { type: 'user', userId: MEMBER } as const,
    { type: 'tag', tag: 'team-a', tagId: TAG } as const,
  ].flatMap((scope) => [
    {
      ...({ accountId: DEFAULT_ACCOUNT, scope, period: 'total', timeZone: undefined } as const),
      createdAt: PAST_HOUR + HOUR_MS / 4,
    },
    {
      ...({ accountId: OTHER, scope, period: 'month', timeZone: undefined } as const),
      createdAt: PAST_HOUR,
    },
  ]),
]

let store: Store
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  async function countedAtStart(budgets: readonly Budget[]) {
    const usage = new UsageLimits({ plans: createPlans() })
    const registry = await BudgetRegistry.load({
      budgets: store.budgets,
      usage,
      clock: { now: () => NOW },
    })
    const sums = await PastUsage.open({
      sums: store.usageSums,
      beginnings: store.budgetBeginnings,
      segments: [],
      onUnreadable: () => {},
    })
    await loadUsage(usage, registry, { sums, nowMs: NOW })
    const amounts = (
      window: { tokens: number; nanoUsd: number; unpricedCalls: number } | undefined,
    ) =>
      window && {
        tokens: window.tokens,
        nanoUsd: window.nanoUsd,
        unpricedCalls: window.unpricedCalls,
      }
    return {
      quotas: [DEFAULT_ACCOUNT, OTHER].map((accountId) =>
        amounts(usage.quotaOf(accountId, NOW).window),
      ),
      budgets: budgets.map(({ id }) => amounts(usage.budgetWindow(id, NOW))),
    }
  }

  function sumOf(records: readonly CallRecord[]) {
    const sum = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
    for (const { usage, cost } of records) {
      if (usage === null) continue
      sum.tokens += usage.inputTokens + usage.outputTokens
      sum.nanoUsd += cost?.nanoUsd ?? 0
      if (cost?.nanoUsd == null) sum.unpricedCalls += 1
    }
    return sum
  }

  function expectedOf(records: readonly CallRecord[], budgets: readonly Budget[]) {
    const monthStart = spanOf('month', NOW).startsAtMs
    const counts = (record: CallRecord) => countsForQuota(record.target, record.credential)
    return {
      quotas: [DEFAULT_ACCOUNT, OTHER].map((accountId) =>
        sumOf(
          records.filter(
            (record) =>
              record.accountId === accountId && record.startedAt >= monthStart && counts(record),
          ),
        ),
      ),
      budgets: budgets.map(({ accountId, scope, period, timeZone, createdAt }) => {
        const fromMs = Math.max(createdAt, spanOf(period, NOW, timeZone).startsAtMs)
        const isOf = ({ keyId, gateId, user, tags }: CallRecord) => {
          if (scope.type === 'key') return keyId === scope.keyId
          if (scope.type === 'gate') return gateId === scope.gateId
          if (scope.type === 'user') return user === scope.userId
          return scope.type !== 'tag' || tags?.includes(scope.tagId) === true
        }
        return sumOf(
          records.filter(
            (record) =>
              record.accountId === accountId && record.startedAt >= fromMs && isOf(record),
          ),
        )
      }),
    }
  }

  test('a start counts the same for quotas and budgets before and after retention, and after days are summed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { maxLength: 80, size: 'max' }),
        fc.array(anyBudget, { maxLength: 12, size: 'max' }),
        fc.integer({ min: 1, max: 45 }),
        async (calls, givenBudgets, days) => {
          await forgetCalls(store)
          await store.database.deleteFrom('budgets').execute()
          await store.database.deleteFrom('accounts').where('id', '=', OTHER).execute()
          await store.database
            .insertInto('accounts')
            .values({ id: OTHER, name: 'other', created_at: 0 })
            .execute()
          const records = calls.map(toRecord)
          const budgets = givenBudgets.map(
            (given, index): Budget => ({
              ...given,
              // Users and tags have sums of days alone.
              timeZone:
                'userId' in given.scope || 'tagId' in given.scope ? undefined : given.timeZone,
              id: `bud_${index}`,
              name: 'any',
              limit: { type: 'tokens', tokens: 1_000_000 },
              unpriced: 'allow',
              alertAt: [1],
              updatedAt: given.createdAt,
            }),
          )
          for (const budget of budgets) await store.budgets.insert(budget)
          await store.calls.insertMany(records)
          const expected = expectedOf(records, budgets)
          expect(await countedAtStart(budgets)).toEqual(expected)

          const onFailure = (error: unknown) => {
            throw error
          }
          const retention = new Retention({
            ...until(NOW, days),
            store,
            ship: async () => {},
            onFailure,
            pauseMs: 0,
          })
          retention.start()
          await retention.run()
          expect(await countedAtStart(budgets)).toEqual(expected)
          // A day later more of the same hour is gone.
          const later = new Retention({
            ...until(NOW + HOUR_MS / 2, days),
            store,
            ship: async () => {},
            onFailure,
            pauseMs: 0,
          })
          later.start()
          await later.run()
          await retention.stop()
          await later.stop()
          expect(await countedAtStart(budgets)).toEqual(expected)
        },
      ),
      runsOn(kind, {
        numRuns: 25,
        numShortRuns: 10,
        example: [EXAMPLE_CALLS, EXAMPLE_BUDGETS, 30],
      }),
    )
  })

  test.each([
    ['Asia/Kolkata', '2026-10-30T18:30:00Z', '2026-10-31T18:30:00Z'],
    ['Asia/Kathmandu', '2026-10-30T18:15:00Z', '2026-10-31T18:15:00Z'],
  ])('a day in %s is counted from the moment of its midnight', async (timeZone, first, end) => {
    const [firstMs, endMs] = [Date.parse(first), Date.parse(end)]
    const budget: Budget = {
      ...{ accountId: DEFAULT_ACCOUNT, id: 'bud_1', name: 'any', period: 'day', timeZone },
      scope: { type: 'key', keyId: 'key_1' as KeyId },
      limit: { type: 'tokens', tokens: 1000 },
      unpriced: 'allow',
      alertAt: [],
      createdAt: NOW - 40 * DAY_MS,
      updatedAt: NOW,
    }
    await store.budgets.insert(budget)
    const times = [firstMs - 1, firstMs, firstMs + HOUR_MS, endMs - HOUR_MS, endMs - 1, endMs]
    await store.calls.insertMany(
      times.map((startedAt, index) =>
        createCallRecord({ id: `req_${index}` as CallId, startedAt }),
      ),
    )
    const tokensAt = async (nowMs: number) => {
      const usage = new UsageLimits({ plans: createPlans() })
      const registry = await BudgetRegistry.load({ budgets: store.budgets, usage })
      const sums = await PastUsage.open({
        sums: store.usageSums,
        beginnings: store.budgetBeginnings,
        segments: [],
        onUnreadable: () => {},
      })
      await loadUsage(usage, registry, { sums, nowMs })
      return usage.budgetWindow('bud_1', nowMs)?.tokens
    }
    expect(await tokensAt(endMs - HOUR_MS / 60)).toBe(4 * 17)
    expect(await tokensAt(firstMs - 1)).toBe(17)
    expect(await tokensAt(endMs)).toBe(17)
    const onFailure = (error: unknown) => {
      throw error
    }
    const retention = new Retention({
      ...until(endMs, 0),
      ...{ store, ship: async () => {}, onFailure, pauseMs: 0 },
    })
    retention.start()
    await retention.run()
    await retention.stop()
    // The calls are gone, so the whole hours of both borders count.
    expect(await tokensAt(endMs - HOUR_MS / 60)).toBe(6 * 17)
  })

  test('retention keeps a budget’s usage in its first hour once, and gives it to no other budget', async () => {
    const createdAt = NOW - 40 * DAY_MS - (NOW % HOUR_MS) + HOUR_MS / 2
    const budgetOf = (id: string, keyId: string): Budget => ({
      accountId: DEFAULT_ACCOUNT,
      id,
      name: id,
      scope: { type: 'key', keyId: keyId as KeyId },
      limit: { type: 'tokens', tokens: 1000 },
      period: 'total',
      unpriced: 'allow',
      alertAt: [1],
      createdAt,
      updatedAt: createdAt,
    })
    const budgets = [budgetOf('bud_1', 'key_1'), budgetOf('bud_2', 'key_2')]
    for (const budget of budgets) await store.budgets.insert(budget)
    await store.calls.insertMany([
      createCallRecord({ startedAt: createdAt - 1 }),
      createCallRecord({ startedAt: createdAt }),
    ])
    const run = async (nowMs: number) => {
      const retention = new Retention({
        ...until(nowMs, 30),
        store,
        ship: async () => {},
        onFailure: () => {},
      })
      retention.start()
      await retention.run()
      await retention.stop()
    }
    await run(NOW)
    await run(NOW + DAY_MS)
    expect(await store.calls.list(DEFAULT_ACCOUNT, { limit: 10 })).toEqual([])
    const { budgets: counted } = await countedAtStart(budgets)
    expect(counted.map((amounts) => amounts?.tokens)).toEqual([17, 0])
  })

  test('a start reads an account’s usage once for all of its budgets, some hundred rows at a time', async () => {
    // On five days, in 600 places each.
    const records = [10, 8, 6, 4, 2].flatMap((daysAgo) =>
      Array.from({ length: 600 }, (_, index) =>
        createCallRecord({ keyId: `key_${index}` as KeyId, startedAt: NOW - daysAgo * DAY_MS }),
      ),
    )
    await store.calls.insertMany(records)
    const createdAt = NOW - 40 * DAY_MS
    const budgets = Array.from(
      { length: 50 },
      (_, index): Budget => ({
        accountId: DEFAULT_ACCOUNT,
        id: `bud_${index}`,
        name: 'one of many',
        scope: { type: 'key', keyId: `key_${index}` as KeyId },
        limit: { type: 'tokens', tokens: 1000 },
        period: 'total',
        unpriced: 'allow',
        alertAt: [],
        createdAt: createdAt + index,
        updatedAt: createdAt,
      }),
    )
    const usage = new UsageLimits({ plans: createPlans() })
    for (const budget of budgets) usage.putBudget(budget)
    const watched = watchStatements(store.database)
    const sums = await PastUsage.open({
      sums: new UsageSums(watched.database),
      beginnings: store.budgetBeginnings,
      segments: [],
      onUnreadable: () => {},
    })
    await loadUsage(usage, { all: () => budgets }, { sums, nowMs: NOW })
    const used = new Set(budgets.map(({ id }) => usage.budgetWindow(id, NOW)?.tokens))
    expect([...used]).toEqual([5 * 17])
    expect(watched.mostRows).toBeLessThanOrEqual(400)
    // The month's for the quota, and all for the budgets.
    expect(watched.rows).toBeLessThan(2 * records.length + 500)
  })
})
