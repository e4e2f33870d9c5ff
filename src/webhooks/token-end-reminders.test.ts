/** Reminders of ending tokens, on both stores: who is reminded, and that it is once. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { EXPIRES_SOON_MS, NO_RULES, type TokenRules } from '../core/access-token.ts'
import { type ApiKey, generateApiKey, hashApiKey } from '../core/api-key.ts'
import { type AccountId, createKeyId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { Webhook, WebhookEvent } from '../core/webhook.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { EventPublisher } from './gateway-events.ts'
import { TokenEndReminders } from './token-end-reminders.ts'

const DAY_MS = 86_400_000
const OTHER = 'acct_other' as AccountId

describe.each(databases)('on $name', (kind) => {
  let database: TestDatabase
  let clock: ScriptedClock
  const stores: Store[] = []
  beforeEach(async () => {
    database = await kind.create()
    clock = new ScriptedClock()
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
    await database.remove()
  })

  async function startNode(events: readonly WebhookEvent[] = ['token.expiring']) {
    const store = await openStore(database.location)
    stores.push(store)
    const hook = { accountId: DEFAULT_ACCOUNT, id: 'wh_1', isActive: true, events } as Webhook
    const listening = hook.events.includes('token.expiring')
    const failures: unknown[] = []
    const publisher = new EventPublisher({
      webhooks: { list: (accountId) => (accountId === DEFAULT_ACCOUNT ? [hook] : []) },
      queue: store.webhooks,
      onQueued: () => {},
      onDropped: (event) => failures.push(`dropped ${event}`),
    })
    const reminders = new TokenEndReminders({
      webhooks: { countListeners: () => new Map(listening ? [[DEFAULT_ACCOUNT, 1]] : []) },
      ...{ keys: store.keys, queue: store.webhooks, publisher, clock },
      onFailure: (error) => failures.push(error),
    })
    const told = async () => {
      expect(failures).toEqual([])
      const queued = await store.webhooks.listNext(2_000)
      return queued
        .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
        .toSorted((one, other) => String(one.data.name).localeCompare(String(other.data.name)))
    }
    return { store, reminders, told, failures }
  }

  const add = async (
    { keys }: Store,
    name: string,
    leftMs: number | null,
    given: Partial<ApiKey> = {},
  ) => {
    const key = generateApiKey('at-svc-').reveal()
    const record: ApiKey = {
      ...{ accountId: DEFAULT_ACCOUNT, id: createKeyId(), name, sha256: hashApiKey(key) },
      ...{ maskedPrefix: 'at-svc-ab12…', lastUsedAt: null, createdBy: 'operator', previous: null },
      createdAt: clock.now() - 30 * DAY_MS,
      expiresAt: leftMs === null ? null : clock.now() + leftMs,
      token: NO_RULES,
      ...given,
    }
    expect(await keys.insert(record)).toBe(true)
    return record
  }

  test('a token is announced within its last two weeks, and nothing else is', async () => {
    const { store, reminders, told } = await startNode()
    const owner = { type: 'member', id: 'user_jane' } as const
    const token: TokenRules = { ...NO_RULES, owner }
    const due = await add(store, 'due', EXPIRES_SOON_MS, { token })
    await add(store, 'last moment', 1)
    await add(store, 'later', EXPIRES_SOON_MS + 1)
    await add(store, 'over', 0)
    await add(store, 'endless', null)
    await add(store, 'a key', DAY_MS, { token: undefined })
    await add(store, 'of a job', DAY_MS - 1, { createdAt: clock.now() })
    await add(store, 'of a day', DAY_MS, { createdAt: clock.now() })
    await reminders.look()
    const events = await told()
    expect(events.map(({ data }) => data.name)).toEqual(['due', 'last moment', 'of a day'])
    expect(events[0]).toMatchObject({
      type: 'token.expiring',
      data: {
        ...{ keyId: due.id, name: 'due', maskedPrefix: 'at-svc-ab12…', owner },
        ...{ createdBy: 'operator', lastUsedAt: null },
        expiresAt: new Date(due.expiresAt ?? 0).toISOString(),
      },
    })
    expect(JSON.stringify(events)).not.toContain(due.sha256)
  })

  test('each end is announced once, by several nodes, after a restart, and again when it is moved', async () => {
    const nodes = [await startNode()]
    const [{ store, told }] = nodes as [(typeof nodes)[number]]
    // A file has one process.
    if (kind.name === 'Postgres') nodes.push(await startNode(), await startNode())
    const many = []
    for (let number = 0; number < 20; number += 1)
      many.push(await add(store, `token ${number}`, DAY_MS + number))
    await Promise.all(nodes.map(({ reminders }) => reminders.look()))
    expect(await told()).toHaveLength(20)
    const restarted = await startNode()
    await restarted.reminders.look()
    expect(await told()).toHaveLength(20)

    const [moved] = many
    const move = (expiresAt: number) =>
      store.keys.change(DEFAULT_ACCOUNT, moved?.id ?? createKeyId(), {
        action: 'key.update',
        change: (key) => ({ ...key, expiresAt }),
      })
    await move(clock.now() + 30 * DAY_MS)
    await restarted.reminders.look()
    expect(await told()).toHaveLength(20)
    clock.jump(17 * DAY_MS)
    await restarted.reminders.look()
    expect(await told()).toHaveLength(21)
  })

  test('a token that changed or was deleted before the event is queued is not announced', async () => {
    const { store } = await startNode()
    const { id: tokenId, expiresAt } = await add(store, 'changed', DAY_MS)
    const mark = { accountId: DEFAULT_ACCOUNT, tokenId, expiresAtMs: expiresAt ?? 0 }
    expect(await store.webhooks.enqueue([], { ...mark, expiresAtMs: 1 })).toBe(false)
    expect(await store.webhooks.enqueue([], { ...mark, accountId: OTHER })).toBe(false)
    expect(await store.webhooks.enqueue([], mark)).toBe(true)
    await store.keys.delete(DEFAULT_ACCOUNT, tokenId)
    expect(await store.webhooks.enqueue([], mark)).toBe(false)
  })

  test('without a webhook for the event nothing is marked, so a later webhook hears of it', async () => {
    const deaf = await startNode(['budget.threshold'])
    await add(deaf.store, 'due', DAY_MS)
    await deaf.reminders.look()
    expect(await deaf.told()).toEqual([])
    const hearing = await startNode()
    await hearing.reminders.look()
    expect(await hearing.told()).toHaveLength(1)
  })

  test('a full queue delays the event, and a failing store is reported and tried again', async () => {
    const { store, reminders, told, failures } = await startNode()
    await add(store, 'due', 2 * DAY_MS)
    const filler = Array.from({ length: 1_000 }, (_, number) => ({
      ...{
        id: `evt_${number}`,
        accountId: DEFAULT_ACCOUNT,
        webhookId: 'wh_1',
        event: 'webhook.test',
      },
      ...{ body: '{"type":"webhook.test","data":{}}', attempts: 0, nextAttemptAt: 1, createdAt: 1 },
    }))
    await store.webhooks.enqueue(filler)
    await reminders.look()
    expect(await told()).toHaveLength(1_000)
    for (const delivery of filler) await store.webhooks.removeDelivery(delivery)
    const listEnding = store.keys.listEnding
    store.keys.listEnding = () => Promise.reject(new Error('the store is away'))
    await reminders.look()
    expect(failures.splice(0).map(String)).toEqual(['Error: the store is away'])
    store.keys.listEnding = listEnding
    reminders.start()
    await clock.advance(0)
    await reminders.close()
    expect((await told()).map(({ data }) => data.name)).toEqual(['due'])
    expect(clock.pending).toBe(0)
  })
})
