/**
 * `size` days of accounts are summed up and nothing is to be done: what the hourly clean-up still
 * costs.
 */
import { createCallId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { createRetention } from './create-retention.ts'
import { measureHold } from './longest-hold.ts'
import { createProgress } from './progress.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { createCalls, DAY_MS, NOW_MS } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const DAYS = 200

export const scenario: Scenario = {
  title: 'clean-up with nothing to do, days of accounts',
  sizes: [20_000, 200_000],
  quickSizes: [2_000, 20_000],
  stores: BOTH,
  bars: { 'took, ms': { type: 'ratio', most: 12 }, ...TURN_BAR },
  async run(size, name) {
    const work = async (store: Store) => {
      const accounts = Math.ceil(size / DAYS)
      const tell = createProgress('accounts', accounts)
      for (let account = 0; account < accounts; account += 1) {
        // Of one account, so that few notes wait for the hours.
        await store.calls.insertMany(
          createCalls(DAYS, (day) => ({
            id: createCallId(),
            accountId: `acct_${account}`,
            startedAt: NOW_MS - (day + 1) * DAY_MS,
          })),
        )
        tell(account)
      }
      const retention = createRetention(store, NOW_MS - (DAYS + 1) * DAY_MS)
      await store.usage.rollUpDays(NOW_MS)
      const held = await measureHold(() => retention.run())
      await retention.stop()
      return { 'took, ms': held.ms, ...ofTurns(held) }
    }
    return await withStore(name, work, { isDurable: false })
  },
}
