/** The plans that an operator may write. */
import { expect, test } from 'bun:test'
import { BUILT_IN_PLANS, createPlans } from '../core/plan.ts'
import { plansSection } from './configuration.ts'

test('the section accepts exactly the members of plans', () => {
  const section = plansSection.parse({
    default: 'team',
    accounts: { acct_1: 'free' },
    definitions: { team: { requestsPerMinute: 10, monthlySpendUsd: 2.5, monthlyTokens: null } },
  })
  expect(createPlans(section).of('acct_x' as never).limits).toMatchObject({ monthlySpendUsd: 2.5 })
})

test.each([
  ['a plan that is not there', { default: 'gold' }, 'default'],
  ['one for an account', { accounts: { acct_1: 'gold' } }, 'accounts.acct_1'],
  [
    'a negative limit',
    { definitions: { team: { requestsPerMinute: -1 } } },
    'definitions.team.requestsPerMinute',
  ],
  [
    'half a token',
    { definitions: { team: { monthlyTokens: 0.5 } } },
    'definitions.team.monthlyTokens',
  ],
  [
    'a spend above 9 million dollars',
    { definitions: { team: { monthlySpendUsd: 9_000_000.01 } } },
    'definitions.team.monthlySpendUsd',
  ],
  ['an unknown limit', { definitions: { team: { tokens: 1 } } }, 'definitions.team'],
  ['an unknown member', { plans: {} }, ''],
])('%s is refused at its place', (_name, section, path) => {
  const result = plansSection.safeParse(section)
  expect(result.error?.issues[0]?.path.join('.')).toBe(path)
})

test('the section knows the built-in plans', () => {
  for (const name of Object.keys(BUILT_IN_PLANS))
    expect(plansSection.safeParse({ default: name }).success).toBe(true)
})
