import { expect, test } from 'bun:test'
import { checkUnpricedBudgets, checkUnpricedPlans } from './check-accounts.ts'

test('a budget in money that allows unpriced models is named, with the command that ends it', () => {
  const budget = { id: 'bud_1', name: 'team', isInMoney: true, unpriced: 'allow' }
  expect(checkUnpricedBudgets([budget])).toMatchObject([
    {
      level: 'warn',
      cure: expect.stringContaining('gatehouse budgets update bud_1 --unpriced estimate'),
    },
  ])
  expect(checkUnpricedBudgets([{ ...budget, unpriced: 'refuse' }])).toEqual([])
  expect(checkUnpricedBudgets([{ ...budget, isInMoney: false }])).toEqual([])
})

test('a plan in money that allows unpriced models is named too', () => {
  const definitions = { team: { monthlySpendUsd: 5, unpriced: 'allow' }, other: {} } as const
  expect(checkUnpricedPlans({ definitions })).toMatchObject([
    {
      ...{ level: 'warn', message: expect.stringContaining('the plan team') },
      cure: expect.stringContaining('unpriced: estimate'),
    },
  ])
  expect(checkUnpricedPlans(undefined)).toEqual([])
})
