/** How many things of a kind one account may have stored. Knows neither tables nor who asks. */
import { GatewayError } from './errors.ts'
import { CAPS, type Cap } from './resource-table.ts'

export type CappedThing = Cap['name']

export type AccountCaps = Readonly<Record<CappedThing, number>>

export const DEFAULT_ACCOUNT_CAPS = toCaps(({ most }) => most)

/** @param mostOf how many there may be of one kind */
export function toCaps(mostOf: (cap: Cap) => number): AccountCaps {
  return Object.fromEntries(CAPS.map((cap) => [cap.name, mostOf(cap)])) as Record<
    CappedThing,
    number
  >
}

export function capOf(thing: CappedThing): Cap {
  const cap = CAPS.find(({ name }) => name === thing)
  // Not reachable: the type follows from the table.
  if (cap === undefined) throw new Error(`there is no cap of ${thing}`)
  return cap
}

/** @param count how many there are; more than the cap where that was lowered */
export function capReached(
  thing: CappedThing,
  { cap, count }: { cap: number; count: number },
): GatewayError {
  const { of, variable } = capOf(thing)
  return new GatewayError(
    'conflict',
    `The account has ${count} ${of}, and an account may have ${cap}. Delete what is not ` +
      `needed, or ask the operator of this gateway to raise ${variable}.`,
  )
}
