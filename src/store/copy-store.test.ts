import { describe, expect, test } from 'bun:test'
import { databases, withTestStore } from '../../test/support/databases.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { copyStore, StoreNotEmptyError, TABLES } from './copy-store.ts'
import { STEP_NOTES } from './newer-steps.ts'

describe.each(databases)('to $name', (kind) => {
  test('every table is copied', async () => {
    await withTestStore(kind, async ({ database }) => {
      // What the schema has been through is the database's own.
      const tables = (await database.introspection.getTables()).map(({ name }) => name)
      // What running nodes tell each other is of no use in another database.
      const left = ['change_counter', 'changes', 'nodes', STEP_NOTES]
      expect(tables.filter((name) => !left.includes(name)).sort()).toEqual([...TABLES].sort())
    })
  })

  test('a database that holds anything is left as it is', async () => {
    const [source = kind] = databases
    await withTestStore(source, async (from) => {
      await withTestStore(kind, async (to) => {
        await to.gates.insert({
          accountId: DEFAULT_ACCOUNT,
          id: 'there' as GateId,
          displayName: 'there',
          description: '',
          targets: [],
          strategy: 'fallback',
          hedgeAfterMs: null,
          defaults: null,
          overrides: 'ignore',
          timeoutMs: null,
          maxRetries: 0,
          createdAt: 1,
          updatedAt: 1,
        })
        await expect(copyStore(from, to)).rejects.toBeInstanceOf(StoreNotEmptyError)
        expect(await to.gates.loadAll()).toHaveLength(1)
        expect(await to.accounts.find(DEFAULT_ACCOUNT)).toBeDefined()
      })
    })
  })
})
