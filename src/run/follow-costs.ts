import type { Follower } from '../cluster/change-followers.ts'
import type { AccountId } from '../core/ids.ts'
import type { Log } from '../telemetry/log.ts'

/**
 * Raises this node's counters of usage after costs were corrected, here or on another node. The node
 * does not wait, because reading the sums must not cost the node its lease.
 * @param raise raises the counters of an account; undefined: of all accounts
 */
export function followCosts(
  raise: (accountId: AccountId | undefined) => Promise<void>,
  log: Pick<Log, 'error'>,
): Follower {
  const begin = (accountId?: AccountId) =>
    void raise(accountId).catch((error: unknown) =>
      log.error({ accountId, err: error }, 'limits do not count corrected costs yet'),
    )
  return {
    async follow(things) {
      for (const accountId of new Set(things.map((thing) => thing.accountId))) begin(accountId)
    },
    /** The missed changes may have corrected costs of any account. */
    async followAll() {
      begin()
    },
  }
}
