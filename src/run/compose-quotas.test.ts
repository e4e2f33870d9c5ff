/**
 * A plan's quota over the whole gateway in this process: refused, shown, and counted on after a
 * restart.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pollUntil } from '../../test/support/poll-until.ts'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import type { PlansSection } from '../core/plan.ts'
import { Secret } from '../core/secret.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const USED = 30
const key = generateApiKey().reveal()

let folder: string
let asked: number
/** Tokens of each answer. */
let written: number
/** Answers wait for it. */
let held: Promise<void> | undefined
let upstream: ReturnType<typeof startUpstream>
let gatehouse: Gatehouse | undefined

/** Answers every chat request with the same usage; a stream's comes with its last event. */
function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch() {
      asked += 1
      await held
      const message = { role: 'assistant', content: 'hi' }
      const usage = { prompt_tokens: 20, completion_tokens: written, total_tokens: 20 + written }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices,
        usage,
      })
    },
  })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-quota-'))
  asked = 0
  written = USED - 20
  held = undefined
  upstream = startUpstream()
})
afterEach(async () => {
  await gatehouse?.close()
  gatehouse = undefined
  await upstream.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

async function start(plans: PlansSection, environment: Record<string, string> = {}): Promise<void> {
  await gatehouse?.close()
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder,
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    OPENAI_API_KEY: 'planted',
    ...environment,
  })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent'), plans })
  const { keys, gates } = gatehouse
  if (gates.find(DEFAULT_ACCOUNT, 'demo' as GateId) !== undefined) return
  await keys.import({
    accountId: DEFAULT_ACCOUNT,
    name: 'test',
    key: new Secret(key),
  })
  await gates.create(DEFAULT_ACCOUNT, {
    id: 'demo' as GateId,
    description: '',
    targets: [{ model: 'openai/m' }],
    timeoutMs: null,
    maxRetries: 0,
  })
}

async function send(
  path: string,
  body?: object,
  method = body === undefined ? 'GET' : 'POST',
): Promise<Response> {
  if (gatehouse === undefined) throw new Error('not started')
  return await gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}

function chat(extra: object = {}): Promise<Response> {
  return send('/v1/chat/completions', {
    model: 'demo',
    messages: [{ role: 'user', content: 'hi' }],
    ...extra,
  })
}

async function account(): Promise<{
  plan: string
  quota: { tokens: { used: number; reserved: number } }
}> {
  return (await (await send('/v1/account')).json()) as never
}

test('a monthly quota refuses calls when used up, even after a restart, and can be raised', async () => {
  const plans = { default: 'tiny', definitions: { tiny: { monthlyTokens: 2 * USED } } }
  await start(plans)
  expect((await chat()).status).toBe(200)
  expect(await account()).toMatchObject({
    plan: 'tiny',
    quota: { tokens: { used: USED, reserved: 0 } },
  })
  expect((await chat()).status).toBe(200)
  const refused = await chat()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect(refused.headers.has('retry-after')).toBe(false)
  expect(await refused.json()).toMatchObject({
    error: {
      type: 'insufficient_quota',
      message: expect.stringContaining("account's monthly quota"),
    },
  })
  expect(asked).toBe(2)

  await start(plans)
  expect(await account()).toMatchObject({ quota: { tokens: { used: 2 * USED, reserved: 0 } } })
  expect((await chat()).status).toBe(429)
  await start({ default: 'unlimited' })
  expect((await chat()).status).toBe(200)
  expect(await account()).toMatchObject({ quota: { tokens: { used: 3 * USED } } })
})

test("calls with the account's own provider key do not count for its quota, even after a restart", async () => {
  const plans = { default: 'tiny', definitions: { tiny: { monthlyTokens: USED } } }
  await start(plans)
  expect((await chat()).status).toBe(200)
  expect((await chat()).status).toBe(429)
  expect((await send('/v1/provider-keys/openai', { key: 'sk-own-planted' }, 'PUT')).status).toBe(
    201,
  )
  for (let call = 0; call < 3; call += 1) expect((await chat()).status).toBe(200)
  expect(await account()).toMatchObject({ quota: { tokens: { used: USED, reserved: 0 } } })

  await start(plans)
  expect(await account()).toMatchObject({ quota: { tokens: { used: USED } } })
  expect((await chat()).status).toBe(200)
  expect((await send('/v1/provider-keys/openai', { active: false }, 'PATCH')).status).toBe(200)
  expect((await chat()).status).toBe(429)
})

test('a budget counts the cost in the call’s row, even if the price changes right after it', async () => {
  const environment = { GATEHOUSE_TRUSTED_HOSTS: `127.0.0.1:${upstream.port}` }
  await start({ default: 'unlimited' }, environment)
  const model = {
    slug: 'mine',
    displayName: 'Mine',
    dialect: 'openai-chat',
    baseUrl: `http://127.0.0.1:${upstream.port}/v1`,
    upstreamModelId: 'm',
    credential: 'planted-owned',
    pricingInput: 10_000,
    pricingOutput: 10_000,
    pricingCachedInput: 0,
  }
  expect((await send('/v1/owned-models', model)).status).toBe(201)
  expect((await send('/v1/gates', { id: 'own', targets: [{ model: 'owned/mine' }] })).status).toBe(
    201,
  )
  const made = await send('/v1/budgets', { gateId: 'own', limitUsd: 1000, period: 'total' })
  const { id } = (await made.json()) as { id: string }
  const spent = async () =>
    (await (await send(`/v1/budgets/${id}`)).json()) as { used: { usd: number } }

  expect((await chat({ model: 'own' })).status).toBe(200)
  const cheaper = { pricingInput: 1, pricingOutput: 1 }
  expect((await send('/v1/owned-models/mine', cheaper, 'PATCH')).status).toBe(200)
  expect(await spent()).toMatchObject({ used: { usd: 0.003 } })

  await start({ default: 'unlimited' }, environment)
  expect(await spent()).toMatchObject({ used: { usd: 0.003 } })
  expect(await (await send('/v1/logs')).json()).toMatchObject({ data: [{ cost: { usd: 0.003 } }] })
})

test.each([
  ['at the beginning of a period', 0],
  ['after cheap calls', 3],
])('calls at once pass a budget in money by no more than the last one, %s', async (_, cheap) => {
  await start({ default: 'unlimited' })
  const [small, large] = [{ model: 'openai/gpt-4o-mini' }, { model: 'openai/gpt-4o' }]
  await send('/v1/gates', { id: 'cheap', targets: [small] })
  await send('/v1/gates', { id: 'dear', targets: [small, large] })
  const keys = await (await send('/v1/keys')).json()
  const { id: keyId } = (keys as { data: readonly { id: string }[] }).data[0] ?? { id: '' }
  const made = await send('/v1/budgets', { keyId, limitUsd: 0.02, period: 'day' })
  expect(made.status).toBe(201)
  for (let call = 0; call < cheap; call += 1)
    expect((await chat({ model: 'cheap' })).status).toBe(200)

  const { promise, resolve } = Promise.withResolvers<void>()
  held = promise
  asked = 0
  // A cent each, at the model that may have to answer.
  const calls = Array.from({ length: 10 }, () => chat({ model: 'dear', max_tokens: 1_000 }))
  const seen: number[] = []
  const ended = Promise.all(calls.map(async (call) => seen.push((await call).status)))
  await pollUntil('each call at the upstream, or refused', () => asked + seen.length === 10)
  resolve()
  await ended
  expect(seen.toSorted()).toEqual([200, 200, ...Array<number>(8).fill(429)])
})

test("a key's tokens per minute are shown in headers, and limit it", async () => {
  await start({ default: 'slow', definitions: { slow: { tokensPerMinute: 1000 } } })
  const first = await chat({ max_tokens: 100 })
  expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('1000')
  expect(Number(first.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(900)
  // The reservation for the answer's cap came back.
  expect((await chat({ max_tokens: 800 })).status).toBe(200)
  const refused = await chat({ max_tokens: 1000 })
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
})

test('fifty calls at once without a cap use little more than a minute’s tokens, and lock the key out for no minute', async () => {
  await start({ default: 'slow', definitions: { slow: { tokensPerMinute: 1000 } } })
  const { promise, resolve } = Promise.withResolvers<void>()
  held = promise
  written = 400
  const refused: Response[] = []
  const calls = Array.from({ length: 50 }, async () => {
    const answer = await chat()
    if (answer.status !== 200) refused.push(answer)
  })
  await pollUntil('each call at the upstream, or refused', () => asked + refused.length === 50)
  resolve()
  await Promise.all(calls)
  expect(asked).toBeLessThanOrEqual(2)
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeLessThan(60)

  // Far more than was expected, of one call alone: the next one is due in half a minute at most.
  written = 20_000
  await chat({ max_tokens: 1 })
  const next = await chat()
  expect(next.status).toBe(429)
  expect(Number(next.headers.get('retry-after'))).toBeLessThanOrEqual(30)
})

test('the variables override the plan’s limits of requests and calls at once', async () => {
  await start({ default: 'free' }, { GATEHOUSE_REQUESTS_PER_MINUTE: '7' })
  const { headers } = await chat()
  expect(headers.get('x-ratelimit-limit-requests')).toBe('7')
})
