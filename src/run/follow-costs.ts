import type { Follower } from '../cluster/change-followers.ts'
import type { AccountId } from '../core/ids.ts'
import type { Log } from '../telemetry/log.ts'

/**
 * Raises this node's counters of usage after costs were corrected, here or on another node.
 * @param raise raises the counters of an account
 */
export function followCosts(
  raise: (accountId: AccountId) => Promise<void>,
  log: Pick<Log, 'error'>,
): Follower {
  return {
    /** Does not wait, because reading the sums must not cost this node its lease. */
    async follow(things) {
      for (const accountId of new Set(things.map((thing) => thing.accountId)))
        void raise(accountId).catch((error: unknown) =>
          log.error({ accountId, err: error }, 'limits do not count corrected costs yet'),
        )
    },
    /** A node that missed changes keeps its counters until the next period. */
    async followAll() {},
  }
}
