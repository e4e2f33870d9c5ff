/** The queue of deliveries, where many accounts have some. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { type ExplainedDatabase, openExplained } from '../../../test/support/explained-database.ts'
import type { AccountId } from '../../core/ids.ts'
import type { WebhookDelivery } from '../../core/webhook.ts'
import { isSqlite } from '../database/sql-differences.ts'
import { WebhookTableStore } from './webhooks.ts'

const ACCOUNTS = 200
const OF_EACH = 20

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let explained: ExplainedDatabase

  beforeEach(async () => {
    created = await kind.create({ own: true })
    explained = openExplained(created.location)
  })
  afterEach(async () => {
    await explained.database.destroy()
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

  test("one account's deliveries are counted without reading those of the others", async () => {
    const { database, asked, explain } = explained
    const queue = new WebhookTableStore(database)
    for (let account = 0; account < ACCOUNTS; account += 1)
      await queue.enqueue(Array.from({ length: OF_EACH }, (_, index) => deliveryOf(account, index)))
    if (!isSqlite(database)) await sql`VACUUM ANALYZE webhook_deliveries`.execute(database)
    asked.length = 0
    expect(await queue.countDeliveries('acct_7' as AccountId)).toBe(OF_EACH)
    const [count] = asked
    if (count === undefined) throw new Error('Nothing was asked.')
    expect(await explain(count)).not.toMatch(/\bSCAN\b|Seq Scan/)
  })
})
