/** The accounts that a start asks about: those with usage, however many there are. */
import { expect, test } from 'bun:test'
import { Kysely } from 'kysely'
import { databases } from '../../../test/support/databases.ts'
import type { AccountId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { CallTableStore } from '../calls/calls.ts'
import { GatehousePostgresDialect } from '../database/postgres-driver.ts'
import { BunSqliteDialect } from '../database/sqlite-driver.ts'
import type { Schema } from '../schema.ts'
import { UsageSums } from './usage-sums.ts'

const ACCOUNTS = 1_200
const HOUR_MS = 3_600_000
const FROM_MS = 1_700_000_000_000 - (1_700_000_000_000 % HOUR_MS)
const USAGE = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 }

test.each(databases)('accounts without usage cost a start no query on $name', async (kind) => {
  const created = await kind.create()
  const { location } = created
  const asked: unknown[] = []
  const dialect =
    'path' in location
      ? new BunSqliteDialect(location.path)
      : new GatehousePostgresDialect(location.postgres)
  const database = new Kysely<Schema>({ dialect, log: ({ query }) => void asked.push(query) })
  try {
    const ids = Array.from(
      { length: ACCOUNTS },
      (_, index) => `acct_${String(index).padStart(5, '0')}` as AccountId,
    )
    for (let start = 0; start < ACCOUNTS; start += 400)
      await database
        .insertInto('accounts')
        .values(ids.slice(start, start + 400).map((id) => ({ id, name: id, created_at: 1 })))
        .execute()
    const calls = new CallTableStore(database)
    const use = (index: number, startedAt: number) =>
      calls.insertMany([
        createCallRecord({ accountId: ids[index] as AccountId, startedAt, usage: USAGE }),
      ])
    await use(7, FROM_MS)
    await use(800, FROM_MS + 5 * HOUR_MS)
    await use(900, FROM_MS - HOUR_MS)
    await use(1_100, FROM_MS + HOUR_MS)
    await use(7, FROM_MS + HOUR_MS)
    await use(901, FROM_MS - HOUR_MS)
    asked.length = 0
    const found = await new UsageSums(database).since({ fromMs: FROM_MS })
    expect(asked.length).toBeLessThan(60)
    expect(found.map(({ accountId, tokens }) => [accountId, tokens])).toEqual([
      [ids[7] as AccountId, 14],
      [ids[800] as AccountId, 7],
      [ids[1_100] as AccountId, 7],
    ])
  } finally {
    await database.destroy()
    await created.remove()
  }
})
