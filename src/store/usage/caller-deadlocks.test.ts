/** Nodes that write the same users, tags, sessions and names at once, each in an order of its own. */
import { describe, expect, test } from 'bun:test'
import { databases } from '../../../test/support/databases.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore, type Store } from '../open-store.ts'

const NODES = 4
const ROUNDS = 12
const CALLS = 120
const START = Date.parse('2026-11-01T00:00:00Z')
const { accountId } = createCallRecord()

const idOf = (prefix: string, number: number) => prefix + String(number).padStart(15, '0')

/** The same numbers for every node, each node's and round's in another order. */
function numbersOf(node: number, round: number, count: number): readonly number[] {
  const numbers = Array.from({ length: count }, (_, number) => number)
  const rankOf = (number: number) => Bun.hash(`${node} ${round} ${number}`)
  return numbers.sort((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1))
}

function callsOf(node: number, round: number) {
  return numbersOf(node, round, CALLS).map((number) =>
    createCallRecord({
      startedAt: START + (number % 3) * 86_400_000,
      user: `end:${idOf('a', number % 40)}`,
      session: idOf('b', number % 30),
      tags: [idOf('c', number % 8), idOf('c', (number + node) % 8)].join(' '),
    }),
  )
}

const namesOf = (node: number, round: number) =>
  numbersOf(node, round, 150).map(
    (number) =>
      ({ accountId, kind: 'tag', hash: idOf('d', number), name: `repo:${number}` }) as const,
  )

async function writeCalls(store: Store, node: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await store.calls.insertMany(callsOf(node, round))
}

async function writeNames(store: Store, node: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1)
    await store.callerNames.write(namesOf(node, round), START + round)
}

// One process at a time writes to SQLite.
describe.each(databases.filter(({ name }) => name === 'Postgres'))('on $name', (kind) => {
  test('nodes wait for each other and lose nothing', async () => {
    const created = await kind.create()
    const stores: Store[] = []
    for (let node = 0; node < NODES; node += 1) stores.push(await openStore(created.location))
    const worked = [
      ...(await Promise.allSettled(stores.map(writeCalls))),
      ...(await Promise.allSettled(stores.map(writeNames))),
    ]
    const [first] = stores
    const sumOf = async (table: 'user_days' | 'tag_days' | 'call_sessions') =>
      Number(
        (
          await first?.database
            .selectFrom(table)
            .select((eb) => eb.fn.sum('calls').as('calls'))
            .executeTakeFirst()
        )?.calls ?? 0,
      )
    const [users, tags, sessions] = [
      await sumOf('user_days'),
      await sumOf('tag_days'),
      await sumOf('call_sessions'),
    ]
    const names = await first?.callerNames.find(
      accountId,
      'tag',
      namesOf(0, 0).map(({ hash }) => hash),
    )
    for (const store of stores) await store.close()
    await created.remove()
    expect(worked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))).toEqual([])
    const calls = NODES * ROUNDS * CALLS
    expect({ users, sessions, names: names?.size }).toEqual({
      users: calls,
      sessions: calls,
      names: 150,
    })
    // A call counts for any tag, and for each of its tags; the two tags of the first node are one.
    expect(tags).toBe(calls + (calls / NODES) * (1 + 2 * (NODES - 1)))
  })
})
