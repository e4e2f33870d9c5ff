/** How many things of a kind one account may have stored. Knows neither tables nor who asks. */
import { GatewayError } from './errors.ts'

export interface AccountCaps {
  readonly gates: number
  readonly keys: number
  /** Those that may still be accepted. */
  readonly invitations: number
  readonly ownedModels: number
  readonly members: number
  readonly budgets: number
  readonly webhooks: number
}

export type CappedThing = keyof AccountCaps

/** Far above what people make by hand or from a repository, and little enough to be held in the memory of every node. */
export const DEFAULT_ACCOUNT_CAPS: AccountCaps = {
  gates: 2_000,
  keys: 5_000,
  invitations: 500,
  ownedModels: 500,
  members: 1_000,
  budgets: 500,
  webhooks: 20,
}

/** The variable by which the operator sets each. */
export const CAP_VARIABLES = {
  gates: 'GATEHOUSE_MAX_GATES',
  keys: 'GATEHOUSE_MAX_KEYS',
  invitations: 'GATEHOUSE_MAX_INVITATIONS',
  ownedModels: 'GATEHOUSE_MAX_OWNED_MODELS',
  members: 'GATEHOUSE_MAX_MEMBERS',
  budgets: 'GATEHOUSE_MAX_BUDGETS',
  webhooks: 'GATEHOUSE_MAX_WEBHOOKS',
} as const satisfies Record<CappedThing, string>

const NAMES: Readonly<Record<CappedThing, string>> = {
  gates: 'gates',
  keys: 'API keys',
  invitations: 'open invitations',
  ownedModels: 'owned models',
  members: 'members',
  budgets: 'budgets',
  webhooks: 'webhooks',
}

/** @param count how many there are; more than the cap where that was lowered */
export function capReached(
  thing: CappedThing,
  { cap, count }: { cap: number; count: number },
): GatewayError {
  const name = NAMES[thing]
  return new GatewayError(
    'conflict',
    `The account has ${count} ${name}, and an account may have ${cap}. Delete what is not needed, or ask the operator of this gateway to raise ${CAP_VARIABLES[thing]}.`,
  )
}
