/** A tenth of `size` calls of 1,000 accounts is old enough to go: what deleting it costs, on SQLite. */
import { Retention } from '../../src/ledger/retention.ts'
import { measureHold } from './longest-hold.ts'
import { DAY_MS, NOW_MS, seedCalls } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const DAYS = 30

export const scenario = {
  name: 'a tenth of the calls deleted, calls',
  async run(size: number) {
    return await withStore('SQLite', async (store) => {
      await seedCalls(store, { calls: size, days: DAYS, accounts: 1_000 })
      await store.usage.rollUpDays(NOW_MS)
      const retention = new Retention({
        horizon: { cut: () => NOW_MS - 0.9 * DAYS * DAY_MS },
        clock: { now: () => NOW_MS },
        store,
        ship: async () => {},
        onFailure: () => {},
        pauseMs: 1,
      })
      retention.start()
      const held = await measureHold(() => retention.run())
      await retention.stop()
      return held
    })
  },
}
