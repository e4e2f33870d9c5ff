/** API keys as the store gives them to a start: all of them, however many there are. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../../core/ids.ts'
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

  describe('the name of a deleted key', () => {
    const keyOf = (id: string, changes: Partial<ApiKey> = {}): ApiKey => ({
      accountId: DEFAULT_ACCOUNT,
      id: id as KeyId,
      name: `name of ${id}`,
      sha256: `hash of ${id}`,
      maskedPrefix: 'sk-svc-…',
      createdAt: 1,
      lastUsedAt: null,
      createdBy: null,
      expiresAt: null,
      previous: null,
      ...changes,
    })

    test('can be read, the last one that it had, also after its text was replaced', async () => {
      for (const id of ['key_1', 'key_2', 'key_3']) await store.keys.insert(keyOf(id))
      await store.keys.change(DEFAULT_ACCOUNT, 'key_1' as KeyId, {
        action: 'key.rotate',
        change: (key) => ({ ...key, name: 'renamed', sha256: 'another hash' }),
      })
      for (const id of ['key_1', 'key_2']) await store.keys.delete(DEFAULT_ACCOUNT, id as KeyId)
      const ids = ['key_1', 'key_2', 'key_3', 'key_none'] as KeyId[]
      const names = await store.keys.findDeletedNames(DEFAULT_ACCOUNT, ids)
      expect([...names].toSorted()).toEqual([
        ['key_1', 'renamed'],
        ['key_2', 'name of key_2'],
      ] as never)
      expect((await store.keys.findDeletedNames('acct_other' as AccountId, ids)).size).toBe(0)
    })

    test('of more keys than one statement may name', async () => {
      const ids = Array.from({ length: 501 }, (_, index) => `key_${index}` as KeyId)
      for (const id of [ids[0], ids[500]])
        if (id !== undefined) {
          await store.keys.insert(keyOf(id))
          await store.keys.delete(DEFAULT_ACCOUNT, id)
        }
      expect((await store.keys.findDeletedNames(DEFAULT_ACCOUNT, ids)).size).toBe(2)
    })
  })
})
