/** The limits of an account, by its plan. */
import type { UnpricedRule } from './budget.ts'
import { GatewayError } from './errors.ts'
import { type AccountId, DEFAULT_ACCOUNT } from './ids.ts'
import { CAPS, type Cap } from './resource-table.ts'

/** Null: no limit. The spend is in US dollars, with fractions; the others are whole numbers. */
export interface PlanLimits {
  /** Per key, as are `tokensPerMinute` and `concurrentCalls`. */
  readonly requestsPerMinute: number | null
  /** Input and output together. */
  readonly tokensPerMinute: number | null
  readonly concurrentCalls: number | null
  /** The `account…` limits apply to all keys of the account together. */
  readonly accountRequestsPerMinute: number | null
  readonly accountConcurrentCalls: number | null
  /** The `monthly…` limits apply to the account per calendar month in UTC. */
  readonly monthlyTokens: number | null
  readonly monthlySpendUsd: number | null
}

export interface Plan {
  readonly name: string
  /** Used only with a limit on spend. */
  readonly unpriced: UnpricedRule
  readonly limits: PlanLimits
}

export interface Plans {
  of(accountId: AccountId): Plan
}

export class ReplaceablePlans implements Plans {
  #plans: Plans

  constructor(plans: Plans) {
    this.#plans = plans
  }

  of(accountId: AccountId): Plan {
    return this.#plans.of(accountId)
  }

  replace(plans: Plans): void {
    this.#plans = plans
  }
}

export type PlanDefinition = {
  readonly [Limit in keyof PlanLimits]?: number | null | undefined
} & {
  readonly unpriced?: UnpricedRule | undefined
}

/** The operator's definition of plans, validated by contract/plans.ts. */
export interface PlansSection {
  readonly default?: string | undefined
  readonly accounts?: Readonly<Record<string, string>> | undefined
  /** A built-in plan keeps members that are not given; in a new plan such members mean no limit. */
  readonly definitions?: Readonly<Record<string, PlanDefinition>> | undefined
}

export interface LimitOverrides {
  readonly requestsPerMinute?: number | undefined
  readonly concurrentCalls?: number | undefined
}

const NO_LIMITS: PlanLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentCalls: null,
  accountRequestsPerMinute: null,
  accountConcurrentCalls: null,
  monthlyTokens: null,
  monthlySpendUsd: null,
}

export const BUILT_IN_PLANS: Readonly<Record<string, PlanLimits>> = {
  free: {
    requestsPerMinute: 60,
    tokensPerMinute: 60_000,
    concurrentCalls: 5,
    accountRequestsPerMinute: null,
    accountConcurrentCalls: null,
    monthlyTokens: 1_000_000,
    monthlySpendUsd: 5,
  },
  pro: {
    requestsPerMinute: 1_000,
    tokensPerMinute: 1_000_000,
    concurrentCalls: 100,
    accountRequestsPerMinute: null,
    accountConcurrentCalls: null,
    monthlyTokens: 200_000_000,
    monthlySpendUsd: 500,
  },
  unlimited: NO_LIMITS,
}

/** The plan of an account that signed up, unless the operator configures another. */
const FALLBACK_PLAN = 'free'

/** @param section names only existing plans, because contract/plans.ts refuses others */
export function createPlans(section: PlansSection = {}, overrides: LimitOverrides = {}): Plans {
  const plans = new Map<string, Plan>()
  const names = [...Object.keys(BUILT_IN_PLANS), ...Object.keys(section.definitions ?? {})]
  for (const name of names) plans.set(name, definePlan(name, section, overrides))
  const planOf = (name: string) => plans.get(name) ?? definePlan(name, section, overrides)
  const usual = planOf(section.default ?? FALLBACK_PLAN)
  const ofDefaultAccount = planOf(section.default ?? 'unlimited')
  const assigned = new Map(
    Object.entries(section.accounts ?? {}).map(([accountId, name]) => [accountId, planOf(name)]),
  )
  return {
    of: (accountId) =>
      assigned.get(accountId) ?? (accountId === DEFAULT_ACCOUNT ? ofDefaultAccount : usual),
  }
}

function definePlan(name: string, section: PlansSection, overrides: LimitOverrides): Plan {
  const isBuiltIn = Object.hasOwn(BUILT_IN_PLANS, name)
  const builtIn = (isBuiltIn ? BUILT_IN_PLANS[name] : undefined) ?? NO_LIMITS
  const definitions = section.definitions ?? {}
  const given = (Object.hasOwn(definitions, name) ? definitions[name] : undefined) ?? {}
  const pick = (limit: keyof PlanLimits) =>
    given[limit] === undefined ? builtIn[limit] : given[limit]
  return {
    name,
    unpriced: given.unpriced ?? (isBuiltIn ? 'estimate' : 'refuse'),
    limits: {
      requestsPerMinute: overrides.requestsPerMinute ?? pick('requestsPerMinute'),
      tokensPerMinute: pick('tokensPerMinute'),
      concurrentCalls: overrides.concurrentCalls ?? pick('concurrentCalls'),
      accountRequestsPerMinute: pick('accountRequestsPerMinute'),
      accountConcurrentCalls: pick('accountConcurrentCalls'),
      monthlyTokens: pick('monthlyTokens'),
      monthlySpendUsd: pick('monthlySpendUsd'),
    },
  }
}

export type CappedThing = Cap['name']

export type AccountCaps = Readonly<Record<CappedThing, number>>

export const DEFAULT_ACCOUNT_CAPS = toCaps(({ most }) => most)

export function toCaps(mostOf: (cap: Cap) => number): AccountCaps {
  return Object.fromEntries(CAPS.map((cap) => [cap.name, mostOf(cap)])) as Record<
    CappedThing,
    number
  >
}

export function capOf(thing: CappedThing): Cap {
  const cap = CAPS.find(({ name }) => name === thing)
  if (cap === undefined) throw new Error(`there is no cap of ${thing}`)
  return cap
}

/** @param count the current number, above the cap if the operator lowered the cap */
export function capReached(
  thing: CappedThing,
  { cap, count }: { cap: number; count: number },
): GatewayError {
  const { of, variable } = capOf(thing)
  return new GatewayError(
    'conflict',
    `The account has ${count} ${of}, and the limit is ${cap}. Delete unused ` +
      `ones, or ask the operator of this gateway to raise ${variable}.`,
  )
}
