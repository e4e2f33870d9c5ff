/**
 * Between plan and attempt: of the targets those whose price is known, where a limit in money asks for it. Otherwise
 * nothing that such a target uses would count against the limit. Must not know where prices come from.
 */
import { GatewayError } from '../core/errors.ts'
import { countsForQuota } from './counts-for-quota.ts'
import type { Target } from './plan-targets.ts'
import type { Caller, Limits, PriceDemand, Prices } from './ports.ts'

export interface PricedPorts {
  readonly limits: Limits
  /** Absent: no price is known. */
  readonly prices?: Prices | undefined
}

/** @throws GatewayError `invalid_request` with the code `price_unknown` when none is left */
export function keepPriced(
  { limits, prices }: PricedPorts,
  caller: Caller,
  call: { readonly targets: readonly Target[]; readonly gateId: string; readonly startedAtMs: number },
): readonly Target[] {
  const { targets, gateId, startedAtMs } = call
  const demand = limits.priceDemand(caller, gateId)
  if (demand === undefined) return targets
  const isPriced = ({ name }: Target) => prices?.isPriced(caller.accountId, name, startedAtMs) === true
  const priced = targets.filter((target) => whoDemands(demand, target) === undefined || isPriced(target))
  const [refused] = targets
  if (priced.length > 0 || refused === undefined) return priced.length === targets.length ? targets : priced
  throw priceUnknown(refused, whoDemands(demand, refused) ?? '')
}

/** What the account pays for itself is no concern of its plan's quota. */
function whoDemands({ budget, plan }: PriceDemand, { name, owner }: Target): string | undefined {
  if (budget !== undefined) return budget
  return countsForQuota(name, owner === 'account' ? 'own' : 'platform') ? plan : undefined
}

function priceUnknown({ name }: Target, who: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The price of ${name} is not known, so nothing it uses would count against ${who}, which is in money. ` +
      'Declare a price: register the model as an owned model with its prices, and put that into the gate; of a provider in gatehouse.yaml the operator of this gateway declares prices there. ' +
      `Or let ${who} allow it: set its "unpriced" to "allow".`,
    { code: 'price_unknown' },
  )
}
