import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { runsOn } from '../../test/support/property-runs.ts'
import { DEFAULT_ATTRIBUTION, END_USER } from '../core/attribution.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { operatorOrigin, withOrigin } from '../store/changes/change-origin.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { SealedRows } from '../store/sealed-rows.ts'
import { AttributionRegistry } from './attribution-registry.ts'
import { CallerNames } from './caller-names.ts'
import { RecentHashes } from './recent-hashes.ts'

const oldKey = new Secret('1a'.repeat(32))
const newKey = new Secret('2b'.repeat(32))
const STRANGER = 'acct_stranger' as AccountId

describe.each(databases)('attribution settings on $name', (kind) => {
  let database: TestDatabase
  let store: Store
  let failures: unknown[]

  const load = (keys: readonly [Secret, ...Secret[]] = [oldKey], mayEncrypt = true) =>
    AttributionRegistry.load({
      attribution: store.attribution,
      vault: createVault(keys),
      mayEncrypt: () => mayEncrypt,
      onFailure: (error) => void failures.push(error),
    })

  beforeEach(async () => {
    failures = []
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  test('a start gives each account a hash key, and the next start keeps it', async () => {
    const first = await load()
    const second = await load()
    expect(first.settingsOf(DEFAULT_ACCOUNT)).toEqual(DEFAULT_ATTRIBUTION)
    const hash = first.hash(DEFAULT_ACCOUNT, 'tag', 'team-a')
    expect(hash).toMatch(/^[0-9a-f]{16}$/)
    expect(second.hash(DEFAULT_ACCOUNT, 'tag', 'team-a')).toBe(hash)
  })

  test('of two nodes that create the key at once, both use the one that was written', async () => {
    const nodes = await Promise.all([load(), load()])
    const hashes = nodes.map((node) => node.hash(DEFAULT_ACCOUNT, 'user', 'ann'))
    expect(new Set(hashes).size).toBe(1)
  })

  test('the stored key is encrypted, and a rotation of the master key keeps the hashes', async () => {
    const hash = (await load()).hash(DEFAULT_ACCOUNT, 'user', 'ann')
    const [row] = await database.run<{ sealed_hash_key: string }>('SELECT * FROM attribution')
    expect(row?.sealed_hash_key).toStartWith('v1.')
    const rows = await SealedRows.over(store.database)
    expect(await rows.reseal(createVault([newKey, oldKey]))).toBe(1)
    expect((await load([newKey])).hash(DEFAULT_ACCOUNT, 'user', 'ann')).toBe(hash)
    expect(failures).toEqual([])
  })

  test('a hash of one account is not remembered for another account with the same scope', async () => {
    const registry = await load()
    await registry.ensure(STRANGER)
    const fresh = await load()
    const scopeOfOther = registry.hash(STRANGER, 'session', 's1', 'key_a')
    const own = fresh.hash(DEFAULT_ACCOUNT, 'session', 's1', 'key_a')
    expect(own).not.toBe(scopeOfOther)
    expect(registry.hash(DEFAULT_ACCOUNT, 'session', 's1', 'key_a')).toBe(own)
  })

  test('without the master key no name is hashed, and the failure is reported', async () => {
    await load()
    const registry = await load([newKey])
    expect(registry.hash(DEFAULT_ACCOUNT, 'user', 'ann')).toBeUndefined()
    expect(failures).toHaveLength(1)
  })

  test('a node without a shared master key creates no hash key until a setting is changed', async () => {
    const registry = await load([oldKey], false)
    expect(registry.settingsOf(DEFAULT_ACCOUNT)).toEqual(DEFAULT_ATTRIBUTION)
    expect(registry.hash(DEFAULT_ACCOUNT, 'user', 'ann')).toBeUndefined()
    expect(await database.run('SELECT * FROM attribution')).toEqual([])
    await registry.change(DEFAULT_ACCOUNT, { endUsers: true })
    expect(registry.hash(DEFAULT_ACCOUNT, 'user', 'ann')).toBeDefined()
  })

  test('a master key that is missing at the start is reported, and looked for each minute', async () => {
    const reports: string[] = []
    const looks: boolean[] = []
    let elapsedMs = 0
    let hasKey = false
    const registry = await AttributionRegistry.load({
      attribution: store.attribution,
      vault: createVault([oldKey]),
      mayEncrypt: () => {
        looks.push(hasKey)
        return hasKey
      },
      onNoMasterKey: () => void reports.push('missing'),
      clock: { elapsed: () => elapsedMs },
      onFailure: (error) => void failures.push(error),
    })
    expect(reports).toEqual(['missing'])
    for (elapsedMs of [1, 2, 59_999]) registry.settingsOf(DEFAULT_ACCOUNT)
    expect(looks).toEqual([false, false])
    hasKey = true
    elapsedMs = 60_001
    registry.settingsOf(DEFAULT_ACCOUNT)
    await registry.ensure(DEFAULT_ACCOUNT)
    expect(registry.hash(DEFAULT_ACCOUNT, 'user', 'ann')).toBeDefined()
    expect(failures).toEqual([])
  })

  test('an account made after the start has its key before its first call', async () => {
    const [here, there] = [await load(), await load()]
    await here.ensure(STRANGER)
    await there.follow([{ accountId: STRANGER, id: STRANGER }])
    const hash = here.hash(STRANGER, 'tag', 'team-a')
    expect(there.hash(STRANGER, 'tag', 'team-a')).toBe(hash)
    expect(hash).not.toBe(here.hash(DEFAULT_ACCOUNT, 'tag', 'team-a'))
  })

  test('a change of a switch is audited, and reaches a node that follows', async () => {
    const [here, there] = [await load(), await load()]
    const changed = await withOrigin(operatorOrigin, () =>
      here.change(DEFAULT_ACCOUNT, { endUsers: true }),
    )
    const after = { ...DEFAULT_ATTRIBUTION, endUsers: true }
    expect(changed).toEqual(after)
    await there.follow([{ accountId: DEFAULT_ACCOUNT, id: DEFAULT_ACCOUNT }])
    expect(there.settingsOf(DEFAULT_ACCOUNT)).toEqual(after)
    const [entry] = await store.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 1 })
    expect(entry).toMatchObject({
      action: 'attribution.update',
      before: { ...DEFAULT_ATTRIBUTION },
      after: { ...after },
    })
  })

  test('a new hash key erases end users, whose waiting names are not written', async () => {
    const [here, there] = [await load(), await load()]
    const names = [here, there].map(
      (registry) => new CallerNames({ names: store.callerNames, hashKeys: registry }),
    )
    const note = (registry: AttributionRegistry, by: CallerNames | undefined, name: string) => {
      const hash = registry.hash(DEFAULT_ACCOUNT, 'user', name)
      by?.note(DEFAULT_ACCOUNT, 'user', `${END_USER}${hash}`, name)
      return hash
    }
    const first = note(here, names[0], 'ann')
    names[0]?.note(DEFAULT_ACCOUNT, 'tag', 'a1', 'team-a')
    names[0]?.note(DEFAULT_ACCOUNT, 'user', 'user_ann', undefined)
    await names[0]?.flush()
    note(there, names[1], 'bob')
    await withOrigin(operatorOrigin, () => here.replaceKey(DEFAULT_ACCOUNT))
    // A node that has not heard of the new key yet.
    note(there, names[1], 'eve')
    await names[1]?.flush()
    expect(await database.run('SELECT name FROM caller_names')).toEqual([{ name: 'team-a' }])
    await there.follow([{ accountId: DEFAULT_ACCOUNT, id: DEFAULT_ACCOUNT }])
    const second = note(there, names[1], 'ann')
    await names[1]?.flush()
    expect(second).not.toBe(first)
    expect(second).toBe(here.hash(DEFAULT_ACCOUNT, 'user', 'ann'))
    expect(await database.run("SELECT hash FROM caller_names WHERE kind = 'user'")).toEqual([
      { hash: `${END_USER}${second}` },
    ])
    const [entry] = await store.auditLog.list(DEFAULT_ACCOUNT, {}, { limit: 1 })
    expect(entry).toMatchObject({
      ...{ action: 'attribution.replace-key', resourceId: DEFAULT_ACCOUNT },
    })
  })

  test('a rotation of the master key loses no waiting name', async () => {
    const registry = await load([newKey, oldKey])
    const names = new CallerNames({ names: store.callerNames, hashKeys: registry })
    names.note(DEFAULT_ACCOUNT, 'user', `${END_USER}1`, 'ann')
    const anew = createVault([oldKey, newKey])
    const rows = await SealedRows.over(store.database)
    expect(await rows.reseal(anew)).toBe(1)
    await names.flush()
    expect(await database.run('SELECT name FROM caller_names')).toEqual([{ name: 'ann' }])
  })

  test('a name has another hash in each kind and scope', async () => {
    const registry = await load()
    const text = fc.string({ maxLength: 20 })
    fc.assert(
      fc.property(text, text, text, (name, one, other) => {
        fc.pre(one !== other)
        const hashes = [
          registry.hash(DEFAULT_ACCOUNT, 'session', name, one),
          registry.hash(DEFAULT_ACCOUNT, 'session', name, other),
          registry.hash(DEFAULT_ACCOUNT, 'agent', name, one),
          registry.hash(DEFAULT_ACCOUNT, 'user', name),
          registry.hash(DEFAULT_ACCOUNT, 'tag', name),
        ]
        expect(new Set(hashes).size).toBe(hashes.length)
      }),
      runsOn(kind, { numRuns: 100, example: ['s1', 'key_a', 'key_b'] }),
    )
  })
})

test('remembered hashes are bounded, and recent ones survive', () => {
  const recent = new RecentHashes(10)
  for (let at = 0; at < 100; at += 1) {
    recent.put('session', 'key', `s${at}`, `h${at}`)
    expect(recent.get('session', 'key', 's0')).toBe('h0')
  }
  expect(recent.get('session', 'key', 's50')).toBeUndefined()
  expect(recent.get('session', 'key', 's99')).toBe('h99')
  recent.clear()
  expect(recent.get('session', 'key', 's99')).toBeUndefined()
})
