/**
 * Two gateways on one Postgres and one Redis count for one budget: what it reaches is told once,
 * whoever reached it.
 */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { call, createPostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { findRedis, startRedis } from '../support/redis-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  PATIENT_WITH_REDIS,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(180_000)

const SECRET = 'planted-webhook-secret-0a1b2c3d4e'

describeIf(
  findRedis() !== undefined && findPostgres() !== undefined,
  'needs Postgres and redis-server',
)('a budget of two nodes', () => {
  const cleanups: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  test('tells each share that they reach together once', async () => {
    const receiver = startWebhookReceiver(SECRET)
    cleanups.push(() => receiver.stop())
    const postgres = await createPostgresScene()
    cleanups.push(() => postgres.remove())
    const redis = await startRedis()
    cleanups.push(() => redis.remove())
    const environment = {
      DATABASE_URL: await postgres.createDatabase(),
      ...PATIENT_WITH_DATABASE,
      REDIS_URL: redis.url,
      ...PATIENT_WITH_REDIS,
      GATEHOUSE_TRUSTED_HOSTS: receiver.host,
      // The webhook's secret is sealed under it: a node without it does not start on this store.
      GATEHOUSE_MASTER_KEY: 'ab'.repeat(32),
    }
    const start = async (key?: string): Promise<Gatehouse> => {
      const node = await startGatehouse({
        sandbox: true,
        environment,
        ...(key === undefined ? {} : { key }),
      })
      cleanups.push(() => node.remove())
      return node
    }
    const first = await start()
    const { usage } = (await (await call(first)).json()) as { usage: { total_tokens: number } }
    const events = ['budget.threshold', 'budget.exhausted']
    const hook = await controlPlaneCall(first, 'POST', '/v1/webhooks', {
      ...{ url: receiver.url, secret: SECRET, events },
    })
    expect(hook.status).toBe(201)
    const limitTokens = 8 * usage.total_tokens
    const made = await controlPlaneCall(first, 'POST', '/v1/budgets', {
      ...{ gateId: 'demo', limitTokens, period: 'total', name: 'both', alertAt: [0.5, 1] },
    })
    expect(made.status).toBe(201)
    // It reads budget and webhook as it starts.
    const second = await start(first.key)

    const spend = async (node: Gatehouse) => {
      for (;;) {
        const answer = await call(node)
        const text = await answer.text()
        if (answer.status === 429 && text.includes('insufficient_quota')) return
        // The rest is reserved for running calls.
        if (answer.status !== 200) await Bun.sleep(20)
      }
    }
    await Promise.all([first, second].flatMap((node) => [spend(node), spend(node)]))
    await pollUntil('both shares', () => receiver.deliveries.length >= 2)
    // Time for what must not come.
    await Bun.sleep(500)
    expect(receiver.deliveries.map(({ event }) => event.data.threshold).sort()).toEqual([0.5, 1])
  })
})
