/** API keys as the store gives them to a start: all of them, however many there are. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import { NO_RULES } from '../../core/access-token.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../../core/ids.ts'
import { DEFAULT_ACCOUNT_CAPS } from '../../core/plan.ts'
import { openStore, type Store } from '../open-store.ts'

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

  async function insertMany(count: number, token: string | null = null): Promise<void> {
    await database.run(`
      INSERT INTO api_keys (id, account_id, name, sha256, masked_prefix, created_at, token)
      WITH RECURSIVE numbered(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbered WHERE number < ${count})
      SELECT 'key_' || number, '${DEFAULT_ACCOUNT}', 'name', 'sha256 ' || number, 'sk-svc-…', 1,
        ${token === null ? 'NULL' : `'${token}'`}
      FROM numbered WHERE number > 0`)
  }

  test.each([0, 1, 2_000, 4_001])(
    'a start reads every key, each once: %i of them',
    async (count) => {
      await insertMany(count)
      const keys = await store.keys.loadAll()
      expect(keys).toHaveLength(count)
      expect(new Set(keys.map(({ id }) => id)).size).toBe(count)
      for (const { id, sha256, accountId, createdBy } of keys) {
        expect(id.replace('key_', 'sha256 ')).toBe(sha256)
        expect({ accountId, createdBy }).toEqual({ accountId: DEFAULT_ACCOUNT, createdBy: null })
      }
    },
  )

  test('a start reads equal rules of tokens once', async () => {
    await insertMany(3, JSON.stringify(NO_RULES))
    const [first, ...others] = (await store.keys.loadAll()).map(({ token }) => token)
    expect(first).toEqual(NO_RULES)
    expect(others.map((rules) => rules === first)).toEqual([true, true])
  })

  test('the database counts the keys only when the account may be near the cap', async () => {
    const cap = 1_001
    await insertMany(cap)
    const capped = await openStore(database.location, {
      caps: { ...DEFAULT_ACCOUNT_CAPS, keys: cap },
    })
    const add = (id: string, held?: number) =>
      capped.keys.insert(keyOf(id), 'key.create', held === undefined ? {} : { held })
    await expect(add('key_a')).rejects.toMatchObject({ kind: 'conflict' })
    await expect(add('key_b', 2)).rejects.toMatchObject({ kind: 'conflict' })
    // This node follows the others late: the cap is exceeded by what it has not heard of.
    expect(await add('key_c', 1)).toBe(true)
    await capped.close()
  })

  describe('the name of a deleted key', () => {
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
