/**
 * The cost of the hourly clean-up over `size` days of accounts when nothing is due. The product
 * stores one account's calls, and the rows are copied for the other accounts.
 */
import { sql } from 'kysely'
import { createCallId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { createRetention } from './create-retention.ts'
import { measureHold } from './longest-hold.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { createCalls, DAY_MS, NOW_MS } from './seed-calls.ts'
import { withStore } from './with-store.ts'

const DAYS = 200
const FIRST = 'acct_0'

export const scenario: Scenario = {
  title: 'clean-up with nothing to do, days of accounts',
  sizes: [20_000, 200_000],
  quickSizes: [2_000, 20_000],
  stores: BOTH,
  bars: { 'took, ms': { type: 'ratio', most: 12 }, ...TURN_BAR },
  async run(size, name) {
    const work = async (store: Store) => {
      await store.calls.insertMany(
        createCalls(DAYS, (day) => ({
          id: createCallId(),
          accountId: FIRST,
          startedAt: NOW_MS - (day + 1) * DAY_MS,
        })),
      )
      await giveToOthers(store, Math.ceil(size / DAYS) - 1)
      const retention = createRetention(store, NOW_MS - (DAYS + 1) * DAY_MS)
      await retention.run()
      const held = await measureHold(() => retention.run())
      await retention.stop()
      return { 'took, ms': held.ms, ...ofTurns(held) }
    }
    return await withStore(name, work, { isDurable: false })
  },
}

async function giveToOthers({ database }: Store, accounts: number): Promise<void> {
  for (const table of ['calls', 'usage_hours', 'usage_days'] as const) {
    const row = await database.selectFrom(table).selectAll().limit(1).executeTakeFirstOrThrow()
    const columns = Object.keys(row)
    const values = columns.map((name) => {
      if (name === 'account_id') return sql`'acct_' || number`
      return name === 'id' ? sql`id || '_' || number` : sql.ref(name)
    })
    await sql`
      WITH RECURSIVE others (number) AS
        (SELECT 1 UNION ALL SELECT number + 1 FROM others WHERE number < ${sql.lit(accounts)})
      INSERT INTO ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
      SELECT ${sql.join(values)} FROM ${sql.table(table)}, others WHERE account_id = ${FIRST}
    `.execute(database)
  }
}
