/** The clean-up of a node, without the node and its journal. */
import { Retention } from '../../src/ledger/retention.ts'
import type { Store } from '../../src/store/open-store.ts'

/**
 * Already started; its own first pass is a minute away.
 * @param cutMs older calls are deleted
 */
export function createRetention(store: Store, cutMs: number): Retention {
  const retention = new Retention({
    horizon: { cut: () => cutMs },
    hoursHorizon: { cut: () => cutMs },
    usersHorizon: { cut: () => undefined },
    store,
    ship: async () => {},
    onFailure: () => {},
    pauseMs: 1,
  })
  retention.start()
  return retention
}
