/** The changes that a node takes over from another, and its own state that it keeps. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { NO_RULES } from '../core/access-token.ts'
import { generateApiKey, hashApiKey } from '../core/api-key.ts'
import type { Budget } from '../core/budget.ts'
import { type AccountId, DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import type { ModelPrice } from '../core/model-price.ts'
import { createPlans } from '../core/plan.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { GateRegistry } from '../snapshots/gate-registry.ts'
import { KeyRegistry } from '../snapshots/key-registry.ts'
import { ModelPriceRegistry } from '../snapshots/model-price-registry.ts'
import { OwnedModelRegistry } from '../snapshots/owned-model-registry.ts'
import { ProviderKeyRegistry } from '../snapshots/provider-key-registry.ts'
import { StopRegistry } from '../snapshots/stop-registry.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { SealedRows } from '../store/sealed-rows.ts'
import { WebhookRegistry } from '../webhooks/webhook-registry.ts'

setDefaultTimeout(60_000)

const OLD_KEY = new Secret('11'.repeat(32))
const NEW_KEY = new Secret('22'.repeat(32))
const vault = createVault([NEW_KEY, OLD_KEY])
const oldVault = createVault([OLD_KEY])
const limits = { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentCalls: 5 }

async function startNode(store: Store, sealing = vault) {
  const changed: string[] = []
  const repriced: string[] = []
  const usage = new UsageLimits({ plans: createPlans(undefined, {}) })
  const stops: StopRegistry = await StopRegistry.load({
    stops: store.stops,
    onChanged: (accountId, id) => keys.renewStops(accountId, id),
  })
  const keys = await KeyRegistry.load({ keys: store.keys, stops, limitsOf: () => limits })
  return {
    changed,
    repriced,
    usage,
    keys,
    stops,
    gates: await GateRegistry.load({ gates: store.gates }),
    ownedModels: await OwnedModelRegistry.load({
      ownedModels: store.ownedModels,
      vault: sealing,
      onChanged: (_, slug) => changed.push(slug),
    }),
    providerKeys: await ProviderKeyRegistry.load({
      keys: store.providerKeys,
      vault: sealing,
      platform: new Map(),
      onChanged: (_, provider) => changed.push(provider),
    }),
    budgets: await BudgetRegistry.load({ budgets: store.budgets, usage }),
    webhooks: await WebhookRegistry.load({ webhooks: store.webhooks, vault: sealing }),
    modelPrices: await ModelPriceRegistry.load({
      prices: store.modelPrices,
      onChanged: () => repriced.push('prices'),
    }),
  }
}

type Node = Awaited<ReturnType<typeof startNode>>

describe.each(databases)('on $name', (kind) => {
  let created: TestDatabase
  let store: Store
  let here: Node
  let there: Node

  beforeEach(async () => {
    created = await kind.create()
    store = await openStore(created.location)
    here = await startNode(store)
    there = await startNode(store)
  })
  afterEach(async () => {
    for (const node of [here, there]) {
      await node.keys.close()
      await node.providerKeys.close()
    }
    await store.close()
    await created.remove()
  })

  describe('a stop', () => {
    const id = 'key_stopped'
    const name = { accountId: DEFAULT_ACCOUNT, id }

    test('that cannot be read holds without its reason, and ends without the store', () => {
      here.stops.followBlindly(DEFAULT_ACCOUNT, id)
      expect(here.stops.find(DEFAULT_ACCOUNT, id)).toMatchObject({ id, reason: null })
      here.stops.forget(DEFAULT_ACCOUNT, id)
      expect(here.stops.find(DEFAULT_ACCOUNT, id)).toBeUndefined()
    })

    test('that a restored store lacks lasts until it is lifted', async () => {
      here.stops.followBlindly(DEFAULT_ACCOUNT, id)
      await here.stops.followAll(true)
      expect(here.stops.find(DEFAULT_ACCOUNT, id)).toBeDefined()
      await here.stops.lift(name)
      expect(here.stops.find(DEFAULT_ACCOUNT, id)).toBeUndefined()
    })

    test('of a token that is not there, of a key, and of another account is none', async () => {
      const { record } = await here.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'a key' })
      const label = { accountId: DEFAULT_ACCOUNT, name: 'ci', token: NO_RULES }
      const token = (await here.keys.create(label)).record.id
      const other = 'acct_other' as AccountId
      for (const stopped of [
        name,
        { accountId: DEFAULT_ACCOUNT, id: record.id },
        { accountId: other, id: token },
        { accountId: DEFAULT_ACCOUNT, id: 'user_none' },
      ])
        expect(await here.stops.stop(stopped, null)).toBeUndefined()
      expect(await store.stops.loadAll()).toEqual([])
    })
  })

  /** Thing by thing, or all anew: it makes no difference. */
  describe.each(['follow', 'followAll'] as const)('by %s', (way) => {
    type Registry =
      | Node['keys' | 'stops' | 'gates' | 'ownedModels' | 'providerKeys' | 'budgets']
      | WebhookRegistry
      | ModelPriceRegistry
    const follow = (registry: Registry, id: string) =>
      way === 'follow'
        ? registry.follow([{ accountId: DEFAULT_ACCOUNT, id: id }])
        : registry.followAll()

    test('a key created there is accepted here, a deleted one is not, and its last use here stays known', async () => {
      const own = generateApiKey()
      here.keys.addEphemeral(own, { accountId: DEFAULT_ACCOUNT, name: 'of this process' })
      const label = { accountId: DEFAULT_ACCOUNT, name: 'made there' }
      const [first, second] = [await there.keys.create(label), await there.keys.create(label)]
      for (const { record } of [first, second]) await follow(here.keys, record.id)
      const find = (key: Secret) => here.keys.find(hashApiKey(key.reveal()))?.keyId
      expect([find(first.key), find(second.key)]).toEqual([first.record.id, second.record.id])
      here.keys.touch(second.record.id, 5_000)
      await there.keys.delete(DEFAULT_ACCOUNT, first.record.id)
      for (const { record } of [first, second]) await follow(here.keys, record.id)
      expect([find(first.key), find(second.key)]).toEqual([undefined, second.record.id])
      expect(here.keys.list(DEFAULT_ACCOUNT)).toMatchObject([
        { id: second.record.id, lastUsedAt: 5_000 },
      ])
      expect(find(own)).toBeDefined()
      await here.keys.flush()
      expect(
        await store.keys.findSome([{ accountId: DEFAULT_ACCOUNT, id: second.record.id }]),
      ).toMatchObject([{ lastUsedAt: 5_000 }])
    })

    test('the latest use of a key renamed there stays known, whichever node saw it', async () => {
      const { record } = await there.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'before' })
      await follow(here.keys, record.id)
      there.keys.touch(record.id, 3_000)
      await there.keys.flush()
      const lastUse = () => here.keys.list(DEFAULT_ACCOUNT)[0]?.lastUsedAt
      for (const [used, name, shown] of [
        [5_000, 'used here last', 5_000],
        [undefined, 'again', 5_000],
        [9_000, 'and again', 9_000],
      ] as const) {
        if (used !== undefined) here.keys.touch(record.id, used)
        await there.keys.update(DEFAULT_ACCOUNT, record.id, { name })
        await follow(here.keys, record.id)
        expect(here.keys.list(DEFAULT_ACCOUNT)).toMatchObject([{ name }])
        expect(lastUse()).toBe(shown)
      }
      there.keys.touch(record.id, 20_000)
      await there.keys.flush()
      await there.keys.update(DEFAULT_ACCOUNT, record.id, { name: 'used there last' })
      await follow(here.keys, record.id)
      expect(lastUse()).toBe(20_000)
    })

    test('a key deleted here while it is followed does not come back', async () => {
      const { record, key } = await there.keys.create({
        accountId: DEFAULT_ACCOUNT,
        name: 'short-lived',
      })
      await Promise.all([
        follow(here.keys, record.id),
        here.keys.delete(DEFAULT_ACCOUNT, record.id),
      ])
      expect(here.keys.find(hashApiKey(key.reveal()))).toBeUndefined()
    })

    test('a price that is stored, replaced or deleted there is so here', async () => {
      const id = 'openai/gpt-9-new'
      const name = { accountId: DEFAULT_ACCOUNT, id }
      const prices = [{ input: 3, output: 9 }]
      for (const given of [{ prices }, { like: 'openai/gpt-5' }]) {
        await there.modelPrices.set(name, given)
        here.repriced.length = 0
        await follow(here.modelPrices, id)
        expect(here.modelPrices.entries()).toEqual([{ model: id, ...given }])
        expect(here.repriced).toEqual(['prices'])
      }
      const stored = here.modelPrices.find(DEFAULT_ACCOUNT, id)
      expect(await store.modelPrices.loadAll()).toEqual([stored as ModelPrice])
      await there.modelPrices.delete(name)
      await follow(here.modelPrices, id)
      expect(here.modelPrices.entries()).toEqual([])
      const rows = await store.auditLog.list(DEFAULT_ACCOUNT, { resourceId: id }, { limit: 9 })
      expect(rows.map(({ action }) => action)).toEqual([
        'model-price.delete',
        'model-price.update',
        'model-price.create',
      ])
    })

    test('a token that is stopped there is stopped here, until the stop is lifted', async () => {
      const token = { ...NO_RULES, owner: { type: 'member', id: 'user_1' } } as const
      const label = { accountId: DEFAULT_ACCOUNT, name: 'ci', token }
      const { record, key } = await here.keys.create(label)
      const name = { accountId: DEFAULT_ACCOUNT, id: record.id }
      const stop = () => here.keys.find(hashApiKey(key.reveal()))?.stop
      expect(stop()).toBeUndefined()
      for (const reason of ['first', 'second', null]) {
        const made = await there.stops.stop(name, reason)
        await follow(here.stops, record.id)
        expect(made).toMatchObject({ reason })
        expect(stop()).toEqual(made)
      }
      await there.stops.lift(name)
      await follow(here.stops, record.id)
      expect(stop()).toBeUndefined()
    })

    test('a gate created, changed and deleted there is the same here', async () => {
      const made = await there.gates.create(DEFAULT_ACCOUNT, {
        targets: [{ model: 'openai/gpt-5' }],
        description: '',
        timeoutMs: null,
        maxRetries: 0,
      })
      await follow(here.gates, made.id)
      expect(here.gates.find(DEFAULT_ACCOUNT, made.id)).toEqual(made)
      const changed = await there.gates.update(DEFAULT_ACCOUNT, made.id, { timeoutMs: 5 })
      await follow(here.gates, made.id)
      expect(here.gates.find(DEFAULT_ACCOUNT, made.id)).toEqual(changed)
      await there.gates.delete(DEFAULT_ACCOUNT, made.id)
      await follow(here.gates, made.id)
      expect(here.gates.find(DEFAULT_ACCOUNT, made.id)).toBeUndefined()
    })

    test('a provider key set there is used here, and an unchanged one stays the same object', async () => {
      const set = (text: string, isActive = true) =>
        there.providerKeys.set({
          accountId: DEFAULT_ACCOUNT,
          providerId: 'openai',
          secret: new Secret(text),
          isActive,
        })
      const find = () => here.providerKeys.find(DEFAULT_ACCOUNT, 'openai')
      await set('first')
      await follow(here.providerKeys, 'openai')
      const first = find()
      expect(first?.secret.reveal()).toBe('first')
      await follow(here.providerKeys, 'openai')
      expect(find()).toBe(first as NonNullable<typeof first>)
      expect(here.changed).toEqual(['openai'])
      await Bun.sleep(2)
      await set('second')
      await follow(here.providerKeys, 'openai')
      expect(find()?.secret.reveal()).toBe('second')
      await there.providerKeys.setActive(DEFAULT_ACCOUNT, 'openai', false)
      await follow(here.providerKeys, 'openai')
      expect(find()).toBeUndefined()
      await there.providerKeys.delete(DEFAULT_ACCOUNT, 'openai')
      await follow(here.providerKeys, 'openai')
      expect(here.providerKeys.list(DEFAULT_ACCOUNT)).toEqual([])
      expect(here.changed).toEqual(['openai', 'openai', 'openai', 'openai'])
    })

    test('an owned model set there is used here, and an unchanged one stays the same object', async () => {
      const found = () => here.ownedModels.find(DEFAULT_ACCOUNT, 'own')
      await there.ownedModels.create(DEFAULT_ACCOUNT, { ...OWNED, credential: new Secret('first') })
      await follow(here.ownedModels, 'own')
      const first = found()
      expect(first?.credential?.secret?.reveal()).toBe('first')
      await follow(here.ownedModels, 'own')
      expect(found()).toBe(first as NonNullable<typeof first>)
      await there.ownedModels.update(DEFAULT_ACCOUNT, 'own', { upstreamModelId: 'newer' })
      await follow(here.ownedModels, 'own')
      expect(found()?.model).toBe('newer')
      expect(found()?.credential).toBe(first?.credential as NonNullable<typeof first>['credential'])
      await there.ownedModels.update(DEFAULT_ACCOUNT, 'own', { credential: new Secret('second') })
      await follow(here.ownedModels, 'own')
      expect(found()?.credential?.secret?.reveal()).toBe('second')
      expect(here.changed).toEqual(['own', 'own'])
      await there.ownedModels.update(DEFAULT_ACCOUNT, 'own', { credential: null })
      await follow(here.ownedModels, 'own')
      expect(found()?.credential).toEqual({ secret: undefined, owner: 'account' })
      const removed = found()
      await follow(here.ownedModels, 'own')
      expect(found()).toBe(removed as NonNullable<typeof removed>)
      expect(here.changed).toEqual(['own', 'own', 'own'])
      await there.ownedModels.delete(DEFAULT_ACCOUNT, 'own', () => {})
      await follow(here.ownedModels, 'own')
      expect(found()).toBeUndefined()
    })

    test('a credential sealed again under another master key is unchanged, and stays the same object', async () => {
      const old = await startNode(store, oldVault)
      await old.providerKeys.set({
        accountId: DEFAULT_ACCOUNT,
        providerId: 'openai',
        secret: new Secret('key'),
        isActive: true,
      })
      await old.ownedModels.create(DEFAULT_ACCOUNT, {
        ...OWNED,
        credential: new Secret('credential'),
      })
      await old.keys.close()
      await old.providerKeys.close()
      await here.providerKeys.followAll()
      await here.ownedModels.followAll()
      const before = [
        here.providerKeys.find(DEFAULT_ACCOUNT, 'openai'),
        here.ownedModels.find(DEFAULT_ACCOUNT, 'own'),
      ]
      const rows = await SealedRows.open(created.location)
      expect(await rows?.reseal(vault)).toBe(2)
      await rows?.close()
      here.changed.length = 0
      await follow(here.providerKeys, 'openai')
      await follow(here.ownedModels, 'own')
      const after = [
        here.providerKeys.find(DEFAULT_ACCOUNT, 'openai'),
        here.ownedModels.find(DEFAULT_ACCOUNT, 'own'),
      ]
      expect(after[0] === before[0] && after[1] === before[1]).toBe(true)
      expect(here.changed).toEqual([])
    })

    test('a budget created there counts here, and keeps its count when its limit changes', async () => {
      const budget = await there.budgets.create(DEFAULT_ACCOUNT, {
        name: 'team',
        scope: { type: 'key', keyId: 'key_1' as KeyId },
        period: 'month',
        unpriced: 'refuse',
        limit: { type: 'tokens', tokens: 100 },
        alertAt: [],
      } satisfies Omit<Budget, 'accountId' | 'id' | 'createdAt' | 'updatedAt'>)
      await follow(here.budgets, budget.id)
      const past = { tokens: 40, nanoUsd: 0, unpricedCalls: 0 }
      here.usage.addPastBudgetUsage(budget.id, budget.createdAt, past)
      await there.budgets.update(DEFAULT_ACCOUNT, budget.id, {
        limit: { type: 'tokens', tokens: 50 },
      })
      await follow(here.budgets, budget.id)
      expect(here.budgets.get(DEFAULT_ACCOUNT, budget.id).limit).toEqual({
        type: 'tokens',
        tokens: 50,
      })
      expect(here.usage.budgetWindow(budget.id, budget.createdAt)?.tokens).toBe(40)
      await there.budgets.delete(DEFAULT_ACCOUNT, budget.id)
      await follow(here.budgets, budget.id)
      expect(here.budgets.all()).toEqual([])
      expect(here.usage.budgetWindow(budget.id, budget.createdAt)).toBeUndefined()
    })

    test('a webhook created, changed or deleted there is the same here', async () => {
      const { webhook } = await there.webhooks.create(DEFAULT_ACCOUNT, {
        url: 'https://hooks.example/',
        events: [],
        isActive: true,
      })
      await follow(here.webhooks, webhook.id)
      expect(here.webhooks.list(DEFAULT_ACCOUNT)).toEqual([webhook])
      const changed = await there.webhooks.update(DEFAULT_ACCOUNT, webhook.id, { isActive: false })
      await follow(here.webhooks, webhook.id)
      expect(here.webhooks.list(DEFAULT_ACCOUNT)).toEqual([changed])
      await there.webhooks.delete(DEFAULT_ACCOUNT, webhook.id)
      await follow(here.webhooks, webhook.id)
      expect(here.webhooks.list(DEFAULT_ACCOUNT)).toEqual([])
    })
  })
})

const OWNED = {
  slug: 'own',
  displayName: 'Own',
  dialect: 'openai-chat' as const,
  baseUrl: 'https://models.example/v1',
  upstreamModelId: 'model',
  credentialHeader: 'auto' as const,
  fimEndpoint: 'auto' as const,
  fimTemplate: 'auto' as const,
  pricingInput: 1,
  pricingOutput: 2,
  pricingCachedInput: 0,
}
