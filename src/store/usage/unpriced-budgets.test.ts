/** Budgets from before the choice meet targets without a price, and the choice is kept. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { Budget } from '../../core/budget.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import { openStore, type Store } from '../open-store.ts'

const budget: Budget = {
  accountId: DEFAULT_ACCOUNT,
  id: 'bud_1',
  name: 'team',
  scope: { type: 'gate', gateId: 'demo' as GateId },
  limit: { type: 'spend', nanoUsd: 5 },
  period: 'month',
  unpriced: 'refuse',
  alertAt: [],
  createdAt: 1,
  updatedAt: 1,
}

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

  test('a budget from before the choice allows unpriced calls, as before', async () => {
    await store.budgets.insert(budget)
    await database.run("update budgets set unpriced = null where id = 'bud_1'")
    expect(
      await store.budgets.findSome([{ accountId: DEFAULT_ACCOUNT, id: 'bud_1' }]),
    ).toMatchObject([{ unpriced: 'allow' }])
  })

  test('the choice is kept, and can be changed', async () => {
    await store.budgets.insert(budget)
    expect(await store.budgets.loadAll()).toMatchObject([{ unpriced: 'refuse' }])
    await store.budgets.change(budget, (previous) => ({ ...previous, unpriced: 'allow' }))
    expect(await store.budgets.loadAll()).toMatchObject([{ unpriced: 'allow' }])
  })
})
