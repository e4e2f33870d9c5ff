import { expect, test } from 'bun:test'
import { toExhausted } from './exhausted-heads.ts'

const BUDGET = { id: 'bud_1', name: 'Everyone', scope: 'each-user', atLimit: 'refuse' } as const

const head = (id: string, share: number, budgetId: string | null = null) => ({
  ...{ id, name: id, share, budgetId },
  used: { tokens: 0, usd: 0, unpricedCalls: 0 },
})

const page = (data: ReturnType<typeof head>[], nextCursor: string | null = null) => ({
  data,
  nextCursor,
})

test('one head over its limit is named, several are counted', () => {
  const one = page([head('ann', 1.5), head('bob', 0.9)])
  expect(toExhausted(BUDGET, one)?.who).toBe('ann')
  expect(toExhausted(BUDGET, page([head('ann', 1.5), head('bob', 1)]))?.who).toBe('2 users')
  const keys = { ...BUDGET, scope: 'each-key' } as const
  expect(toExhausted(keys, page([head('one', 3), head('two', 2)]))?.who).toBe('2 keys')
})

test('a head with a budget of its own is not over this budget', () => {
  expect(toExhausted(BUDGET, page([head('ann', 9, 'bud_2'), head('bob', 0.2)]))).toBeUndefined()
  expect(toExhausted(BUDGET, page([head('ann', 9, 'bud_2'), head('bob', 1)]))?.who).toBe('bob')
  expect(toExhausted(BUDGET, undefined)).toBeUndefined()
})

test('heads beyond the first page are not counted, but told', () => {
  const full = page([head('ann', 3), head('bob', 1)], 'next')
  expect(toExhausted(BUDGET, full)?.who).toBe('more than 2 users')
  expect(toExhausted(BUDGET, page([head('ann', 3), head('bob', 0.5)], 'next'))?.who).toBe('ann')
})
