/**
 * The sums of calls whose servers report as much as they can: a server of somebody's own may say
 * what it likes, and everybody's limits wait for these sums at a start.
 */
import { expect, test } from 'bun:test'
import { databases } from '../../../test/support/databases.ts'
import { toTrueUsage } from '../../core/usage.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { CallTableStore } from '../calls/calls.ts'
import { openDatabase } from '../database/open-database.ts'
import { UsageBacklog } from './usage-backlog.ts'
import { UsageSums } from './usage-sums.ts'

/** So many calls overflow 63 bits if each counts as it was reported. */
const CALLS = 1_200
const MOST = Number.MAX_SAFE_INTEGER
const REPORTED = {
  inputTokens: MOST,
  outputTokens: MOST,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

test.each(databases)('on $name they can be added up and read', async (kind) => {
  const created = await kind.create()
  const database = await openDatabase(created.location)
  try {
    const backlog = new UsageBacklog(database)
    const calls = new CallTableStore(database, backlog)
    const usage = toTrueUsage(REPORTED)
    for (let start = 0; start < CALLS; start += 400) {
      await calls.insertMany(Array.from({ length: 400 }, () => createCallRecord({ usage })))
      await backlog.settleAll()
    }
    const found = await new UsageSums(database).since({ fromMs: 0 })
    expect(found).toHaveLength(1)
  } finally {
    await database.destroy()
    await created.remove()
  }
})
