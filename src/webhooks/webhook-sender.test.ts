/**
 * Deliveries reach a real HTTP server: signed, at least once, across restarts, and no further than
 * they may.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import OpenAI from 'openai'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import { secretBinding, type WebhookEvent } from '../core/webhook.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { EventPublisher, type PublishedEvent } from './gateway-events.ts'
import { WebhookRegistry } from './webhook-registry.ts'
import {
  type AddressPolicy,
  createRetrySchedule,
  type SenderEvent,
  WebhookSender,
} from './webhook-sender.ts'

const anywhere: AddressPolicy = {
  check: async () => undefined,
  locate: async (url) => ({ url, host: undefined, serverName: undefined }),
}
const nowhere: AddressPolicy = {
  check: () => Promise.reject(refusal),
  locate: () => Promise.reject(refusal),
}
const refusal = Object.assign(new Error('must be a public address'), {
  name: 'AddressRefusedError',
})

const SECRET = 'a-secret-of-enough-length'
const vault = createVault([new Secret('00'.repeat(32))])

interface Received {
  readonly headers: Headers
  readonly body: string
}

let store: Store
let answers: (() => Response | Promise<Response>)[]
let received: Received[]
let server: ReturnType<typeof startReceiver>
let open: { close(): Promise<void> }[]

function startReceiver() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      received.push({ headers: request.headers, body: await request.text() })
      return (await answers.shift()?.()) ?? new Response('thanks')
    },
  })
}
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    answers = []
    received = []
    open = []
    server = startReceiver()
  })
  afterEach(async () => {
    for (const each of open) await each.close()
    await server.stop(true)
    await store.close()
    await database.remove()
  })

  async function start(options: { readonly firstRetryMs?: number } = {}) {
    const reports: SenderEvent[] = []
    const dropped: string[] = []
    const webhooks = await WebhookRegistry.load({ webhooks: store.webhooks, vault })
    const sender = new WebhookSender({
      queue: store.webhooks,
      webhooks,
      addresses: anywhere,
      report: (event) => reports.push(event),
      schedule: createRetrySchedule({ firstRetryMs: options.firstRetryMs ?? 1, random: () => 0.5 }),
    })
    const publisher = new EventPublisher({
      webhooks,
      queue: store.webhooks,
      onQueued: () => sender.wake(),
      onDropped: (event, reason) => dropped.push(`${event}: ${reason}`),
    })
    sender.wake()
    const close = async () => {
      await publisher.close()
      await sender.stop()
    }
    open.push({ close })
    return { webhooks, sender, publisher, reports, dropped, close }
  }

  async function createWebhook(
    webhooks: WebhookRegistry,
    {
      events = ['budget.threshold'],
      accountId = DEFAULT_ACCOUNT,
      secret = SECRET,
    }: {
      readonly events?: readonly WebhookEvent[]
      readonly accountId?: AccountId
      readonly secret?: string
    } = {},
  ) {
    const url = `http://127.0.0.1:${server.port}/hook`
    const wanted = { url, secret: new Secret(secret), events, isActive: true }
    return (await webhooks.create(accountId, wanted)).webhook
  }

  function eventOf(changes: Partial<PublishedEvent> = {}): PublishedEvent {
    return {
      accountId: DEFAULT_ACCOUNT,
      type: 'budget.threshold',
      data: { budgetId: 'bud_1' },
      ...changes,
    }
  }

  async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
    for (let tried = 0; tried < 2000; tried += 1) {
      if (await isDone()) return
      await Bun.sleep(5)
    }
    throw new Error('it did not come about')
  }

  /** The queue as it is after the time until the next attempt. */
  const makeDue = () => database.run('UPDATE webhook_deliveries SET next_attempt_at = 0')
  const hasFailedOnce = async () => (await store.webhooks.listNext(1))[0]?.attempts === 1

  const queueIsEmpty = async () => (await store.webhooks.listNext(1)).length === 0

  test('a delivery carries its event, an id and a signature that its receiver can check', async () => {
    const { webhooks, publisher } = await start()
    await createWebhook(webhooks)
    publisher.publish(eventOf())
    await until(() => received.length === 1)
    const [{ headers, body } = { headers: new Headers(), body: '' }] = received
    const [, seconds, mac] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers.get('x-gatehouse-signature') ?? '') ?? []
    expect(mac).toBe(createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex'))
    expect(headers.get('x-gatehouse-event')).toBe('budget.threshold')
    expect(headers.get('x-gatehouse-delivery')).toMatch(/^evt_[0-9a-f]{32}$/)
    expect(headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(body)).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'budget.threshold',
      createdAt: expect.stringMatching(/Z$/),
      data: { budgetId: 'bud_1' },
    })
    await until(queueIsEmpty)
  })

  test.each([
    ['as the gateway makes them', `whsec_${'5a'.repeat(32)}`],
    ['of base64 after `whsec_`', `whsec_${Buffer.from('another secret: ÿþ').toString('base64')}`],
    ['of any other text', SECRET],
  ])(
    "a delivery passes a Standard Webhooks library's check with a secret %s",
    async (_, secret) => {
      const { webhooks, publisher } = await start()
      await createWebhook(webhooks, { secret })
      publisher.publish(eventOf())
      await until(() => received.length === 1)
      const [{ headers, body } = { headers: new Headers(), body: '' }] = received
      expect(headers.get('webhook-id')).toBe(headers.get('x-gatehouse-delivery'))
      const library = new OpenAI({ apiKey: 'unused' }).webhooks
      await library.verifySignature(body, headers, secret)
      await expect(library.verifySignature(`${body} `, headers, secret)).rejects.toThrow(
        'signature',
      )
    },
  )

  test('a secret of `whsec_` and no base64 signs as the text that it is, and not as nothing', async () => {
    const { webhooks, publisher } = await start()
    const secret = `whsec_${'!'.repeat(16)}`
    await createWebhook(webhooks, { secret })
    publisher.publish(eventOf())
    await until(() => received.length === 1)
    const [{ headers, body } = { headers: new Headers(), body: '' }] = received
    const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
    const mac = createHmac('sha256', secret).update(signed).digest('base64')
    expect(headers.get('webhook-signature')).toBe(`v1,${mac}`)
  })

  test("an event goes only to the account's active webhooks that want it", async () => {
    const { webhooks, publisher } = await start()
    await createWebhook(webhooks)
    await createWebhook(webhooks)
    await createWebhook(webhooks, { events: ['provider.degraded'] })
    await createWebhook(webhooks, { accountId: 'acct_stranger' as AccountId })
    const { id } = await createWebhook(webhooks)
    await webhooks.update(DEFAULT_ACCOUNT, id, { isActive: false })
    publisher.publish(eventOf())
    await until(async () => received.length === 2 && (await queueIsEmpty()))
    const ids = received.map(({ body }) => (JSON.parse(body) as { id: string }).id)
    expect(ids[0]).toBe(ids[1] ?? '')
    const deliveries = received.map(({ headers }) => headers.get('x-gatehouse-delivery'))
    expect(new Set(deliveries).size).toBe(2)
  })

  test('a failed delivery is sent again, the same to the byte, until it is accepted', async () => {
    const { webhooks, publisher } = await start()
    await createWebhook(webhooks)
    answers = [
      () => new Response(null, { status: 500 }),
      () => new Response(null, { status: 404 }),
      () => Response.redirect('http://127.0.0.1:1/elsewhere', 307),
    ]
    publisher.publish(eventOf())
    await until(async () => received.length === 4 && (await queueIsEmpty()))
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(received.map(({ headers }) => headers.get('x-gatehouse-delivery'))).size).toBe(1)
  })

  test('a delivery that a fast clock put off for a year is sent now, even behind one that has to wait', async () => {
    answers = [() => new Response(null, { status: 500 }), () => new Response(null, { status: 500 })]
    const { webhooks, publisher, sender } = await start({ firstRetryMs: 3_600_000 })
    await createWebhook(webhooks)
    await createWebhook(webhooks)
    publisher.publish(eventOf())
    await until(
      async () =>
        (await store.webhooks.listNext(2)).filter(({ attempts }) => attempts === 1).length === 2,
    )
    const [, last] = await store.webhooks.listNext(2)
    await database.run(
      `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at + 31536000000 WHERE id = '${last?.id}'`,
    )
    sender.wake()
    await until(
      async () => received.length === 3 && (await store.webhooks.listNext(2)).length === 1,
    )
  })

  test('a delivery is given up after eight repetitions, and that is reported', async () => {
    const { webhooks, publisher, reports } = await start({ firstRetryMs: 0.01 })
    const { id } = await createWebhook(webhooks)
    answers = Array.from({ length: 20 }, () => () => new Response('no', { status: 503 }))
    publisher.publish(eventOf())
    await until(queueIsEmptyAfter(9))
    expect(received).toHaveLength(9)
    expect(reports).toEqual([
      { type: 'given-up', webhookId: id, event: 'budget.threshold', detail: 'answered 503' },
    ])
  })

  function queueIsEmptyAfter(count: number) {
    return async () => received.length >= count && (await queueIsEmpty())
  }

  test('a delivery not accepted before the process ended is sent by the next one', async () => {
    const first = await start({ firstRetryMs: 3_600_000 })
    await createWebhook(first.webhooks)
    answers = [() => new Response(null, { status: 500 })]
    first.publisher.publish(eventOf())
    await until(hasFailedOnce)
    await first.close()
    expect(received).toHaveLength(1)
    await makeDue()
    await start()
    await until(async () => received.length === 2 && (await queueIsEmpty()))
    expect(received[1]?.headers.get('x-gatehouse-delivery')).toBe(
      received[0]?.headers.get('x-gatehouse-delivery') ?? '',
    )
  })

  test('a delivery under way when the process ends is cut, and sent again', async () => {
    const first = await start()
    await createWebhook(first.webhooks)
    const { promise: never } = Promise.withResolvers<Response>()
    answers = [() => never]
    first.publisher.publish(eventOf())
    await until(() => received.length === 1)
    await first.close()
    expect(await queueIsEmpty()).toBe(false)
    await start()
    await until(async () => received.length === 2 && (await queueIsEmpty()))
  })

  const queueOf = (length: number, webhookId: string, nextAttemptAt: number) =>
    Array.from({ length }, (_, index) => ({
      id: `evt_${index}`,
      accountId: DEFAULT_ACCOUNT,
      webhookId,
      event: 'budget.threshold',
      body: '{}',
      attempts: 1,
      nextAttemptAt,
      createdAt: 0,
    }))

  test('one of several nodes sends each due delivery', async () => {
    const { webhooks } = await start()
    const { id } = await createWebhook(webhooks)
    const nodes = [await start(), await start()]
    await store.webhooks.enqueue(queueOf(30, id, 0))
    for (const { sender } of nodes) sender.wake()
    await until(queueIsEmptyAfter(30))
    expect(received).toHaveLength(30)
  })

  test('a delivery that a node took and never sent goes to another after its time', async () => {
    const { webhooks } = await start()
    const { id } = await createWebhook(webhooks)
    const [delivery] = queueOf(1, id, 0)
    if (delivery === undefined) return
    await store.webhooks.enqueue([delivery])
    expect(await store.webhooks.claim(delivery, Date.now() + 50)).toBe(true)
    expect(await store.webhooks.claim(delivery, Date.now() + 99)).toBe(false)
    await start()
    await until(queueIsEmptyAfter(1))
    expect(received).toHaveLength(1)
  })

  test('a share of a budget is sent once a period, whoever reports it again', async () => {
    const mark = {
      accountId: DEFAULT_ACCOUNT,
      budgetId: 'bud_1',
      periodStartsAtMs: 1000,
      threshold: 0.8,
      budgetUpdatedAtMs: 1000,
    }
    const first = await start()
    await createWebhook(first.webhooks)
    first.publisher.publish(eventOf({ mark }))
    first.publisher.publish(eventOf({ mark }))
    await until(async () => received.length === 1 && (await queueIsEmpty()))
    await first.close()
    const second = await start()
    second.publisher.publish(eventOf({ mark }))
    second.publisher.publish(
      eventOf({ mark: { ...mark, periodStartsAtMs: 2000 }, data: { next: true } }),
    )
    await until(async () => received.length === 2 && (await queueIsEmpty()))
    expect(received[1]?.body).toContain('"next":true')
  })

  test('an account with silent receivers delays no other account', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    answers = Array.from({ length: 41 }, () => () => released.then(() => new Response('thanks')))
    const { webhooks, publisher } = await start()
    await createWebhook(webhooks)
    const stranger = 'acct_stranger' as AccountId
    await createWebhook(webhooks, { accountId: stranger })
    for (let sent = 0; sent < 40; sent += 1) publisher.publish(eventOf({ data: { slow: true } }))
    publisher.publish(eventOf({ accountId: stranger, data: { slow: false } }))
    await until(() => received.some(({ body }) => body.includes('"slow":false')))
    expect(received.filter(({ body }) => body.includes('"slow":true')).length).toBeLessThan(8)
    release()
    await until(queueIsEmpty)
    expect(received).toHaveLength(41)
  })

  describe('safeguards:', () => {
    test('a change does not restore a secret that was sealed again during it', async () => {
      const { webhooks } = await start()
      const webhook = await createWebhook(webhooks)
      const resealed = vault.encrypt(new Secret(SECRET), secretBinding(webhook))
      await store.webhooks.change(webhook, () => ({ ...webhook, sealedSecret: resealed }))
      await webhooks.update(DEFAULT_ACCOUNT, webhook.id, { isActive: false })
      expect((await store.webhooks.loadAll())[0]).toMatchObject({
        sealedSecret: resealed,
        isActive: false,
      })
      await webhooks.update(DEFAULT_ACCOUNT, webhook.id, { secret: new Secret(`${SECRET}-new`) })
      expect((await store.webhooks.loadAll())[0]?.sealedSecret).not.toBe(resealed)
    })

    test('an address that is no longer allowed gets nothing', async () => {
      const { webhooks } = await start()
      const webhook = await createWebhook(webhooks)
      const strict = new WebhookSender({
        queue: store.webhooks,
        webhooks,
        addresses: nowhere,
      })
      expect(await strict.sendTest(webhook)).toEqual({
        delivered: false,
        status: null,
        detail: 'the address must be a public address',
      })
      expect(received).toEqual([])
    })

    test('a redirect is not followed', async () => {
      const { webhooks, sender } = await start()
      const webhook = await createWebhook(webhooks)
      answers = [() => Response.redirect(`http://127.0.0.1:${server.port}/other`, 302)]
      expect(await sender.sendTest(webhook)).toEqual({
        delivered: false,
        status: 302,
        detail: 'redirects are refused',
      })
      expect(received).toHaveLength(1)
    })

    test('a deleted webhook gets no delivery', async () => {
      const { webhooks, publisher, sender } = await start({ firstRetryMs: 3_600_000 })
      const { id } = await createWebhook(webhooks)
      answers = [() => new Response(null, { status: 500 })]
      publisher.publish(eventOf())
      await until(hasFailedOnce)
      await webhooks.delete(DEFAULT_ACCOUNT, id)
      await makeDue()
      sender.wake()
      await until(queueIsEmpty)
      expect(received).toHaveLength(1)
    })

    test('the queue of one account does not grow without bound', async () => {
      const { webhooks, publisher, dropped } = await start({ firstRetryMs: 600_000 })
      const { id } = await createWebhook(webhooks)
      await store.webhooks.enqueue(queueOf(1000, id, Date.now() + 3_600_000))
      publisher.publish(eventOf())
      await until(() => dropped.length === 1)
      expect(dropped).toEqual(['budget.threshold: queue full'])
      expect(await store.webhooks.countDeliveries(DEFAULT_ACCOUNT)).toBe(1000)
    })
  })
})
