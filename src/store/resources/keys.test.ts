/** API keys as the store gives them to a start: all of them, however many there are. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { openStore, type Store } from '../open-store.ts'

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

  test.each([0, 1, 2_000, 4_001])(
    'a start reads every key, each once: %i of them',
    async (count) => {
      await database.run(`
      INSERT INTO api_keys (id, account_id, name, sha256, masked_prefix, created_at)
      WITH RECURSIVE numbered(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbered WHERE number < ${count})
      SELECT 'key_' || number, '${DEFAULT_ACCOUNT}', 'name', 'sha256 ' || number, 'sk-svc-…', 1
      FROM numbered WHERE number > 0`)
      const keys = await store.keys.loadAll()
      expect(keys).toHaveLength(count)
      expect(new Set(keys.map(({ id }) => id)).size).toBe(count)
      for (const { id, sha256, accountId, createdBy } of keys) {
        expect(id.replace('key_', 'sha256 ')).toBe(sha256)
        expect({ accountId, createdBy }).toEqual({ accountId: DEFAULT_ACCOUNT, createdBy: null })
      }
    },
  )
})
