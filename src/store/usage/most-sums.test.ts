/** A usage query with more groups than the memory of a read may hold. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CallId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'
import type { GroupPage } from './group-ranks.ts'
import { UsageStore } from './usage.ts'
import { DAY_MS } from './usage-columns.ts'
import type { UsageQuery } from './usage-query.ts'

const { accountId } = createCallRecord()
const START = Date.parse('2026-11-01T00:00:00Z')
const RANGE = { fromMs: START, toMs: START + 2 * DAY_MS } as const
const FIRST: GroupPage = { order: 'cost', limit: 2 }

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let store: Store

  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    await store.calls.insertMany(
      Array.from({ length: 10 }, (_, index) =>
        createCallRecord({
          ...{ id: `req_${index}` as CallId, startedAt: START + index * 17_000_000 },
          ...{ user: `user_${index % 5}`, session: `${index}`.padStart(16, '0') },
          cost: { nanoUsd: index * 1_000, status: 'exact', source: 'test@1' },
        }),
      ),
    )
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  const boundedTo = (mostSums: number) =>
    new UsageStore(store.database, store.database, { mostSums })

  test.each<[string, number, UsageQuery]>([
    ['users', 3, { ...RANGE, interval: 'all', groupBy: 'user' }],
    [
      'users of gates by the day',
      6,
      { ...RANGE, interval: 'day', groupBy: 'user', thenBy: 'gate' },
    ],
  ])('%s are ranked first, and each page is the same', async (_, mostSums, query) => {
    const bounded = boundedTo(mostSums)
    let after: GroupPage['after']
    for (let page = 0; page < 3; page += 1) {
      const asked = { ...FIRST, after }
      const figures = { percentiles: false, hasTotals: true } as const
      const expected = await store.usage.readRange(accountId, query, asked, figures)
      expect(await bounded.readRange(accountId, query, asked, figures)).toEqual(expected)
      after = expected.next
    }
    expect(after).toBeUndefined()
  })

  test.each<[string, UsageQuery]>([
    ['users with sessions', { ...RANGE, interval: 'all', groupBy: 'user', thenBy: 'session' }],
    [
      'users of a gate by the hour',
      { ...RANGE, interval: 'hour', groupBy: 'user', thenBy: 'gate' },
    ],
  ])('%s are refused, with what to do', async (_, query) => {
    const refused = await boundedTo(3)
      .readRange(accountId, query, FIRST)
      .catch((error) => error)
    expect(refused).toBeInstanceOf(GatewayError)
    expect(refused).toMatchObject({
      kind: 'invalid_request',
      message:
        'group_by: has more than 3 groups, counted in each step. Choose a shorter range or a ' +
        'longer interval, or filter the calls',
      details: [{ field: 'group_by' }],
    })
    expect((await store.usage.readRange(accountId, query, FIRST)).sums.length).toBeGreaterThan(2)
  })
})
