import type { AccountId } from '../core/ids.ts'
import type { Plan, Plans } from '../core/plan.ts'
import type { KeyLimits, RateLimits } from '../gateway/ports.ts'

/** @returns the same object for every account of a plan */
export function createKeyLimits(plans: Plans): (accountId: AccountId) => KeyLimits {
  const byPlan = new WeakMap<Plan, KeyLimits>()
  return (accountId) => {
    const plan = plans.of(accountId)
    const known = byPlan.get(plan)
    if (known !== undefined) return known
    const { requestsPerMinute, tokensPerMinute, concurrentCalls } = plan.limits
    const account = accountLimits(plan)
    const limits: KeyLimits = {
      requestsPerMinute: requestsPerMinute ?? Number.POSITIVE_INFINITY,
      tokensPerMinute: tokensPerMinute ?? Number.POSITIVE_INFINITY,
      concurrentCalls: concurrentCalls ?? Number.POSITIVE_INFINITY,
      ...(account === undefined ? {} : { account }),
    }
    byPlan.set(plan, limits)
    return limits
  }
}

function accountLimits({ limits }: Plan): RateLimits | undefined {
  const { accountRequestsPerMinute, accountConcurrentCalls } = limits
  if (accountRequestsPerMinute === null && accountConcurrentCalls === null) return undefined
  return {
    requestsPerMinute: accountRequestsPerMinute ?? Number.POSITIVE_INFINITY,
    tokensPerMinute: Number.POSITIVE_INFINITY,
    concurrentCalls: accountConcurrentCalls ?? Number.POSITIVE_INFINITY,
  }
}
