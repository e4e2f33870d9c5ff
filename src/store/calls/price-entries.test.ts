import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { openStore, type Store } from '../open-store.ts'

describe.each(databases)('price entries on $name', ({ create }) => {
  let database: TestDatabase
  let store: Store
  beforeEach(async () => {
    database = await create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  test('are found by their hash, as they were first', async () => {
    const entry = (at: number, text: string) => ({ hash: `h${at}`, text, firstUsedAt: at })
    const entries = Array.from({ length: 1_001 }, (_, at) => entry(at, `[{"model":"p/${at}"}]`))
    await store.priceEntries.add(entries)
    await store.priceEntries.add([{ ...entry(7, 'other'), firstUsedAt: 9 }, entry(2_000, 'new')])
    await store.priceEntries.add([])
    expect(await store.priceEntries.find('h7')).toEqual(entry(7, '[{"model":"p/7"}]'))
    expect(await store.priceEntries.find('h1000')).toEqual(entry(1_000, '[{"model":"p/1000"}]'))
    expect(await store.priceEntries.find('h2000')).toEqual(entry(2_000, 'new'))
    expect(await store.priceEntries.find('h2001')).toBeUndefined()
  })
})
