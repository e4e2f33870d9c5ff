import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { type AccountId, createUserId, DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { openStore, type Store } from '../open-store.ts'
import { CallerNameStore } from './caller-names.ts'

const STRANGER = 'acct_stranger' as AccountId
const ours = { accountId: DEFAULT_ACCOUNT }

describe.each(databases)('names of callers on $name', (kind) => {
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

  test('a name is found by account, kind and hash', async () => {
    await store.callerNames.write(
      [
        { ...ours, kind: 'user', hash: 'end:1', name: 'ann' },
        { ...ours, kind: 'tag', hash: '2', name: 'repo:gatehouse' },
        { accountId: STRANGER, kind: 'user', hash: 'end:3', name: 'bob' },
      ],
      1,
    )
    const { callerNames } = store
    expect([...(await callerNames.find(DEFAULT_ACCOUNT, 'user', ['end:1', '2', 'end:3']))]).toEqual(
      [['end:1', 'ann']],
    )
    expect([...(await callerNames.find(DEFAULT_ACCOUNT, 'tag', ['2']))]).toEqual([
      ['2', 'repo:gatehouse'],
    ])
    expect([...(await callerNames.find(STRANGER, 'user', ['end:3']))]).toEqual([['end:3', 'bob']])
  })

  test('thousands of names are searched in steps, between which other work runs', async () => {
    const all = Array.from({ length: 1_201 }, (_, at) => String(at))
    await store.callerNames.write(
      all.map((at) => ({ ...ours, kind: 'user', hash: `user_${at}`, name: `person ${at}` })),
      1,
    )
    const turns = spyOn(LoopTurns.prototype, 'next')
    try {
      const found = await store.callerNames.search(DEFAULT_ACCOUNT, 'user', ['person'])
      expect([...found].sort()).toEqual(all.map((at) => `user_${at}`).sort())
      expect(turns).toHaveBeenCalledTimes(2)
    } finally {
      turns.mockRestore()
    }
  })

  test('names are searched by words, in upper or lower case', async () => {
    const names = [
      'Ärzte Ann',
      'ANNA ÖZ',
      'Bob 50%',
      'Bob 500',
      'under_score',
      'underXscore',
      'a!b',
    ]
    const toName = (name: string) => ({ ...ours, kind: 'user' as const, hash: `end:${name}`, name })
    await store.callerNames.write(
      [
        ...names.map(toName),
        { ...toName('Ann'), kind: 'tag', hash: 'tag' },
        { ...toName('Ann'), accountId: STRANGER, hash: 'end:ofStranger' },
      ],
      1,
    )
    const find = async (...words: readonly string[]) =>
      [...(await store.callerNames.search(DEFAULT_ACCOUNT, 'user', words))]
        .map((hash) => hash.slice('end:'.length))
        .toSorted()
    expect(await find('ann')).toEqual(['ANNA ÖZ', 'Ärzte Ann'])
    expect(await find('ärzte', 'ann')).toEqual(['Ärzte Ann'])
    expect(await find('öz')).toEqual(['ANNA ÖZ'])
    expect(await find('50%')).toEqual(['Bob 50%'])
    expect(await find('r_s')).toEqual(['under_score'])
    expect(await find('a!')).toEqual(['a!b'])
    expect(await find('ann', 'bob')).toEqual([])
  })

  test('a member gets the name of the user, and a user outside the account none', async () => {
    const [ann, eve] = [createUserId(), createUserId()]
    const user = (id: typeof ann, name: string) => ({
      ...{ id, name, email: `${name}@example.test`, passwordHash: 'x' },
    })
    const joining = { type: 'first', accountId: DEFAULT_ACCOUNT } as const
    expect(await store.users.create(user(ann, 'Ann'), joining, 1)).toBeUndefined()
    const own = { type: 'own', accountName: 'Eve' } as const
    expect(await store.users.create(user(eve, 'Eve'), own, 1)).toBeUndefined()
    await store.callerNames.write(
      [ann, eve].map((hash) => ({ ...ours, kind: 'user' as const, hash, name: undefined })),
      1,
    )
    const names = await store.callerNames.find(DEFAULT_ACCOUNT, 'user', [ann, eve])
    expect([...names]).toEqual([[ann, 'Ann']])
  })

  test('further names than the maximum are dropped; known ones are seen again', async () => {
    const names = new CallerNameStore(store.database, 3)
    const tags = (...hashes: readonly string[]) =>
      hashes.map((hash) => ({ ...ours, kind: 'tag' as const, hash, name: `name ${hash}` }))
    await names.write(tags('a', 'b'), 1)
    await names.write([...tags('a', 'c', 'd'), { ...ours, kind: 'user', hash: 'e', name: 'e' }], 2)
    const rows = await database.run<{ hash: string; last_seen_at: number }>(
      'SELECT hash, last_seen_at FROM caller_names ORDER BY hash',
    )
    expect(rows.map((row) => [row.hash, Number(row.last_seen_at)])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 2],
      ['e', 2],
    ])
  })
})
