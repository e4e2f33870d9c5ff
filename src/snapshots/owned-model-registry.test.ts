import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { type OwnedModel, ownedModelBinding } from '../core/owned-model.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { type NewOwnedModel, OwnedModelRegistry } from './owned-model-registry.ts'

const stranger = 'acct_stranger' as AccountId
const oldKey = new Secret('1a'.repeat(32))
const newKey = new Secret('2b'.repeat(32))

const settings = (slug: string, credential = `credential of ${slug}`): NewOwnedModel => ({
  slug,
  displayName: slug,
  dialect: 'openai-chat',
  baseUrl: 'https://models.vendor.com/v1',
  upstreamModelId: 'm',
  credentialHeader: 'auto',
  fimEndpoint: 'auto',
  fimTemplate: 'auto',
  pricingInput: 1,
  pricingOutput: 2,
  pricingCachedInput: 3,
  credential: new Secret(credential),
})

let now: number
let changed: string[]
let store: Store
let registry: OwnedModelRegistry

const load = (
  keys: readonly [Secret, ...Secret[]] = [oldKey],
  onUnopened?: (slug: string) => void,
) =>
  OwnedModelRegistry.load({
    ownedModels: store.ownedModels,
    vault: createVault(keys),
    clock: { now: () => now },
    onChanged: (_account, slug) => void changed.push(slug),
    ...(onUnopened === undefined ? {} : { onUnopened: ({ slug }) => onUnopened(slug) }),
  })

const reseal = ({ accountId, slug: id }: OwnedModel, sealedCredential: string | undefined) =>
  store.ownedModels.change({ accountId, id }, ({ model }) => ({ model, sealedCredential }))
const credentialOf = (from: OwnedModelRegistry, slug: string) =>
  from.find(DEFAULT_ACCOUNT, slug)?.credential?.secret?.reveal()
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    now = 1000
    changed = []
    database = await kind.create()
    store = await openStore(database.location)
    registry = await load()
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  test('a model is served as soon as it is registered, and after a restart', async () => {
    const model = await registry.create(DEFAULT_ACCOUNT, settings('a'))
    expect(model).toMatchObject({ credentialSetAt: 1000, createdAt: 1000, updatedAt: 1000 })
    expect(model).not.toHaveProperty('credential')
    const next = await load()
    expect(next.list(DEFAULT_ACCOUNT)).toEqual([model])
    expect(credentialOf(next, 'a')).toBe('credential of a')
  })

  test('a model without a credential is served without one, even without a working master key', async () => {
    const { credential: _, ...rest } = settings('bare')
    const model = await registry.create(DEFAULT_ACCOUNT, { ...rest, credential: undefined })
    expect(model).toMatchObject({ hasCredential: false, credentialSetAt: 1000 })
    const none = { secret: undefined, owner: 'account' as const }
    expect(registry.find(DEFAULT_ACCOUNT, 'bare')?.credential).toEqual(none)
    const unopened: string[] = []
    const next = await load([newKey], (slug) => unopened.push(slug))
    expect(next.list(DEFAULT_ACCOUNT)).toEqual([model])
    expect(next.find(DEFAULT_ACCOUNT, 'bare')?.credential).toEqual(none)
    expect(unopened).toEqual([])
  })

  test('a credential is set later and removed again, and each time the model is a new object', async () => {
    const { credential: _, ...rest } = settings('bare')
    await registry.create(DEFAULT_ACCOUNT, { ...rest, credential: undefined })
    const set = await registry.update(DEFAULT_ACCOUNT, 'bare', { credential: new Secret('first') })
    expect(set).toMatchObject({ hasCredential: true, credentialSetAt: 1001 })
    await registry.update(DEFAULT_ACCOUNT, 'bare', { displayName: 'still has it' })
    expect([credentialOf(registry, 'bare'), credentialOf(await load(), 'bare')]).toEqual([
      'first',
      'first',
    ])
    const removed = await registry.update(DEFAULT_ACCOUNT, 'bare', { credential: null })
    expect(removed).toMatchObject({ hasCredential: false, credentialSetAt: 1002 })
    await registry.update(DEFAULT_ACCOUNT, 'bare', { displayName: 'still has none' })
    for (const node of [registry, await load()]) {
      expect(node.find(DEFAULT_ACCOUNT, 'bare')?.credential?.secret).toBeUndefined()
      expect(node.show(DEFAULT_ACCOUNT, 'bare')).toMatchObject({ hasCredential: false })
    }
    expect(changed).toEqual(['bare', 'bare'])
    // Nothing of the one before is left in the row, and a rotation of the master key finds
    // something to open.
    const [row] = await store.ownedModels.findSome([{ accountId: DEFAULT_ACCOUNT, id: 'bare' }])
    const opened = createVault([oldKey]).decrypt(
      row?.sealedCredential ?? '',
      ownedModelBinding(DEFAULT_ACCOUNT, 'bare'),
    )
    expect(opened.reveal()).toBe('')
  })

  test('a credential set by a node of the previous version counts', async () => {
    const { credential: _, ...rest } = settings('bare')
    await registry.create(DEFAULT_ACCOUNT, { ...rest, credential: undefined })
    const sealed = createVault([oldKey]).encrypt(
      new Secret('by an older node'),
      ownedModelBinding(DEFAULT_ACCOUNT, 'bare'),
    )
    // It writes the columns that it knows.
    await store.database
      .updateTable('owned_models')
      .set({ sealed_credential: sealed, credential_set_at: 1500 })
      .execute()
    await registry.follow([{ accountId: DEFAULT_ACCOUNT, id: 'bare' }])
    expect(credentialOf(registry, 'bare')).toBe('by an older node')
    expect(registry.show(DEFAULT_ACCOUNT, 'bare')).toMatchObject({ hasCredential: true })
  })

  test('a check within the change can refuse a deletion, and the model stays', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('mine'))
    const refuse = () => {
      throw new Error('a gate uses it')
    }
    await expect(registry.delete(DEFAULT_ACCOUNT, 'mine', refuse)).rejects.toThrow('a gate uses it')
    expect(registry.show(DEFAULT_ACCOUNT, 'mine')).toBeDefined()
    expect(await store.ownedModels.loadAll()).toHaveLength(1)
  })

  test('the newest is listed first, and those of one moment in one order on every node', async () => {
    for (const slug of ['b', 'd', 'a', 'c']) await registry.create(DEFAULT_ACCOUNT, settings(slug))
    now += 1
    await registry.create(DEFAULT_ACCOUNT, settings('aa'))
    expect(registry.list(DEFAULT_ACCOUNT).map(({ slug }) => slug)).toEqual([
      'aa',
      'd',
      'c',
      'b',
      'a',
    ])
  })

  test('another account cannot see, change or delete a model, and may use the same slug', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    expect(registry.find(stranger, 'a')).toBeUndefined()
    expect(registry.show(stranger, 'a')).toBeUndefined()
    expect(registry.pricesOf(stranger, 'a')).toBeUndefined()
    await expect(registry.update(stranger, 'a', { displayName: 'x' })).rejects.toMatchObject({
      kind: 'not_found',
    })
    await expect(registry.delete(stranger, 'a', () => undefined)).rejects.toMatchObject({
      kind: 'not_found',
    })
    expect(registry.list(stranger)).toEqual([])
  })

  test('a taken slug is a conflict, also for two models at once', async () => {
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => registry.create(DEFAULT_ACCOUNT, settings('a'))),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(outcomes[1]).toMatchObject({ reason: { kind: 'conflict' } })
  })

  test('two updates at once both count; an empty update changes nothing', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    now = 2000
    await Promise.all([
      registry.update(DEFAULT_ACCOUNT, 'a', { pricingInput: 0 }),
      registry.update(DEFAULT_ACCOUNT, 'a', { upstreamModelId: 'n' }),
    ])
    expect(registry.show(DEFAULT_ACCOUNT, 'a')).toMatchObject({
      pricingInput: 0,
      upstreamModelId: 'n',
      credentialSetAt: 1000,
      updatedAt: 2000,
    })
    now = 3000
    expect(await registry.update(DEFAULT_ACCOUNT, 'a', { displayName: undefined })).toMatchObject({
      updatedAt: 2000,
    })
    expect(registry.pricesOf(DEFAULT_ACCOUNT, 'a')).toMatchObject({ input: 0, output: 2 })
  })

  test('a change that the store refuses changes nothing in memory', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    const failing = await OwnedModelRegistry.load({
      ownedModels: {
        loadAll: () => store.ownedModels.loadAll(),
        findSome: async () => [],
        insert: () => Promise.reject(new Error('disk on fire')),
        change: () => Promise.reject(new Error('disk on fire')),
        saveProbe: () => Promise.reject(new Error('disk on fire')),
        delete: () => Promise.reject(new Error('disk on fire')),
      },
      vault: createVault([oldKey]),
    })
    await expect(failing.create(DEFAULT_ACCOUNT, settings('b'))).rejects.toThrow('disk on fire')
    await expect(
      failing.update(DEFAULT_ACCOUNT, 'a', { credential: new Secret('x') }),
    ).rejects.toThrow('disk on fire')
    await expect(failing.delete(DEFAULT_ACCOUNT, 'a', () => undefined)).rejects.toThrow(
      'disk on fire',
    )
    expect(failing.list(DEFAULT_ACCOUNT)).toHaveLength(1)
    expect(credentialOf(failing, 'a')).toBe('credential of a')
  })

  test('the store holds no credential in plain text, and one moved to another row cannot be opened', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    await registry.create(DEFAULT_ACCOUNT, settings('b'))
    const rows = await store.ownedModels.loadAll()
    expect(JSON.stringify(rows)).not.toContain('credential of')
    const [a, b] = ['a', 'b'].map((slug) => rows.find(({ model }) => model.slug === slug))
    if (a === undefined || b === undefined) throw new Error('a row is missing')
    await reseal(b.model, a.sealedCredential)
    const sealed: string[] = []
    const next = await load([oldKey], (slug) => void sealed.push(slug))
    expect(sealed).toEqual(['b'])
    expect(next.find(DEFAULT_ACCOUNT, 'b')).toMatchObject({ credential: undefined })
    expect(credentialOf(next, 'a')).toBe('credential of a')
  })

  test('a change of other fields does not undo a rotation of the master key', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    const [row] = await store.ownedModels.loadAll()
    if (row === undefined) throw new Error('there is a row')
    const both = createVault([newKey, oldKey])
    const binding = ownedModelBinding(DEFAULT_ACCOUNT, 'a')
    const sealedCredential = both.encrypt(both.decrypt(row.sealedCredential, binding), binding)
    await reseal(row.model, sealedCredential)
    await registry.update(DEFAULT_ACCOUNT, 'a', { displayName: 'A' })
    expect(credentialOf(registry, 'a')).toBe('credential of a')
    expect(credentialOf(await load([newKey]), 'a')).toBe('credential of a')
  })

  test('a model is the same object until it changes, and a new credential is reported', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    const before = registry.find(DEFAULT_ACCOUNT, 'a')
    expect(before?.credential?.owner).toBe('account')
    expect(registry.find(DEFAULT_ACCOUNT, 'a')).toBe(before as never)
    await registry.update(DEFAULT_ACCOUNT, 'a', { upstreamModelId: 'n' })
    const after = registry.find(DEFAULT_ACCOUNT, 'a')
    expect(after).not.toBe(before as never)
    expect(after?.credential).toBe(before?.credential as never)
    expect(changed).toEqual([])
    await registry.update(DEFAULT_ACCOUNT, 'a', { credential: new Secret('new') })
    expect(changed).toEqual(['a'])
  })

  test('a credential that cannot be opened is kept, through changes of other fields too', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    const closed = await load([newKey])
    await closed.update(DEFAULT_ACCOUNT, 'a', { displayName: 'A' })
    expect(credentialOf(closed, 'a')).toBeUndefined()
    expect(credentialOf(await load([oldKey]), 'a')).toBe('credential of a')
    await closed.update(DEFAULT_ACCOUNT, 'a', { credential: new Secret('new') })
    expect(credentialOf(closed, 'a')).toBe('new')
  })

  test('a credential that cannot be opened is tried again after ten seconds, and not at every call', async () => {
    await registry.create(DEFAULT_ACCOUNT, settings('a'))
    const vaults = { right: createVault([oldKey]), wrong: createVault([newKey]) }
    let vault = vaults.wrong
    let tries = 0
    const late = await OwnedModelRegistry.load({
      ownedModels: store.ownedModels,
      vault: {
        encrypt: (secret, binding) => vault.encrypt(secret, binding),
        decrypt(sealed, binding) {
          tries += 1
          return vault.decrypt(sealed, binding)
        },
      },
      clock: { now: () => now },
    })
    for (let call = 0; call < 5; call += 1) expect(credentialOf(late, 'a')).toBeUndefined()
    expect(tries).toBe(1)
    now += 10_000
    for (let call = 0; call < 5; call += 1) expect(credentialOf(late, 'a')).toBeUndefined()
    expect(tries).toBe(2)
    // Nobody waits until a clock that was set back has caught up.
    now -= 3_600_000
    for (let call = 0; call < 5; call += 1) expect(credentialOf(late, 'a')).toBeUndefined()
    expect(tries).toBe(3)
    vault = vaults.right
    now += 10_000
    expect(credentialOf(late, 'a')).toBe('credential of a')
    expect(late.find(DEFAULT_ACCOUNT, 'a')).toBe(late.find(DEFAULT_ACCOUNT, 'a') as never)
    expect(tries).toBe(4)
  })
})
