import { expect, test } from 'bun:test'
import { checkPlans } from './check-accounts.ts'

test('a plan with a lower limit for all keys together than for each is named with both figures', () => {
  const team = {
    requestsPerMinute: 600,
    accountRequestsPerMinute: 60,
    concurrentCalls: 5,
    accountConcurrentCalls: 5,
  }
  expect(checkPlans({ definitions: { team } }, false)).toMatchObject([
    {
      level: 'warn',
      message: expect.stringMatching(
        /plan team .*600 \(requestsPerMinute\).*only 60 \(accountRequestsPerMinute\)/,
      ),
    },
  ])
  // A figure of a built-in plan that is not given again counts as well.
  expect(checkPlans({ definitions: { free: { accountConcurrentCalls: 4 } } }, false)).toHaveLength(
    1,
  )
})

test('a plan without limits of the whole account is named if strangers may sign up', () => {
  expect(checkPlans(undefined, true)).toMatchObject([
    {
      level: 'warn',
      cure: expect.stringContaining('accountRequestsPerMinute and accountConcurrentCalls'),
    },
  ])
  expect(checkPlans(undefined, false)).toEqual([])
  const free = { accountRequestsPerMinute: 60, accountConcurrentCalls: 5 }
  expect(checkPlans({ definitions: { free } }, true)).toEqual([])
  expect(checkPlans({ default: 'unlimited' }, true)).toEqual([])
})
