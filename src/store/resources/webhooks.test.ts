/** The queue of deliveries, where many accounts have some. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { CompiledQuery, Kysely, type LogEvent, sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { AccountId } from '../../core/ids.ts'
import type { WebhookDelivery } from '../../core/webhook.ts'
import { GatehousePostgresDialect } from '../database/postgres-driver.ts'
import { isSqlite } from '../database/sql-differences.ts'
import { BunSqliteDialect } from '../database/sqlite-driver.ts'
import type { Schema } from '../schema.ts'
import { WebhookTableStore } from './webhooks.ts'

const ACCOUNTS = 200
const OF_EACH = 20

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let database: Kysely<Schema>
  let asked: CompiledQuery[]

  beforeEach(async () => {
    created = await kind.create({ own: true })
    asked = []
    const log = (event: LogEvent) => void asked.push(event.query)
    const { location } = created
    const dialect =
      'path' in location
        ? new BunSqliteDialect(location.path)
        : new GatehousePostgresDialect(location.postgres)
    database = new Kysely<Schema>({ dialect, log })
  })
  afterEach(async () => {
    await database.destroy()
    await created.remove()
  })

  const deliveryOf = (account: number, number: number): WebhookDelivery => ({
    id: `dlv_${account}_${number}`,
    accountId: `acct_${account}` as AccountId,
    webhookId: `hook_${account}`,
    event: 'provider.degraded',
    body: '{}',
    attempts: 0,
    nextAttemptAt: 1_000 + number,
    createdAt: 1_000,
  })

  async function explain({ sql: text, parameters }: CompiledQuery): Promise<string> {
    const command = isSqlite(database) ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
    const query = CompiledQuery.raw(`${command} ${text}`, [...parameters])
    const { rows } = await database.executeQuery<Record<string, unknown>>(query)
    return rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n')
  }

  test("one account's deliveries are counted without reading those of the others", async () => {
    const queue = new WebhookTableStore(database)
    for (let account = 0; account < ACCOUNTS; account += 1)
      await queue.enqueue(Array.from({ length: OF_EACH }, (_, index) => deliveryOf(account, index)))
    if (!isSqlite(database)) await sql`VACUUM ANALYZE webhook_deliveries`.execute(database)
    asked = []
    expect(await queue.countDeliveries('acct_7' as AccountId)).toBe(OF_EACH)
    const [count] = asked
    if (count === undefined) throw new Error('Nothing was asked.')
    expect(await explain(count)).not.toMatch(/\bSCAN\b|Seq Scan/)
  })
})
