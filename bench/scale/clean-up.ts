/** `size` days of accounts are summed up and nothing is to be done: what the hourly clean-up still costs, on SQLite. */
import { createCallId } from '../../src/core/ids.ts'
import { Retention } from '../../src/ledger/retention.ts'
import { measureHold } from './longest-hold.ts'
import { createCalls, DAY_MS, NOW_MS } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const DAYS = 200
/** A batch is of one account, so that few notes wait for the hours. */
const DAYS_AT_ONCE = DAYS

export const scenario = {
  name: 'clean-up with nothing to do, days of accounts',
  async run(size: number) {
    return await withStore('SQLite', async (store) => {
      const accounts = Math.ceil(size / DAYS)
      for (let account = 0; account < accounts; account += 1)
        await store.calls.insertMany(
          createCalls(DAYS_AT_ONCE, (day) => ({
            id: createCallId(),
            accountId: `acct_${account}`,
            startedAt: NOW_MS - (day + 1) * DAY_MS,
          })),
        )
      const retention = new Retention({
        horizon: { cut: () => NOW_MS - (DAYS + 1) * DAY_MS },
        clock: { now: () => NOW_MS },
        store,
        ship: async () => {},
        onFailure: () => {},
        pauseMs: 1,
      })
      retention.start()
      await store.usage.rollUpDays(NOW_MS)
      const held = await measureHold(() => retention.run())
      await retention.stop()
      return held
    })
  },
}
