/** The queue of deliveries, where many accounts have some. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { type ExplainedDatabase, openExplained } from '../../../test/support/explained-database.ts'
import type { Budget } from '../../core/budget.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId } from '../../core/ids.ts'
import type { WebhookDelivery } from '../../core/webhook.ts'
import { isSqlite } from '../database/sql-differences.ts'
import { BudgetTableStore } from './budgets.ts'
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

  describe('an alert of a budget', () => {
    const original: Budget = {
      accountId: DEFAULT_ACCOUNT,
      id: 'bud_1',
      name: 'a budget',
      scope: { type: 'gate', gateId: 'demo' as GateId },
      limit: { type: 'tokens', tokens: 100 },
      period: 'total',
      unpriced: 'refuse',
      alertAt: [0.5, 1],
      createdAt: 1000,
      updatedAt: 1000,
    }

    async function open() {
      const { database } = explained
      const budgets = new BudgetTableStore(database)
      await budgets.insert(original)
      const queue = new WebhookTableStore(database)
      let budget = original
      const tell = ({ updatedAt }: Budget = budget) =>
        queue.enqueue([], {
          ...{ accountId: DEFAULT_ACCOUNT, budgetId: budget.id, periodStartsAtMs: 1000 },
          ...{ threshold: 1, budgetUpdatedAtMs: updatedAt },
        })
      const change = async (changes: Partial<Budget>) => {
        const updatedAt = budget.updatedAt + 1
        const saved = await budgets.change(budget, (previous) => ({
          ...previous,
          ...changes,
          updatedAt,
        }))
        if (saved !== undefined) budget = saved.changed
      }
      return { tell, change }
    }

    test.each<[string, Partial<Budget>]>([
      ['limit', { limit: { type: 'tokens', tokens: 200 } }],
      ['shares', { alertAt: [0.9, 1] }],
    ])('goes out once, and again after a change of its %s', async (_, changes) => {
      const { tell, change } = await open()
      expect([await tell(), await tell()]).toEqual([true, false])
      await change({ name: 'another' })
      expect(await tell()).toBe(false)
      await change(changes)
      expect([await tell(), await tell()]).toEqual([true, false])
    })

    test('that compared the limit of before does not go out, nor silence the next one', async () => {
      const { tell, change } = await open()
      await change({ limit: { type: 'tokens', tokens: 200 } })
      expect(await tell(original)).toBe(false)
      expect(await tell()).toBe(true)
    })
  })
})
