/**
 * A call asks Redis about all its budgets in one round trip: every question is sent before the first
 * is answered.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, createGate, createKey } from '../support/control-plane.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { pollUntil } from '../support/poll-until.ts'
import { findRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import { type Gatehouse, PATIENT_WITH_REDIS, startGatehouse } from '../support/start-gatehouse.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

setDefaultTimeout(60_000)

describeIf(findRedis() !== undefined, 'needs redis-server')('a call with seven budgets', () => {
  let redis: RedisServer
  let proxy: TcpProxy
  let gatehouse: Gatehouse
  let sent = ''
  let ids: string[] = []
  /** The questions about each budget when the upstream was asked. */
  let before: readonly number[] = []
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      before = questionsOf(ids)
      return new Response(CHAT_JSON, { headers: { 'content-type': 'application/json' } })
    },
  })
  beforeAll(async () => {
    redis = await startRedis()
    proxy = await startTcpProxy(Number(new URL(redis.url).port), {
      onSent: (bytes) => {
        sent += String(bytes)
      },
    })
    gatehouse = await startGatehouse({
      environment: {
        REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
        ...PATIENT_WITH_REDIS,
        GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
      },
    })
  })
  afterAll(async () => {
    await gatehouse.remove()
    await proxy.close()
    await redis.remove()
    await upstream.stop(true)
  })

  const control = async (method: string, path: string, body: object): Promise<{ id: string }> => {
    const answer = await controlPlaneCall(gatehouse, method, path, body)
    expect(answer.ok).toBe(true)
    return (await answer.json()) as { id: string }
  }
  const budgetOf = async (scope: object) => {
    const limit = { limitUsd: 1_000, period: 'month', unpriced: 'allow' }
    return (await control('POST', '/v1/budgets', { ...limit, ...scope })).id
  }
  const call = (key: string) =>
    fetch(`${gatehouse.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-gatehouse-user': 'ann',
        'x-gatehouse-tags': 'team',
      },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
    })
  /** How often Redis was asked about each budget; heads have names that begin with the budget's. */
  const questionsOf = (ids: readonly string[]) =>
    ids.map((id) => sent.split(`:used-nano:{${id}`).length - 1)

  test('sends all questions before the first answer, and none after it', async () => {
    await control('PATCH', '/v1/account/attribution', { endUsers: true })
    await control('POST', '/v1/owned-models', {
      ...{ slug: 'own', upstreamModelId: 'own', dialect: 'openai-chat' },
      ...{ baseUrl: `http://127.0.0.1:${upstream.port}`, pricingInput: 1, pricingOutput: 1 },
    })
    await createGate(gatehouse, 'demo', 'owned/own')
    await control('POST', '/v1/tags', { name: 'team' })
    const { id: keyId, key } = await createKey(gatehouse, 'seven')
    // Redis knows the script from this call on.
    const early = await budgetOf({ gateId: 'demo', period: 'day' })
    expect((await call(key)).status).toBe(200)
    expect(questionsOf([early])).not.toEqual([0])
    await controlPlaneCall(gatehouse, 'DELETE', `/v1/budgets/${early}`)

    const made: string[] = []
    for (const scope of [
      ...[{ scope: 'account' }, { keyId }, { gateId: 'demo' }, { endUser: 'ann', period: 'week' }],
      ...[{ tag: 'team' }, { scope: 'each-user' }, { scope: 'each-key', period: 'day' }],
    ])
      made.push(await budgetOf(scope))
    ids = made
    sent = ''
    proxy.freeze()
    const answer = call(key)
    await pollUntil('a question about each budget', () =>
      questionsOf(ids).every((questions) => questions > 0),
    )
    expect(questionsOf(ids)).toEqual(ids.map(() => 1))
    proxy.restore()
    expect((await answer).status).toBe(200)
    expect(before).toEqual(ids.map(() => 1))
  })
})
