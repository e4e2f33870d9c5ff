/** Between plan and attempt: sets the account's quota aside, where a target counts against it. */
import type { GatewayError } from '../core/errors.ts'
import { countsForQuota } from './counts-for-quota.ts'
import type { Target } from './plan-targets.ts'
import type { Ticket } from './ports.ts'

/**
 * The targets that the call may go to: with the quota used up, those that the account pays for itself. A promise only where
 * other nodes have to be asked.
 * @throws GatewayError `quota_exceeded`, or `rate_limited` while what is left is reserved, when there is none of those
 */
export function reserveQuota(
  ticket: Ticket,
  targets: readonly Target[],
): readonly Target[] | Promise<readonly Target[]> {
  if (!targets.some(isPlatforms)) return targets
  const refusal = ticket.reserveQuota()
  if (refusal instanceof Promise) return refusal.then((known) => targetsWithout(known, targets))
  return targetsWithout(refusal, targets)
}

function targetsWithout(refusal: GatewayError | undefined, targets: readonly Target[]): readonly Target[] {
  if (refusal === undefined) return targets
  const own = targets.filter((target) => !isPlatforms(target))
  if (own.length === 0) throw refusal
  return own
}

function isPlatforms({ name, owner }: Target): boolean {
  return countsForQuota(name, owner === 'account' ? 'own' : 'platform')
}
