/**
 * What becomes of a call while the things that it goes through are changed or deleted: it is
 * priced and counted as they were when its target was asked.
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, createGate, createKey, waitForLogRow } from '../support/control-plane.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { pollUntil } from '../support/poll-until.ts'
import { openRawScene, type RawScene } from '../support/raw-scene.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const CHAT = '/v1/chat/completions'
/** The most that may be declared: 10,000 tokens cost a dollar. */
const CENTS_PER_MILLION = 10_000
const ANSWER = {
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hi' },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 3_000, completion_tokens: 4_000, total_tokens: 7_000 },
}

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({ gates: {}, environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' } })
})
afterAll(() => scene.close())
beforeEach(() => scene.upstream.reset())

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await controlPlaneCall(scene.gatehouse, method, path, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

/** A gate to an owned model with a price, and a key with a budget in money. */
async function openPricedGate(slug: string) {
  scene.upstream.answer(jsonAnswer(200, CHAT_JSON))
  await ask('POST', '/v1/owned-models', {
    slug,
    dialect: 'openai-chat',
    baseUrl: `${scene.upstream.url}/v1`,
    upstreamModelId: 'served',
    pricingInput: CENTS_PER_MILLION,
    pricingOutput: CENTS_PER_MILLION,
  })
  scene.upstream.reset()
  await createGate(scene.gatehouse, slug, `owned/${slug}`)
  const key = await createKey(scene.gatehouse, slug)
  const { id } = await ask('POST', '/v1/budgets', { keyId: key.id, limitUsd: 100, period: 'total' })
  return { key, budgetId: String(id) }
}

/** A call whose upstream answers when it is told to. */
async function beginHeld(gateId: string, key: string) {
  const held = Promise.withResolvers<void>()
  scene.upstream.answerOnce(async (exchange) => {
    await held.promise
    await jsonAnswer(200, ANSWER)(exchange)
  })
  const body = { model: gateId, messages: [{ role: 'user', content: 'Hi' }] }
  const answer = scene.post(CHAT, body, { authorization: `Bearer ${key}` })
  await pollUntil('the upstream to be asked', () => scene.upstream.requests.length > 0)
  return { answer, letGo: () => held.resolve() }
}

test('a call to an owned model costs what was declared when it was asked', async () => {
  const { key, budgetId } = await openPricedGate('cheaper')
  const call = await beginHeld('cheaper', key.key)
  await ask('PATCH', '/v1/owned-models/cheaper', { pricingInput: 0, pricingOutput: 0 })
  call.letGo()
  const { status, headers } = await call.answer
  expect(status).toBe(200)
  const row = await waitForLogRow(scene.gatehouse, headers['x-request-id'])
  expect(row).toMatchObject({ cost: { usd: 0.7, status: 'exact' } })
  expect(await ask('GET', `/v1/budgets/${budgetId}`)).toMatchObject({ used: { usd: 0.7 } })
})

test('an owned model that is deleted while a call waits for it is still paid for', async () => {
  const { key, budgetId } = await openPricedGate('gone')
  const call = await beginHeld('gone', key.key)
  await ask('DELETE', '/v1/gates/gone')
  await ask('DELETE', '/v1/owned-models/gone')
  call.letGo()
  const { status, headers } = await call.answer
  expect(status).toBe(200)
  const row = await waitForLogRow(scene.gatehouse, headers['x-request-id'])
  expect(row).toMatchObject({ gateId: 'gone', cost: { usd: 0.7, status: 'exact' } })
  expect(await ask('GET', `/v1/budgets/${budgetId}`)).toMatchObject({ used: { usd: 0.7 } })
})
