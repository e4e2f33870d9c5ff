/** A batch's order in the store. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { CallList } from '../../core/call-batch.ts'
import type { AccountId, CallId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'
import { sortByAccount } from './commit-order.ts'

function recordsOf(count: number, accounts: number) {
  return Array.from({ length: count }, (_, index) =>
    createCallRecord({
      id: `req_${String(index).padStart(6, '0')}` as CallId,
      accountId: `acct_${accounts - 1 - (index % accounts)}` as AccountId,
    }),
  )
}

const nothing = async () => {}

const placesOf = async (count: number, accounts: number) =>
  await sortByAccount(new CallList(recordsOf(count, accounts)), nothing)

test('calls of an account stand together as they came', async () => {
  expect(await placesOf(12, 4)).toEqual([3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8])
  expect(await placesOf(0, 1)).toEqual([])
  expect(await placesOf(5, 1)).toEqual([0, 1, 2, 3, 4])
})

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let store: Store
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  test('each call of a batch is read once where all of them are new, by a file in its order', async () => {
    const list = new CallList(recordsOf(1_500, 3))
    const read: number[] = []
    await store.calls.insertMany({
      length: list.length,
      accountOf: (index) => list.accountOf(index),
      idOf: (index) => list.idOf(index),
      read(index) {
        read.push(index)
        return list.read(index)
      },
    })
    const inOrder = Array.from({ length: 1_500 }, (_, index) => index)
    expect(read).toEqual(
      kind.name === 'SQLite' ? [...(await sortByAccount(list, nothing))] : inOrder,
    )
  })

  test('a batch that is cut short anywhere is whole once it is sent again', async () => {
    const left = new Set<number>()
    // Twice what one commit of a file takes at most.
    const all = recordsOf(2_100, 9)
    for (let steps = 0; ; steps += 23) {
      const records = all.map((record) => ({ ...record, id: `${record.id}_${steps}` as CallId }))
      let taken = 0
      const between = async () => {
        taken += 1
        if (taken > steps) throw new Error('cut short')
      }
      const isWhole = await store.calls.insertMany(records, between).then(
        () => true,
        () => false,
      )
      const ids = records.map(({ id }) => id)
      const stored = await store.usageSums.findShipped(ids)
      left.add(stored.size)
      // Sent again, it is there as a whole, and each call once.
      await store.calls.insertMany(records)
      expect((await store.usageSums.findShipped(ids)).size).toBe(2_100)
      if (isWhole) break
    }
    expect(left.has(0) && left.has(2_100)).toBe(true)
    // A server commits the whole batch at once.
    expect(left.size > 2).toBe(kind.name === 'SQLite')
    let summed = 0
    for (const accountId of new Set(all.map((record) => record.accountId)))
      for (const { tokens } of await store.usageSums.since({ fromMs: 0, accountId }))
        summed += tokens
    const { usage } = createCallRecord()
    const [{ calls = 0 } = {}] = await database.run<{ calls: number }>(
      'SELECT count(*) AS calls FROM calls',
    )
    const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)
    expect(summed).toBe(Number(calls) * tokens)
  })
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))('nodes on one $name', (kind) => {
  test('that store the same calls at once, in two orders, both end, and each call is there once', async () => {
    const database = await kind.create()
    const [one, other] = [await openStore(database.location), await openStore(database.location)]
    try {
      const records = recordsOf(3_000, 7)
      const both = [one.calls.insertMany(records), other.calls.insertMany(records.toReversed())]
      await Promise.all(both)
      expect(await database.run('SELECT count(*) AS calls FROM calls')).toEqual([{ calls: 3_000 }])
    } finally {
      await Promise.all([one.close(), other.close()])
      await database.remove()
    }
  })
})
