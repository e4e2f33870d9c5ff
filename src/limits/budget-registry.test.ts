/** Budgets are stored, restored with their usage after a restart, and send due alerts. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import type { Budget } from '../core/budget.ts'
import type { CallCredential } from '../core/call.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { BudgetRegistry, type NewBudget } from './budget-registry.ts'
import { createLedgerSums } from './ledger-sums.fixture.ts'
import { loadUsage } from './load-usage.ts'
import { MemoryLimits } from './memory-limits.ts'
import type { BudgetAlert } from './usage-counter.ts'
import { atOnce } from './usage-limits.fixture.ts'
import { UsageLimits } from './usage-limits.ts'

const NOW_MS = Date.parse('2026-11-21T12:00:00.000Z')
const GATE = 'demo' as GateId
const stranger = 'acct_stranger' as AccountId

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

  async function start() {
    const clock = { nowMs: NOW_MS, now: () => clock.nowMs, elapsed: () => clock.nowMs }
    const alerts: BudgetAlert[] = []
    const usage = new UsageLimits({ plans: createPlans(), onAlert: (alert) => alerts.push(alert) })
    const registry = await BudgetRegistry.load({ budgets: store.budgets, usage, clock })
    return { clock, alerts, usage, registry }
  }

  const newBudget: NewBudget = {
    name: 'small',
    scope: { type: 'gate', gateId: GATE },
    limit: { type: 'tokens', tokens: 100 },
    period: 'total',
    unpriced: 'refuse',
    alertAt: [0.5, 1],
  }

  const sumOf = (changes: object = {}) => ({
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: GATE,
    target: 'lab/model',
    credential: 'platform' as CallCredential,
    tokens: 60,
    nanoUsd: 5,
    unpricedCalls: 0,
    ...changes,
  })

  test("a budget counts on from the ledger's sum after a restart, and raises its due alerts", async () => {
    const first = await start()
    const budget = await first.registry.create(DEFAULT_ACCOUNT, newBudget)
    const second = await start()
    second.clock.nowMs += 1000
    const asked: number[] = []
    const sums = createLedgerSums(async (fromMs) => {
      asked.push(fromMs)
      return [
        sumOf(),
        sumOf({ gateId: 'other' }),
        sumOf({ accountId: stranger }),
        sumOf({ credential: 'own' }),
      ]
    })
    await loadUsage(second.usage, second.registry, { sums, nowMs: second.clock.nowMs })
    expect(asked).toEqual([Date.parse('2026-11-01'), NOW_MS + 1])
    expect(second.registry.windowOf(budget)).toMatchObject({ tokens: 120, nanoUsd: 10 })
    expect(second.usage.quotaOf(DEFAULT_ACCOUNT, NOW_MS).window).toMatchObject({ tokens: 120 })
    expect(second.usage.quotaOf(stranger, NOW_MS).window).toMatchObject({ tokens: 60 })
    expect(second.alerts.map(({ threshold }) => threshold)).toEqual([0.5, 1])
  })

  test('a limit lowered below the usage raises its alerts at once', async () => {
    const { registry, usage, alerts, clock } = await start()
    const budget = await registry.create(DEFAULT_ACCOUNT, newBudget)
    clock.nowMs += 1000
    const sums = createLedgerSums(async () => [sumOf({ tokens: 40 })])
    await loadUsage(usage, registry, { sums, nowMs: clock.nowMs })
    expect(alerts).toEqual([])
    await registry.update(DEFAULT_ACCOUNT, budget.id, { limit: { type: 'tokens', tokens: 40 } })
    expect(alerts.map(({ threshold }) => threshold)).toEqual([0.5, 1])
  })

  test('a budget that another node has deleted cannot be changed any more', async () => {
    const [{ registry }, other] = [await start(), await start()]
    const { id } = await registry.create(DEFAULT_ACCOUNT, newBudget)
    await other.registry.follow([{ accountId: DEFAULT_ACCOUNT, id }])
    await other.registry.delete(DEFAULT_ACCOUNT, id)
    await expect(registry.update(DEFAULT_ACCOUNT, id, { name: 'x' })).rejects.toMatchObject({
      kind: 'not_found',
    })
    expect((await start()).registry.all()).toEqual([])
  })

  test('every kind of budget comes back from the store as it was', async () => {
    const { registry } = await start()
    await registry.create(DEFAULT_ACCOUNT, newBudget)
    await registry.create(stranger, {
      ...newBudget,
      scope: { type: 'key', keyId: 'key_1' as KeyId },
      limit: { type: 'spend', nanoUsd: 1 },
      period: 'week',
      alertAt: [],
    })
    const reloaded = (await start()).registry
    for (const account of [DEFAULT_ACCOUNT, stranger])
      expect(reloaded.list(account)).toEqual(registry.list(account))
  })

  test('the newest is listed first, and those of one moment in one order on every node', async () => {
    const { registry, clock } = await start()
    for (let index = 0; index < 8; index += 1) await registry.create(DEFAULT_ACCOUNT, newBudget)
    clock.nowMs += 10
    const { id } = await registry.create(DEFAULT_ACCOUNT, newBudget)
    const [newest, ...others] = registry.list(DEFAULT_ACCOUNT).map((budget) => budget.id)
    expect(newest).toBe(id)
    expect(others).toEqual(others.toSorted().toReversed())
  })

  test('another account cannot find a budget, and the store forgets a deleted one', async () => {
    const { registry, usage } = await start()
    const { id } = await registry.create(DEFAULT_ACCOUNT, newBudget)
    expect(() => registry.get(stranger, id)).toThrow('no budget')
    await expect(registry.update(stranger, id, { name: 'x' })).rejects.toThrow('no budget')
    await expect(registry.delete(stranger, id)).rejects.toThrow('no budget')
    await registry.delete(DEFAULT_ACCOUNT, id)
    expect(usage.budgetWindow(id, NOW_MS)).toBeUndefined()
    expect((await start()).registry.all()).toEqual([])
  })

  test("a budget's start comes from the database's clock where nodes share it, and else from the node's", async () => {
    const { registry, clock } = await start()
    const isShared = kind.name === 'Postgres'
    clock.nowMs = Date.now() + 3_600_000
    const ahead = await registry.create(DEFAULT_ACCOUNT, newBudget)
    expect(ahead.createdAt - clock.nowMs < -3_000_000).toBe(isShared)
    clock.nowMs = Date.now() - 3_600_000
    const behind = await registry.create(DEFAULT_ACCOUNT, newBudget)
    expect(behind.createdAt).toBe(clock.nowMs + 1)
  })

  test('an account has a bounded number of budgets', async () => {
    const first = await (await start()).registry.create(DEFAULT_ACCOUNT, newBudget)
    const row = await store.database.selectFrom('budgets').selectAll().executeTakeFirstOrThrow()
    const others = Array.from({ length: 498 }, (_, index) => ({
      ...row,
      id: `${first.id}_${index}`,
    }))
    await store.database.insertInto('budgets').values(others).execute()
    const { registry } = await start()
    await registry.create(DEFAULT_ACCOUNT, newBudget)
    expect(registry.list(DEFAULT_ACCOUNT)).toHaveLength(500)
    await expect(registry.create(DEFAULT_ACCOUNT, newBudget)).rejects.toThrow('500 budgets')
  })

  test('a call counts from the budget’s creation on, even before the budget is written', async () => {
    const { usage, clock } = await start()
    const made = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const budgets = {
      ...{ ...store.budgets, sharedNowMs: async () => undefined, loadAll: async () => [] },
      async insert(budget: Budget) {
        made.resolve()
        await written.promise
        await store.budgets.insert(budget)
      },
    }
    const registry = await BudgetRegistry.load({ budgets: budgets as never, usage, clock })
    const caller = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      limits: createKeyLimits(createPlans())(DEFAULT_ACCOUNT),
    }
    const limits = new MemoryLimits(clock, usage)
    const call = () =>
      atOnce(limits.admit(caller, { gateId: GATE, startedAtMs: clock.nowMs, estimatedTokens: 1 }))
    const before = call()
    const writing = registry.create(DEFAULT_ACCOUNT, newBudget)
    await made.promise
    const sameMoment = call()
    clock.nowMs += 1
    const during = call()
    written.resolve()
    const budget = await writing
    const cost = { nanoUsd: null, status: 'unknown', source: null } as const
    for (const [tokens, ticket] of [
      [1, before],
      [10, sameMoment],
      [100, during],
    ] as const)
      ticket.settle({ tokens, cost, countsForQuota: true, endedAtMs: clock.nowMs })
    expect(registry.windowOf(budget)).toMatchObject({ tokens: 110, reservedTokens: 0 })
  })

  test("a call that begins after a budget's creation was answered is later than the budget's start", async () => {
    const usage = new UsageLimits({ plans: createPlans(), onAlert: () => undefined })
    const registry = await BudgetRegistry.load({ budgets: store.budgets, usage })
    for (let number = 0; number < 5; number += 1) {
      const { createdAt } = await registry.create(DEFAULT_ACCOUNT, {
        ...newBudget,
        name: `budget ${number}`,
      })
      expect(Date.now()).toBeGreaterThan(createdAt)
    }
  })

  test('a budget that cannot be deleted keeps limiting', async () => {
    const { registry, usage } = await start()
    const { id } = await registry.create(DEFAULT_ACCOUNT, newBudget)
    const away = spyOn(store.budgets, 'delete').mockRejectedValueOnce(new Error('away'))
    await expect(registry.delete(DEFAULT_ACCOUNT, id)).rejects.toThrow('away')
    expect(usage.budgetWindow(id, NOW_MS)).toBeDefined()
    await registry.delete(DEFAULT_ACCOUNT, id)
    expect(away).toHaveBeenCalledTimes(2)
    expect(usage.budgetWindow(id, NOW_MS)).toBeUndefined()
  })

  test('a budget that cannot be written limits nothing', async () => {
    const { usage, clock } = await start()
    const budgets = {
      ...{ ...store.budgets, sharedNowMs: async () => undefined, loadAll: async () => [] },
      insert: () => Promise.reject(new Error('disk full')),
    }
    const failing = await BudgetRegistry.load({ budgets: budgets as never, usage, clock })
    await expect(failing.create(DEFAULT_ACCOUNT, newBudget)).rejects.toThrow('disk full')
    expect(failing.all()).toEqual([])
    const caller = {
      accountId: DEFAULT_ACCOUNT,
      keyId: 'key_1' as KeyId,
      limits: createKeyLimits(createPlans())(DEFAULT_ACCOUNT),
    }
    clock.nowMs += 1000
    expect(
      usage.reserveBudgets(caller, { gateId: GATE, startedAtMs: clock.nowMs, estimatedTokens: 1 }),
    ).toEqual([])
  })
})
