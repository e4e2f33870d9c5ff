/**
 * A start counts the usage of a hundred total budgets over `size` calls. One budget is counted
 * first, because code that never ran takes turns of 5 to 8 ms, once per process.
 */

import type { Budget } from '../../src/core/budget.ts'
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import { createPlans } from '../../src/core/plan.ts'
import { PastUsage } from '../../src/ledger/past-usage.ts'
import { loadUsage } from '../../src/limits/load-usage.ts'
import { UsageLimits } from '../../src/limits/usage-limits.ts'
import { measureHold } from './longest-hold.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { DAY_MS, keyOf, NOW_MS, seedCalls } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const BUDGETS = 100
const DAYS = 90

function createBudget(index: number): Budget {
  const createdAt = NOW_MS - DAYS * DAY_MS + Math.floor((index / BUDGETS) * 0.9 * DAYS * DAY_MS)
  return {
    accountId: DEFAULT_ACCOUNT,
    id: `bud_${index}`,
    name: `budget ${index}`,
    scope: { type: 'key', keyId: keyOf(index) },
    limit: { type: 'tokens', tokens: 1_000_000_000 },
    period: 'total',
    unpriced: 'allow',
    alertAt: [],
    createdAt,
    updatedAt: createdAt,
  }
}

export const scenario: Scenario = {
  title: 'a hundred total budgets at start, calls',
  sizes: [100_000, 1_000_000],
  quickSizes: [10_000, 100_000],
  stores: BOTH,
  bars: { 'took, ms': { type: 'ratio', most: 2 }, ...TURN_BAR },
  async run(size, name) {
    return await withStore(name, async (store) => {
      await seedCalls(store, { calls: size, days: DAYS })
      const budgets = Array.from({ length: BUDGETS }, (_, index) => createBudget(index))
      const count = async (counted: readonly Budget[]) => {
        const usage = new UsageLimits({ plans: createPlans() })
        for (const budget of counted) usage.putBudget(budget)
        const sums = await PastUsage.open({
          sums: store.usageSums,
          beginnings: store.budgetBeginnings,
          segments: [],
          onUnreadable: () => {},
        })
        await loadUsage(usage, { all: () => counted }, { sums, nowMs: NOW_MS })
      }
      await count(budgets.slice(0, 1))
      const held = await measureHold(() => count(budgets))
      return { 'took, ms': held.ms, ...ofTurns(held) }
    })
  },
}
