/** Plain things on two nodes that share a store. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { loadPlainRegistries, type PlainRegistries } from './plain-registry.ts'

setDefaultTimeout(60_000)

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let store: Store
  let here: PlainRegistries['tag']
  let there: PlainRegistries['tag']

  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
    here = (await loadPlainRegistries(store.plain)).tag
    there = (await loadPlainRegistries(store.plain)).tag
  })
  afterEach(async () => {
    await store.close()
    await created.remove()
  })

  const settings = { name: 'production', description: '', members: [] }
  const nameOf = (id: string) => there.get(DEFAULT_ACCOUNT, id).name

  test('one of two nodes succeeds when both create a resource of the same name at once', async () => {
    const made = await Promise.allSettled(
      [here, there].map((node) => node.create(DEFAULT_ACCOUNT, settings)),
    )
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await Promise.all([here.followAll(), there.followAll()])
    expect(here.list(DEFAULT_ACCOUNT)).toHaveLength(1)
    expect(there.list(DEFAULT_ACCOUNT)).toEqual(here.list(DEFAULT_ACCOUNT))
  })

  test('an update returns the updated resource', async () => {
    const before = await here.create(DEFAULT_ACCOUNT, settings)
    const changed = await here.update(DEFAULT_ACCOUNT, before.id, { description: 'paid' })
    expect(changed).toEqual({ ...before, description: 'paid' })
    expect(here.get(DEFAULT_ACCOUNT, before.id)).toEqual(changed)
  })

  test('a name taken on another node is refused', async () => {
    await there.create(DEFAULT_ACCOUNT, settings)
    const mine = await here.create(DEFAULT_ACCOUNT, { ...settings, name: 'mine' })
    const renamed = here.update(DEFAULT_ACCOUNT, mine.id, { name: 'production' })
    await expect(renamed).rejects.toThrow('A tag with this name already exists.')
    expect(here.get(DEFAULT_ACCOUNT, mine.id)).toEqual(mine)
  })

  test.each(['follow', 'followAll'] as const)(
    'a node takes over resources that another node created, changed and deleted, by %s',
    async (way) => {
      const { id } = await here.create(DEFAULT_ACCOUNT, settings)
      const hear = () =>
        way === 'follow' ? there.follow([{ accountId: DEFAULT_ACCOUNT, id }]) : there.followAll()
      await hear()
      expect(nameOf(id)).toBe('production')
      await here.update(DEFAULT_ACCOUNT, id, { name: 'live', description: undefined })
      await hear()
      expect(nameOf(id)).toBe('live')
      await here.delete(DEFAULT_ACCOUNT, id)
      await hear()
      expect(() => nameOf(id)).toThrow('There is no tag with this id.')
    },
  )

  test('a resource deleted on another node can no longer be changed here', async () => {
    const { id } = await here.create(DEFAULT_ACCOUNT, settings)
    await there.followAll()
    await there.delete(DEFAULT_ACCOUNT, id)
    await expect(here.update(DEFAULT_ACCOUNT, id, { name: 'x' })).rejects.toThrow('There is no tag')
  })
})
