import { expect, test } from 'bun:test'
import { checkUnpricedBudgets, checkUnpricedPlans } from './check-unpriced.ts'

test('a budget in money that allows models without a price is named, with the command that ends it', () => {
  const budget = { id: 'bud_1', name: 'team', isInMoney: true, unpriced: 'allow' }
  expect(checkUnpricedBudgets([budget])).toMatchObject([
    {
      level: 'warn',
      cure: expect.stringContaining('gatehouse budgets update bud_1 --unpriced refuse'),
    },
  ])
  expect(checkUnpricedBudgets([{ ...budget, unpriced: 'refuse' }])).toEqual([])
  expect(checkUnpricedBudgets([{ ...budget, isInMoney: false }])).toEqual([])
})

test('so is a plan', () => {
  const definitions = { team: { monthlySpendUsd: 5, unpriced: 'allow' }, other: {} } as const
  expect(checkUnpricedPlans({ definitions })).toMatchObject([
    { level: 'warn', message: expect.stringContaining('the plan team') },
  ])
  expect(checkUnpricedPlans(undefined)).toEqual([])
})
