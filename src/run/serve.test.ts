import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { generateApiKey, hashApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { KeyRegistry } from '../snapshots/key-registry.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { ensureFirstKey } from './serve.ts'

const limits = { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentCalls: 5 }

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let store: Store
  const nodes: KeyRegistry[] = []
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.close()
    await store.close()
    await database.remove()
  })

  /** A starting node: its warnings, and the key that it shows. */
  async function start(bootstrapKey: ReturnType<typeof generateApiKey> | undefined) {
    const keys = await KeyRegistry.load({ keys: store.keys, limitsOf: () => limits })
    nodes.push(keys)
    const warnings: string[] = []
    const log = { warn: (_: object, message: string) => void warnings.push(message) }
    const shown = await ensureFirstKey({ keys }, { bootstrapKey }, log as never)
    return { keys, warnings, shown }
  }

  test('a deleted bootstrap key is ignored with a warning on every node that starts with it', async () => {
    const key = generateApiKey()
    const first = await start(key)
    const [record] = first.keys.list(DEFAULT_ACCOUNT)
    if (record === undefined) throw new Error('the bootstrap key is not in force')
    await first.keys.delete(DEFAULT_ACCOUNT, record.id)
    for (const bootstrapKey of [key, key]) {
      const { keys, warnings, shown } = await start(bootstrapKey)
      expect(warnings).toEqual([expect.stringContaining('GATEHOUSE_BOOTSTRAP_KEY is ignored')])
      expect(warnings.join()).not.toContain(key.reveal())
      expect(shown).toBeUndefined()
      expect(keys.find(hashApiKey(key.reveal()))).toBeUndefined()
      expect(keys.list(DEFAULT_ACCOUNT)).toEqual([])
    }
  })

  test('a bootstrap key is the first key, once, and without one a key is created and shown once', async () => {
    const key = generateApiKey()
    for (const _ of [1, 2]) {
      const { keys, warnings, shown } = await start(key)
      expect([warnings, shown]).toEqual([[], undefined])
      expect(keys.find(hashApiKey(key.reveal()))).toBeDefined()
    }
    await store.database.deleteFrom('api_keys').execute()
    const { shown } = await start(undefined)
    expect(shown?.reveal()).toMatch(/^sk-svc-/)
    expect((await start(undefined)).shown).toBeUndefined()
  })
})
