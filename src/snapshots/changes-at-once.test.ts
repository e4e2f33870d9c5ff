/** Two nodes that change one thing before either has heard of the other: neither undoes the other. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { createPlans } from '../core/plan.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { WebhookRegistry } from '../webhooks/webhook-registry.ts'
import { GateRegistry } from './gate-registry.ts'
import { OwnedModelRegistry } from './owned-model-registry.ts'
import { loadPlainRegistries } from './plain-registry.ts'

const vault = createVault([new Secret('11'.repeat(32))])

async function startNode(store: Store) {
  const usage = new UsageLimits({ plans: createPlans(undefined, {}) })
  return {
    gates: await GateRegistry.load({ gates: store.gates }),
    ownedModels: await OwnedModelRegistry.load({ ownedModels: store.ownedModels, vault }),
    budgets: await BudgetRegistry.load({ budgets: store.budgets, usage }),
    webhooks: await WebhookRegistry.load({ webhooks: store.webhooks, vault }),
    plain: await loadPlainRegistries(store.plain),
  }
}

describe.each(databases)('on $name, two nodes change', (kind) => {
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

  const startBoth = () => Promise.all([startNode(store), startNode(store)])

  test('a gate: both changes are kept', async () => {
    const targets = [{ model: 'openai/gpt-5' }]
    const settings = { description: '', targets, timeoutMs: null, maxRetries: 2 }
    const first = await startNode(store)
    const { id } = await first.gates.create(DEFAULT_ACCOUNT, settings)
    const [here, there] = await startBoth()
    await Promise.all([
      here.gates.update(DEFAULT_ACCOUNT, id, { displayName: 'Here' }),
      there.gates.update(DEFAULT_ACCOUNT, id, { maxRetries: 5 }),
    ])
    const [kept] = await store.gates.loadAll()
    expect(kept).toMatchObject({ displayName: 'Here', maxRetries: 5 })
  })

  test('a budget: both changes are kept', async () => {
    const first = await startNode(store)
    const { id } = await first.budgets.create(DEFAULT_ACCOUNT, {
      name: 'b',
      scope: { type: 'gate', gateId: 'demo' as never },
      limit: { type: 'tokens', tokens: 10 },
      period: 'day',
      unpriced: 'refuse',
      alertAt: [],
    })
    const [here, there] = await startBoth()
    await Promise.all([
      here.budgets.update(DEFAULT_ACCOUNT, id, { name: 'here' }),
      there.budgets.update(DEFAULT_ACCOUNT, id, { alertAt: [0.5] }),
    ])
    const [kept] = await store.budgets.loadAll()
    expect(kept).toMatchObject({ name: 'here', alertAt: [0.5] })
  })

  test('a webhook: both changes are kept, and a new secret is', async () => {
    const first = await startNode(store)
    const { webhook } = await first.webhooks.create(DEFAULT_ACCOUNT, {
      url: 'https://hooks.example.com/a',
      events: ['budget.exhausted'],
      isActive: true,
    })
    const [here, there] = await startBoth()
    const secret = new Secret('a secret of sixteen')
    const [, answer] = await Promise.all([
      here.webhooks.update(DEFAULT_ACCOUNT, webhook.id, { secret, isActive: false }),
      there.webhooks.update(DEFAULT_ACCOUNT, webhook.id, { url: 'https://hooks.example.com/b' }),
    ])
    const [kept] = await store.webhooks.loadAll()
    expect(kept).toMatchObject({ isActive: false, url: 'https://hooks.example.com/b' })
    expect(kept && first.webhooks.openSecret(kept).reveal()).toBe(secret.reveal())
    expect(answer.url).toBe('https://hooks.example.com/b')
  })

  test('an owned model: both changes are kept, and a new credential is', async () => {
    const first = await startNode(store)
    const { slug } = await first.ownedModels.create(DEFAULT_ACCOUNT, {
      slug: 'mine',
      displayName: 'Mine',
      dialect: 'openai-chat',
      baseUrl: 'http://127.0.0.1:9/v1',
      upstreamModelId: 'm',
      credentialHeader: 'authorization',
      fimEndpoint: 'auto',
      fimTemplate: 'auto',
      pricingInput: 1,
      pricingOutput: 1,
      pricingCachedInput: 1,
      credential: undefined,
    })
    const [here, there] = await startBoth()
    await Promise.all([
      here.ownedModels.update(DEFAULT_ACCOUNT, slug, { credential: new Secret('new') }),
      there.ownedModels.update(DEFAULT_ACCOUNT, slug, { displayName: 'There' }),
    ])
    const again = await startNode(store)
    expect(again.ownedModels.show(DEFAULT_ACCOUNT, slug)).toMatchObject({
      displayName: 'There',
      hasCredential: true,
    })
    const credential = again.ownedModels.find(DEFAULT_ACCOUNT, slug)?.credential
    expect(credential?.secret?.reveal()).toBe('new')
  })

  test('a tag: both changes are kept', async () => {
    const first = await startNode(store)
    const { id } = await first.plain.tag.create(DEFAULT_ACCOUNT, {
      name: 'a',
      description: '',
      members: [],
    })
    const [here, there] = await startBoth()
    await Promise.all([
      here.plain.tag.update(DEFAULT_ACCOUNT, id, { name: 'here' }),
      there.plain.tag.update(DEFAULT_ACCOUNT, id, { description: 'There' }),
    ])
    const again = await startNode(store)
    expect(again.plain.tag.get(DEFAULT_ACCOUNT, id)).toMatchObject({
      name: 'here',
      description: 'There',
    })
  })
})
