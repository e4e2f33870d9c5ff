/**
 * Whose credential a call goes out with, over a real store: never the platform's in place of an own
 * one that fails.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { runsOn } from '../../test/support/property-runs.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { ProviderKey } from '../core/provider-key.ts'
import { Secret } from '../core/secret.ts'
import { createVault, type Vault } from '../core/vault.ts'
import { originOf } from '../gateway/plan/compile-target.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { ProviderKeyRegistry } from './provider-key-registry.ts'

const OTHER = 'acct_other' as AccountId
const PLATFORM = new Secret('the-platforms')
const platform = new Map([['openai', PLATFORM]])
const vaultOf = (byte: string) => createVault([new Secret(byte.repeat(32))])

let store: Store
let registry: ProviderKeyRegistry
let unopened: { key: ProviderKey; error: unknown }[]
const time = { now: 1_000_000 }

async function load(
  vault: Pick<Vault, 'encrypt' | 'decrypt'> = vaultOf('aa'),
): Promise<ProviderKeyRegistry> {
  unopened = []
  return await ProviderKeyRegistry.load({
    keys: store.providerKeys,
    vault,
    platform,
    clock: { now: () => time.now },
    flushIntervalMs: 3_600_000,
    onUnopened: (key, error) => void unopened.push({ key, error }),
  })
}

/** The same rows, as a process finds them that has just started. */
async function restart(vault?: Pick<Vault, 'encrypt' | 'decrypt'>): Promise<void> {
  await registry.close()
  registry = await load(vault)
}

function set(
  accountId: AccountId,
  key: string,
  extra: { providerId?: string; isActive?: boolean } = {},
) {
  return registry.set({
    accountId,
    providerId: 'openai',
    isActive: true,
    secret: new Secret(key),
    ...extra,
  })
}

function keyOf(accountId: AccountId, providerId = 'openai'): string | undefined {
  return registry.find(accountId, providerId)?.secret.reveal()
}
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    await database.run(
      `insert into accounts (id, name, created_at) values ('${OTHER}', 'Other', 1)`,
    )
    registry = await load()
  })
  afterEach(async () => {
    await registry.close()
    await store.close()
    await database.remove()
  })

  describe('find', () => {
    test("an account's active key is used before the platform's, by that account only", async () => {
      await set(DEFAULT_ACCOUNT, 'mine')
      expect(registry.find(DEFAULT_ACCOUNT, 'openai')).toMatchObject({ owner: 'account' })
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
      expect(registry.find(OTHER, 'openai')).toEqual({ secret: PLATFORM, owner: 'platform' })
      expect(registry.find(DEFAULT_ACCOUNT, 'mistral')).toBeUndefined()
      await restart()
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
      expect(keyOf(OTHER)).toBe('the-platforms')
    })

    test('an inactive key is not used', async () => {
      await set(DEFAULT_ACCOUNT, 'mine', { isActive: false })
      await set(DEFAULT_ACCOUNT, 'mine', { providerId: 'mistral', isActive: false })
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('the-platforms')
      expect(keyOf(DEFAULT_ACCOUNT, 'mistral')).toBeUndefined()
      await registry.setActive(DEFAULT_ACCOUNT, 'openai', true)
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
      await registry.setActive(DEFAULT_ACCOUNT, 'openai', false)
      await restart()
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('the-platforms')
    })

    test('a key is the same object in every call, so that sealed reasoning returns to its origin', async () => {
      await set(DEFAULT_ACCOUNT, 'mine')
      await restart()
      const found = registry.find(DEFAULT_ACCOUNT, 'openai')
      expect(registry.find(DEFAULT_ACCOUNT, 'openai')).toBe(found as NonNullable<typeof found>)
      const origin = originOf('openai', found?.secret ?? PLATFORM)
      // Set anew with the same text it is another object of the same origin.
      await set(DEFAULT_ACCOUNT, 'mine')
      expect(originOf('openai', registry.find(DEFAULT_ACCOUNT, 'openai')?.secret ?? PLATFORM)).toBe(
        origin,
      )
    })

    test('a replaced or deleted key is not used by the next call', async () => {
      await set(DEFAULT_ACCOUNT, 'first')
      await set(DEFAULT_ACCOUNT, 'second')
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('second')
      await registry.delete(DEFAULT_ACCOUNT, 'openai')
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('the-platforms')
      await restart()
      expect(registry.list(DEFAULT_ACCOUNT)).toEqual([])
    })
  })

  describe('a key that cannot be opened fails its calls, at no cost to the platform', () => {
    const failure = expect.objectContaining({
      kind: 'provider_auth_failed',
      message: expect.stringContaining('own key for openai'),
    })

    test('under another master key', async () => {
      await set(DEFAULT_ACCOUNT, 'mine')
      await restart(vaultOf('bb'))
      for (let call = 0; call < 3; call += 1)
        expect(() => registry.find(DEFAULT_ACCOUNT, 'openai')).toThrow(failure)
      expect(unopened).toHaveLength(1)
      expect(String(unopened[0]?.error)).toContain('master key')
      // The account can help itself.
      await set(DEFAULT_ACCOUNT, 'mine anew')
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine anew')
    })

    test.each([
      ['another account', `update provider_keys set account_id = '${OTHER}'`, OTHER, 'openai'],
      [
        'another provider',
        "update provider_keys set provider = 'mistral'",
        DEFAULT_ACCOUNT,
        'mistral',
      ],
    ])('moved by hand to %s', async (_where, statement, accountId, providerId) => {
      await set(DEFAULT_ACCOUNT, 'mine')
      await database.run(statement)
      await restart()
      expect(() => registry.find(accountId, providerId)).toThrow(
        expect.objectContaining({ kind: 'provider_auth_failed' }),
      )
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('the-platforms')
    })

    test('damaged', async () => {
      await set(DEFAULT_ACCOUNT, 'mine')
      await database.run("update provider_keys set sealed_key = 'nonsense'")
      await restart()
      expect(() => registry.find(DEFAULT_ACCOUNT, 'openai')).toThrow(failure)
    })

    test('but opens once its master key is back, without being tried at every call', async () => {
      await set(DEFAULT_ACCOUNT, 'mine')
      const vault = vaultOf('aa')
      let tries = 0
      let isThere = false
      await restart({
        encrypt: vault.encrypt,
        decrypt(sealed, binding) {
          tries += 1
          if (!isThere) throw new Error('the file is not readable')
          return vault.decrypt(sealed, binding)
        },
      })
      for (let call = 0; call < 5; call += 1)
        expect(() => registry.find(DEFAULT_ACCOUNT, 'openai')).toThrow(failure)
      expect(tries).toBe(1)
      // Nobody waits until a clock that was set back has caught up.
      time.now -= 3_600_000
      for (let call = 0; call < 5; call += 1)
        expect(() => registry.find(DEFAULT_ACCOUNT, 'openai')).toThrow(failure)
      expect(tries).toBe(2)
      isThere = true
      time.now += 10_000
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
      expect(tries).toBe(3)
      time.now += 3_600_000
    })

    test('but opens at once when its row is read again, as after a rotation of the master key', async () => {
      await set(DEFAULT_ACCOUNT, 'mine')
      const vault = vaultOf('aa')
      let isThere = false
      await restart({
        encrypt: vault.encrypt,
        decrypt(sealed, binding) {
          if (!isThere) throw new Error('the file is not readable')
          return vault.decrypt(sealed, binding)
        },
      })
      expect(() => registry.find(DEFAULT_ACCOUNT, 'openai')).toThrow(failure)
      isThere = true
      await registry.followAll()
      expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
    })
  })

  test('two changes at once both count, and a row is never overwritten by a stale one', async () => {
    await set(DEFAULT_ACCOUNT, 'first')
    await Promise.all([
      set(DEFAULT_ACCOUNT, 'second'),
      registry.setActive(DEFAULT_ACCOUNT, 'openai', false),
      set(OTHER, 'theirs'),
    ])
    await restart()
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject([{ isActive: false }])
    await registry.setActive(DEFAULT_ACCOUNT, 'openai', true)
    expect(keyOf(DEFAULT_ACCOUNT)).toBe('second')
    expect(keyOf(OTHER)).toBe('theirs')
  })

  test("an account changes and deletes only its own keys, and lists no other's", async () => {
    await set(DEFAULT_ACCOUNT, 'mine')
    const notFound = expect.objectContaining({ kind: 'not_found' })
    expect(registry.list(OTHER)).toEqual([])
    expect(registry.setActive(OTHER, 'openai', false)).rejects.toEqual(notFound)
    expect(registry.delete(OTHER, 'openai')).rejects.toEqual(notFound)
    expect(keyOf(DEFAULT_ACCOUNT)).toBe('mine')
  })

  test('last-used times are written in batches, kept when that fails, and forgotten with a replaced key', async () => {
    await set(DEFAULT_ACCOUNT, 'mine')
    time.now += 5
    registry.touch(DEFAULT_ACCOUNT, 'openai')
    registry.touch(OTHER, 'openai')
    const usedAt = time.now
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject([{ lastUsedAt: usedAt }])
    await restart()
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject([{ lastUsedAt: usedAt }])
    await set(DEFAULT_ACCOUNT, 'another')
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject([{ lastUsedAt: null }])
  })

  test('a replaced key keeps the creation time of the first one', async () => {
    await set(DEFAULT_ACCOUNT, 'mine')
    const createdAt = time.now
    time.now += 5
    await set(DEFAULT_ACCOUNT, 'another')
    const kept = [{ createdAt, updatedAt: time.now }]
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject(kept)
    await restart()
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject(kept)
  })

  test('a use from before a replacement is not written over the new key', async () => {
    await set(DEFAULT_ACCOUNT, 'mine')
    time.now += 5
    registry.touch(DEFAULT_ACCOUNT, 'openai')
    await set(DEFAULT_ACCOUNT, 'another')
    await restart()
    expect(registry.list(DEFAULT_ACCOUNT)).toMatchObject([{ lastUsedAt: null }])
  })

  test('unwritten times are reported, and written the next time, except for deleted keys', async () => {
    await set(DEFAULT_ACCOUNT, 'mine')
    await set(OTHER, 'theirs')
    const failures: unknown[] = []
    let isBroken = true
    const saved: unknown[] = []
    const flaky = await ProviderKeyRegistry.load({
      keys: {
        loadAll: () => store.providerKeys.loadAll(),
        findSome: (things) => store.providerKeys.findSome(things),
        save: (row) => store.providerKeys.save(row),
        saveActive: (row) => store.providerKeys.saveActive(row),
        delete: (...key) => store.providerKeys.delete(...key),
        saveLastUsed: async (used) => {
          if (isBroken) {
            await flaky.delete(OTHER, 'openai')
            throw new Error('disk on fire')
          }
          saved.push(...used.map(({ accountId, lastUsedAt }) => [accountId, lastUsedAt]))
        },
      },
      vault: vaultOf('aa'),
      platform,
      clock: { now: () => 4242 },
      onFlushFailure: (error) => failures.push(error),
    })
    flaky.touch(DEFAULT_ACCOUNT, 'openai')
    flaky.touch(OTHER, 'openai')
    await flaky.close()
    expect(failures.map(String)).toEqual(['Error: disk on fire'])
    isBroken = false
    await flaky.close()
    // A second flush of the same moment has nothing to write.
    flaky.touch(DEFAULT_ACCOUNT, 'openai')
    await flaky.close()
    expect(saved).toEqual([[DEFAULT_ACCOUNT, 4242]])
  })

  test('the newest is listed first, and those of one moment in one order on every node', async () => {
    for (const providerId of ['b', 'd', 'a', 'c'])
      await set(DEFAULT_ACCOUNT, 'mine', { providerId })
    time.now += 1
    await set(DEFAULT_ACCOUNT, 'mine', { providerId: 'aa' })
    expect(registry.list(DEFAULT_ACCOUNT).map(({ providerId }) => providerId)).toEqual([
      ...['aa', 'd', 'c', 'b', 'a'],
    ])
  })

  test("a call uses the account's latest choice, after any order of changes and restarts", async () => {
    const accounts = [DEFAULT_ACCOUNT, OTHER]
    const openai = (what: string, account = DEFAULT_ACCOUNT) => ({
      what,
      account,
      providerId: 'openai',
    })
    const EXAMPLE = [
      openai('activate'),
      openai('set'),
      openai('set inactive', OTHER),
      { what: 'set', account: OTHER, providerId: 'mistral' },
      openai('restart'),
      openai('activate', OTHER),
      openai('deactivate'),
      openai('set'),
      openai('delete', OTHER),
      openai('restart'),
      openai('delete', OTHER),
      openai('delete'),
    ]
    const step = fc.record({
      what: fc.constantFrom('set', 'set inactive', 'activate', 'deactivate', 'delete', 'restart'),
      account: fc.constantFrom(...accounts),
      providerId: fc.constantFrom('openai', 'mistral'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await database.run('delete from provider_keys')
        await restart()
        const model = new Map<string, { key: string; isActive: boolean }>()
        for (const [index, { what, account, providerId }] of steps.entries()) {
          const name = `${account} ${providerId}`
          const known = model.get(name)
          if (what === 'restart') await restart()
          else if (what.startsWith('set')) {
            const isActive = what === 'set'
            await set(account, `own ${index}`, { providerId, isActive })
            model.set(name, { key: `own ${index}`, isActive })
          } else if (what === 'delete') {
            const deleted = await registry.delete(account, providerId).then(
              () => true,
              () => false,
            )
            expect(deleted).toBe(model.delete(name))
          } else {
            const isActive = what === 'activate'
            const changed = await registry
              .setActive(account, providerId, isActive)
              .catch(() => undefined)
            expect(changed?.isActive).toBe(known === undefined ? undefined : isActive)
            if (known !== undefined) model.set(name, { ...known, isActive })
          }
          for (const each of accounts) {
            for (const id of ['openai', 'mistral']) {
              const own = model.get(`${each} ${id}`)
              const expected = own?.isActive === true ? own.key : platform.get(id)?.reveal()
              expect(keyOf(each, id)).toBe(expected)
            }
          }
        }
      }),
      runsOn(kind, { numRuns: 60, example: [EXAMPLE] }),
    )
  })
})
