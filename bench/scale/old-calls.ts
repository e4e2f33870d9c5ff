/** The cost of deleting old calls: a tenth of `size` calls of 1,000 accounts. */
import { createRetention } from './create-retention.ts'
import { measureHold } from './longest-hold.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { DAY_MS, NOW_MS, seedCalls } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const DAYS = 30

export const scenario: Scenario = {
  title: 'a tenth of the calls deleted, calls',
  sizes: [100_000, 1_000_000],
  quickSizes: [10_000, 100_000],
  stores: BOTH,
  bars: { 'took a deleted call, µs': { type: 'ratio', most: 1.5 }, ...TURN_BAR },
  async run(size, name) {
    return await withStore(name, async (store) => {
      await seedCalls(store, { calls: size, days: DAYS, accounts: 1_000 })
      const retention = createRetention(store, NOW_MS - 0.9 * DAYS * DAY_MS)
      let deleted = 0
      const held = await measureHold(async () => {
        deleted = await retention.run()
      })
      await retention.stop()
      return { 'took a deleted call, µs': (held.ms * 1_000) / deleted, ...ofTurns(held) }
    })
  },
}
