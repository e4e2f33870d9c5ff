/**
 * The hourly clean-up asks for what is to be done, step by step, and not for what is done already.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { type WatchedStatements, watchStatements } from '../../test/support/watched-statements.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { Retention } from '../ledger/retention.ts'
import { CallTableStore } from './calls/calls.ts'
import { giveBackSpace } from './database/free-space.ts'
import { openStore, type Store } from './open-store.ts'
import type { Schema } from './schema.ts'
import { BudgetBeginnings } from './usage/budget-beginnings.ts'
import { EndUserStore } from './usage/end-users.ts'
import { UsageStore } from './usage/usage.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-11-21T09:30:00Z')
/** More than one step looks at. */
const ACCOUNTS = 105
const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `acct_${index}` as AccountId)

let database: TestDatabase
let store: Store
let watched: WatchedStatements<Schema>

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    watched = watchStatements(store.database)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  const callsOf = (daysAgo: number, of = accounts) =>
    of.map((accountId) => createCallRecord({ accountId, startedAt: NOW - daysAgo * DAY_MS }))

  async function cleanUp(days = 30, nowMs = NOW, { deletesHours = false } = {}) {
    const retention = new Retention({
      horizon: { cut: () => nowMs - days * DAY_MS },
      hoursHorizon: { cut: () => (deletesHours ? nowMs - days * DAY_MS : undefined) },
      usersHorizon: { cut: () => undefined },
      store: {
        calls: new CallTableStore(watched.database),
        usage: new UsageStore(watched.database),
        endUsers: new EndUserStore(watched.database),
        budgetBeginnings: new BudgetBeginnings(watched.database),
        giveBackSpace: (options) => giveBackSpace(watched.database, options),
      },
      ship: async () => {},
      onFailure: () => {},
      pauseMs: 0,
    })
    const before = watched.statements
    // Its own first pass is a minute away.
    retention.start()
    const deleted = await retention.run()
    await retention.stop()
    return { deleted, statements: watched.statements - before }
  }

  test('an idle pass reads the same few rows, however many days and accounts are stored', async () => {
    await store.calls.insertMany(callsOf(3, accounts.slice(0, 2)))
    await cleanUp()
    const few = await cleanUp()
    await store.calls.insertMany(callsOf(3))
    await cleanUp()
    const many = await cleanUp()
    // Twice through the accounts, a hundred at a time.
    expect(many.statements - few.statements).toBeLessThanOrEqual(4)
  })

  test('other work runs between few statements, however many accounts there are', async () => {
    await store.calls.insertMany([...callsOf(40), ...callsOf(3)])
    expect((await cleanUp()).deleted).toBe(ACCOUNTS)
    expect(watched.mostInOneTurn).toBeLessThanOrEqual(8)
    expect(watched.mostRows).toBeLessThanOrEqual(250)
  })

  test('hours are deleted some rows at a time, and an idle pass looks at a hundred accounts at once', async () => {
    const deletesHours = { deletesHours: true }
    // More rows than a step takes, in three of the first account's hours.
    const busy = accounts.slice(0, 1).flatMap((accountId) =>
      Array.from({ length: 600 }, (_, index) =>
        createCallRecord({
          accountId,
          keyId: `key_${index % 200}` as KeyId,
          startedAt: NOW - 40 * DAY_MS - (index % 3) * HOUR_MS,
        }),
      ),
    )
    await store.calls.insertMany([...callsOf(40), ...callsOf(39), ...busy])
    await cleanUp()
    watched = watchStatements(store.database)
    const first = await cleanUp(30, NOW, deletesHours)
    expect(first.statements).toBeGreaterThan(0)
    expect(watched.mostInOneTurn).toBeLessThanOrEqual(16)
    expect(watched.mostRows).toBeLessThanOrEqual(250)
    expect(await database.run('SELECT starts_at FROM usage_hours')).toEqual([])
    const idle = await cleanUp(30, NOW, deletesHours)
    const without = await cleanUp()
    // Twice through the accounts, a hundred at a time.
    expect(idle.statements - without.statements).toBeLessThanOrEqual(4)
  })

  test('the hours of a day on which many budgets were made are read once', async () => {
    const [accountId = '' as AccountId] = accounts
    const createdAt = NOW - 40 * DAY_MS
    const rows = Array.from({ length: 60 }, (_, index) => ({
      id: `bud_${index}`,
      account_id: accountId,
      name: 'one of many',
      key_id: `key_${index}` as KeyId,
      gate_id: null,
      limit_tokens: 1_000,
      limit_nano_usd: null,
      period: 'total' as const,
      alert_at: '[]',
      created_at: createdAt,
      updated_at: createdAt,
      first_tokens: 1,
    }))
    await store.database.insertInto('budgets').values(rows).execute()
    const calls = rows.flatMap(({ key_id }) =>
      [2, 5, 9].map((hour) =>
        createCallRecord({ accountId, keyId: key_id, startedAt: createdAt + hour * HOUR_MS }),
      ),
    )
    await store.calls.insertMany(calls)
    await cleanUp()
    const { statements } = await cleanUp(30, NOW, { deletesHours: true })
    // One to write each of them.
    expect(statements).toBeLessThan(rows.length + 40)
    const kept = await store.database.selectFrom('budgets').select('first_tokens').execute()
    expect(new Set(kept.map(({ first_tokens }) => first_tokens))).toEqual(new Set([1 + 3 * 17]))
  })

  test('a pass that is stopped deletes no more hours', async () => {
    await store.calls.insertMany(callsOf(3, accounts.slice(0, 3)))
    const stopping = new AbortController()
    stopping.abort()
    const { signal } = stopping
    expect(await store.usage.deleteHoursBefore(NOW, { signal })).toBe(0)
    expect(await store.usage.deleteHoursBefore(NOW)).toBe(3)
  })
})
