/**
 * A rotation goes through every sealed row, loses none when it is stopped, and undoes nothing that
 * others wrote.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { ownedModelBinding } from '../core/owned-model.ts'
import { providerKeyBinding } from '../core/provider-key.ts'
import { Secret } from '../core/secret.ts'
import { createVault, type Vault } from '../core/vault.ts'
import { secretBinding } from '../core/webhook.ts'
import { ENCRYPTED_COLUMNS } from './encrypted-columns.ts'
import { openStore, type Store } from './open-store.ts'
import { SealedRows } from './sealed-rows.ts'

const OLD = new Secret('01'.repeat(32))
const NEW = new Secret('02'.repeat(32))
const old = createVault([OLD])
const both = createVault([NEW, OLD])
/** A page has 200 rows. Each is saved by itself. */
const MORE_THAN_A_PAGE = 210

const OWNED_MODEL = {
  accountId: DEFAULT_ACCOUNT,
  displayName: '',
  dialect: 'openai-chat',
  baseUrl: 'https://models.vendor.com/v1',
  upstreamModelId: 'm',
  credentialHeader: 'auto',
  hasCredential: true,
  fimEndpoint: 'auto',
  fimTemplate: 'auto',
  probe: null,
  pricingInput: 1,
  pricingOutput: 1,
  pricingCachedInput: 1,
  credentialSetAt: 1,
  createdAt: 1,
  updatedAt: 1,
} as const

let folder: string
let store: Store
let rows: SealedRows
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-sealed-rows-'))
    database = await kind.create()
    store = await openStore(database.location)
    const opened = await SealedRows.open(database.location)
    if (opened === undefined) throw new Error('there is a database')
    rows = opened
  })
  afterEach(async () => {
    await rows.close()
    await store.close()
    await database.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  function save(vault: Vault, providerId: string, secret: string): Promise<void> {
    const key = { accountId: DEFAULT_ACCOUNT, providerId, maskedKey: '…', isActive: true }
    const sealed = vault.encrypt(
      new Secret(secret),
      providerKeyBinding(DEFAULT_ACCOUNT, providerId),
    )
    return store.providerKeys.save({
      sealed,
      key: { ...key, createdAt: 1, updatedAt: 1, lastUsedAt: null },
    })
  }

  async function readAll(vault: Vault): Promise<Record<string, string>> {
    const found = await store.providerKeys.loadAll()
    return Object.fromEntries(
      found.map(({ key, sealed }) => [
        key.providerId,
        vault.decrypt(sealed, providerKeyBinding(key.accountId, key.providerId)).reveal(),
      ]),
    )
  }

  async function counts(vault: Vault | undefined) {
    const ofProviderKeys = (await rows.tally(vault)).filter(
      ({ table }) => table === 'provider_keys',
    )
    return ofProviderKeys.map(({ current, previous, unopened }) => [current, previous, unopened])
  }

  test('all rows are sealed again, over more than a page, and the old key is no longer needed', async () => {
    const secrets = Object.fromEntries(
      Array.from({ length: MORE_THAN_A_PAGE }, (_, n) => [`p${n}`, `secret ${n}`]),
    )
    for (const [providerId, secret] of Object.entries(secrets)) await save(old, providerId, secret)
    expect(await counts(both)).toEqual([[0, MORE_THAN_A_PAGE, 0]])
    expect(await rows.reseal(both)).toBe(MORE_THAN_A_PAGE)
    expect(await counts(both)).toEqual([[MORE_THAN_A_PAGE, 0, 0]])
    expect(await readAll(createVault([NEW]))).toEqual(secrets)
    expect(await rows.reseal(both)).toBe(0)
  })

  test("webhooks' secrets are sealed again too, each bound to its row", async () => {
    const binding = (id: string) => secretBinding({ accountId: DEFAULT_ACCOUNT, id })
    const webhook = {
      accountId: DEFAULT_ACCOUNT,
      url: 'https://a.test',
      events: [],
      isActive: true,
    }
    for (const id of ['wh_1', 'wh_2', 'wh_3']) {
      const sealedSecret = old.encrypt(new Secret(`secret of ${id}`), binding(id))
      await store.webhooks.insert({ ...webhook, id, sealedSecret, createdAt: 1, updatedAt: 1 })
    }
    await save(old, 'openai', 'a key')
    const tallyOf = async () =>
      (await rows.tally(both))
        .filter(({ current, previous }) => current + previous > 0)
        .map(({ table, current, previous }) => [table, current, previous])
    expect(await tallyOf()).toEqual([
      ['provider_keys', 0, 1],
      ['webhooks', 0, 3],
    ])
    expect(await rows.reseal(both)).toBe(4)
    expect(await tallyOf()).toEqual([
      ['provider_keys', 1, 0],
      ['webhooks', 3, 0],
    ])
    const onlyNew = createVault([NEW])
    for (const { id, sealedSecret } of await store.webhooks.loadAll())
      expect(onlyNew.decrypt(sealedSecret, binding(id)).reveal()).toBe(`secret of ${id}`)
  })

  test('credentials of owned models are sealed again too', async () => {
    for (const slug of ['a', 'b']) {
      const binding = ownedModelBinding(DEFAULT_ACCOUNT, slug)
      const sealedCredential = old.encrypt(new Secret(`credential of ${slug}`), binding)
      await store.ownedModels.insert({ model: { ...OWNED_MODEL, slug }, sealedCredential })
    }
    await save(old, 'openai', 'a key')
    expect(await rows.reseal(both)).toBe(3)
    expect(await rows.tally(both)).toMatchObject([
      { table: 'provider_keys', current: 1, previous: 0, unopened: 0 },
      { table: 'webhooks', current: 0 },
      { table: 'owned_models', current: 2, previous: 0, unopened: 0 },
      { table: 'attribution', current: 0 },
    ])
    const vault = createVault([NEW])
    const found = await store.ownedModels.loadAll()
    const opened = found.map(({ model: { accountId, slug }, sealedCredential }) =>
      vault.decrypt(sealedCredential, ownedModelBinding(accountId, slug)).reveal(),
    )
    expect(opened.sort()).toEqual(['credential of a', 'credential of b'])
  })

  test('a stop after any number of rows loses nothing, and a new run finishes', async () => {
    for (let stopAfter = 1; stopAfter <= 5; stopAfter += 1) {
      const secrets = Object.fromEntries(
        Array.from({ length: 5 }, (_, n) => [`p${n}`, `secret ${n}`]),
      )
      for (const [providerId, secret] of Object.entries(secrets))
        await save(old, providerId, secret)
      let done = 0
      const stopped = rows
        .reseal(both, () => {
          done += 1
          if (done === stopAfter) throw new Error('killed')
        })
        .catch((error: unknown) => error)
      expect(String(await stopped)).toBe('Error: killed')
      expect(await counts(both)).toEqual([[stopAfter, 5 - stopAfter, 0]])
      expect(await readAll(both)).toEqual(secrets)
      expect(await rows.reseal(both)).toBe(5 - stopAfter)
      expect(await readAll(createVault([NEW]))).toEqual(secrets)
    }
  })

  test('rows replaced, deleted or deactivated during a run stay so', async () => {
    for (const providerId of ['a', 'b', 'c', 'd']) await save(old, providerId, providerId)
    let done = 0
    await rows.reseal(both, async () => {
      done += 1
      if (done > 1) return
      const replacement = both.encrypt(
        new Secret('replaced'),
        providerKeyBinding(DEFAULT_ACCOUNT, 'b'),
      )
      await database.run(
        `update provider_keys set sealed_key = '${replacement}' where provider = 'b'`,
      )
      await database.run("delete from provider_keys where provider = 'c'")
      await database.run("update provider_keys set active = 0 where provider = 'd'")
    })
    expect(await readAll(both)).toEqual({ a: 'a', b: 'replaced', d: 'd' })
    const states = (await store.providerKeys.loadAll()).map(({ key }) => [
      key.providerId,
      key.isActive,
    ])
    expect(Object.fromEntries(states)).toEqual({ a: true, b: true, d: false })
  })

  test('rows that cannot be opened are counted and left unchanged', async () => {
    await save(old, 'a', 'a')
    await save(old, 'b', 'b')
    await save(createVault([new Secret('03'.repeat(32))]), 'c', 'c')
    await database.run("update provider_keys set provider = 'moved' where provider = 'b'")
    await database.run(
      "insert into provider_keys select account_id, 'damaged', 'nonsense', masked_key, 1, 1, 1, null from provider_keys limit 1",
    )
    expect(await counts(both)).toEqual([[0, 1, 3]])
    expect(await rows.reseal(both)).toBe(1)
    expect(await counts(both)).toEqual([[1, 0, 3]])
    expect(await counts(undefined)).toEqual([[0, 0, 4]])
  })

  test('a folder without a database has no rows, and stays without one', async () => {
    expect(await SealedRows.open({ path: join(folder, 'nothing.db') })).toBeUndefined()
    expect(await Bun.file(join(folder, 'nothing.db')).exists()).toBeFalse()
  })

  test('every column with a name that says "sealed" or "encrypted" is in the list', async () => {
    const listed = ENCRYPTED_COLUMNS.map(({ table, column }) => `${table}.${column}`)
    const tables = await store.database.introspection.getTables()
    const found = tables.flatMap(({ name, columns }) =>
      columns.map((column) => `${name}.${column.name}`),
    )
    expect(found.filter((name) => /sealed|encrypted/.test(name)).sort()).toEqual(listed.sort())
  })
})
