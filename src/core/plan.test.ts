import { expect, test } from 'bun:test'
import { type AccountId, DEFAULT_ACCOUNT } from './ids.ts'
import { BUILT_IN_PLANS, createPlans } from './plan.ts'

const stranger = 'acct_stranger' as AccountId

test('the default account is unlimited without configuration, and every other one free', () => {
  const plans = createPlans()
  expect(plans.of(DEFAULT_ACCOUNT).name).toBe('unlimited')
  expect(Object.values(plans.of(DEFAULT_ACCOUNT).limits)).toEqual(Array(7).fill(null))
  expect(plans.of(stranger)).toEqual({
    name: 'free',
    unpriced: 'estimate',
    limits: BUILT_IN_PLANS.free as never,
  })
})

test('a configured default holds for every account without a plan', () => {
  const plans = createPlans({ default: 'pro', accounts: { acct_stranger: 'free' } })
  expect(plans.of(DEFAULT_ACCOUNT).name).toBe('pro')
  expect(plans.of(stranger).name).toBe('free')
})

test('a built-in plan keeps limits that are not set, and a new one is unlimited there', () => {
  const plans = createPlans({
    accounts: { [DEFAULT_ACCOUNT]: 'team' },
    definitions: { free: { monthlyTokens: null }, team: { tokensPerMinute: 5 } },
  })
  expect(plans.of(stranger).limits).toMatchObject({ monthlyTokens: null, requestsPerMinute: 60 })
  expect(plans.of(DEFAULT_ACCOUNT).limits).toMatchObject({
    tokensPerMinute: 5,
    requestsPerMinute: null,
  })
})

test('overrides replace the limits of every plan', () => {
  const plans = createPlans({}, { requestsPerMinute: 7, concurrentCalls: 3 })
  for (const account of [DEFAULT_ACCOUNT, stranger])
    expect(plans.of(account).limits).toMatchObject({ requestsPerMinute: 7, concurrentCalls: 3 })
})
