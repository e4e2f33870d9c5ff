/**
 * interface-spec, "What the service does": its six paragraphs, each entry point with the official
 * SDK where there is one.
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import OpenAI from 'openai'
import { controlPlaneCall, createGate, waitForLogRow } from '../../support/control-plane.ts'
import { CHAT_JSON, FIM_JSON, RESPONSES_JSON } from '../../support/dialect-samples.ts'
import {
  CHAT_V3,
  openRawScene,
  PLANTED_OPENAI_KEY,
  type RawScene,
} from '../../support/raw-scene.ts'
import { readFolder } from '../../support/read-folder.ts'
import { jsonAnswer } from '../../support/scripted-answers.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const OWN_KEY = 'sk-own-planted-1111111111111111'
const OWNED_CREDENTIAL = 'planted-credential-of-an-owned-model'
const SLUG = 'house-model'
const messages = [{ role: 'user' as const, content: 'hi' }]

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      'gpt-5': 'openai/gpt-5',
      'gpt-4o': 'openai/gpt-4o',
      'codestral-latest': 'mistral/codestral-latest',
      support: 'openai/gpt-4o',
    },
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
  scene.upstream.answer(jsonAnswer(200, {}))
  const owned = await controlPlaneCall(scene.gatehouse, 'POST', '/v1/owned-models', {
    slug: SLUG,
    dialect: 'openai-chat',
    baseUrl: `${scene.upstream.url}/v1`,
    upstreamModelId: 'served-model',
    credential: OWNED_CREDENTIAL,
    pricingInput: 10,
    pricingOutput: 20,
  })
  expect(owned.status).toBe(201)
  await createGate(scene.gatehouse, 'house', `owned/${SLUG}`)
})
afterAll(() => scene.close())
beforeEach(() => {
  scene.upstream.reset()
  // Each path gets an answer of its own format, whoever asks: the gateway, or a client that is not
  // behind it.
  scene.upstream.answer(async (exchange) => {
    const { path } = exchange.request
    const answer = path.endsWith('/responses')
      ? RESPONSES_JSON
      : path.includes('/fim/')
        ? FIM_JSON
        : CHAT_JSON
    await jsonAnswer(200, answer)(exchange)
  })
})

const openai = (baseURL: string): OpenAI =>
  new OpenAI({ baseURL, apiKey: scene.gatehouse.key, maxRetries: 0 })
const mistral = (serverURL: string): Mistral =>
  new Mistral({ serverURL, apiKey: scene.gatehouse.key })

async function call(path: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const { status, text } = await scene.post(path, body)
  return { status, json: JSON.parse(text) }
}

function sent(): Record<string, unknown> {
  return JSON.parse(scene.upstream.last().text) as Record<string, unknown>
}

async function usedTokens(): Promise<number> {
  const response = await controlPlaneCall(scene.gatehouse, 'GET', '/v1/account')
  return ((await response.json()) as { quota: { tokens: { used: number } } }).quota.tokens.used
}

describe('What the service does', () => {
  describe('1. A client can switch by changing only its base address or server address', () => {
    test.each([
      [
        'openai, responses',
        () => `${scene.upstream.url}/v1`,
        () => `${scene.gatehouse.url}/v1`,
        (base: string) => openai(base).responses.create({ model: 'gpt-5', input: 'hi' }),
      ],
      [
        'openai, chat',
        () => `${scene.upstream.url}/v1`,
        () => `${scene.gatehouse.url}/v1`,
        (base: string) => openai(base).chat.completions.create({ model: 'gpt-4o', messages }),
      ],
      [
        '@mistralai/mistralai, fim',
        () => scene.upstream.url,
        () => `${scene.gatehouse.url}/alt`,
        (base: string) =>
          mistral(base).fim.complete({ model: 'codestral-latest', prompt: 'def f(' }),
      ],
    ])('%s', async (_, before, after, use) => {
      const direct = JSON.stringify(await use(before()))
      const directly = sent()
      const switched = JSON.stringify(await use(after()))
      expect(scene.upstream.requests).toHaveLength(2)
      expect(switched).toBe(direct)
      expect(sent()).toMatchObject(directly)
    })
  })

  describe('2. A request selects a routing target called a gate, configured to resolve to a provider model', () => {
    test('in the responses format the gate id is passed in the `model` field', async () => {
      expect((await call('/v1/responses', { model: 'support', input: 'hi' })).status).toBe(200)
      expect(sent().model).toBe('gpt-4o')
    })

    test('in the chat format it is passed as `gate_id`', async () => {
      expect((await call('/v1/chat/completions', { gate_id: 'support', messages })).status).toBe(
        200,
      )
      expect(sent().model).toBe('gpt-4o')
    })
  })

  describe('3. Formats and their entry points', () => {
    test('Responses format: POST {base_url}/v1/responses. The client SDK base address is {base_url}/v1', async () => {
      const response = await openai(`${scene.gatehouse.url}/v1`).responses.create({
        model: 'support',
        input: 'hi',
      })
      expect(response).toMatchObject({ id: 'resp_1', output_text: 'café \u{1F600} /' })
      expect((await call('/v1/responses', { model: 'support', input: 'hi' })).json).toMatchObject({
        id: 'resp_1',
      })
    })

    test('Chat format: {base_url}/v1/chat/completions', async () => {
      const completion = await openai(`${scene.gatehouse.url}/v1`).chat.completions.create({
        model: 'support',
        messages,
      })
      expect(completion.choices[0]?.message.content).toBe('café \u{1F600}')
      expect(
        (await call('/v1/chat/completions', { gate_id: 'support', messages })).json,
      ).toMatchObject({
        object: 'chat.completion',
      })
    })

    test('Chat format: {base_url}/v3/chat', async () => {
      const { status, json } = await call(CHAT_V3, { gate_id: 'support', messages })
      expect(status).toBe(200)
      expect(json).toMatchObject({ object: 'chat', gate_id: 'support', content: 'café \u{1F600}' })
    })

    test('Alternate-provider format: POST {base_url}/alt/v1/fim/completions. The client SDK server address is {base_url}/alt', async () => {
      const completion = await mistral(`${scene.gatehouse.url}/alt`).fim.complete({
        model: 'codestral-latest',
        prompt: 'def f(',
        suffix: 'return a',
      })
      expect(completion.choices?.[0]?.message?.content).toBe('return café \u{1F600}')
      const raw = await call('/alt/v1/fim/completions', {
        model: 'codestral-latest',
        prompt: 'def f(',
      })
      expect(raw.json).toMatchObject({ object: 'chat.completion' })
    })

    test('Owned-model registry: PATCH {base_url}/v1/owned-models/:slug', async () => {
      const response = await controlPlaneCall(
        scene.gatehouse,
        'PATCH',
        `/v1/owned-models/${SLUG}`,
        {
          displayName: 'The house model',
        },
      )
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ slug: SLUG, displayName: 'The house model' })
    })
  })

  describe('4. The service is stateless and retains no data by default', () => {
    test('Conversation state is never stored: an answer cannot be retrieved', async () => {
      const client = openai(`${scene.gatehouse.url}/v1`)
      const { id } = await client.responses.create({ model: 'support', input: 'hi' })
      for (const again of [client.responses.retrieve(id), client.responses.inputItems.list(id)]) {
        expect(
          await again.then(
            () => 'found',
            (error: unknown) => error,
          ),
        ).toBeInstanceOf(OpenAI.NotFoundError)
      }
    })

    test('prompts and completions are not stored, in files, in the log, or in the process’s output', async () => {
      const [asked, answered] = ['planted-prompt-7731', 'planted-completion-9942']
      scene.upstream.answerOnce(jsonAnswer(200, RESPONSES_JSON.replace('caf\\u00e9', answered)))
      const answer = await scene.post('/v1/responses', { model: 'support', input: asked })
      expect(answer.text).toContain(answered)
      const id = answer.headers['x-request-id']
      await waitForLogRow(scene.gatehouse, id)
      const row = await (await controlPlaneCall(scene.gatehouse, 'GET', `/v1/logs/${id}`)).text()
      const files = readFolder(scene.gatehouse.dataFolder).map(({ text }) => text)
      expect(files.some((text) => text.includes(String(id)))).toBeTrue()
      for (const kept of [row, scene.gatehouse.output(), ...files]) {
        for (const planted of [asked, answered]) expect(kept.includes(planted)).toBeFalse()
      }
    })

    test('clients replay prior items in each request: the next request sends nothing of an earlier one', async () => {
      await call('/v1/responses', { model: 'support', input: 'planted-first-turn' })
      await call('/v1/responses', { model: 'support', input: 'second turn' })
      expect(scene.upstream.last().text).not.toContain('planted-first-turn')
    })
  })

  describe('5. Customers may supply their own provider credentials (one per provider)', () => {
    test("otherwise usage counts against the customer's plan quota", async () => {
      const before = await usedTokens()
      await call('/v1/responses', { model: 'support', input: 'hi' })
      expect(scene.upstream.last().headers.authorization).toBe(`Bearer ${PLANTED_OPENAI_KEY}`)
      expect(await usedTokens()).toBe(before + 18)
    })

    test('so that charges appear on their provider account', async () => {
      const keyPath = '/v1/provider-keys/openai'
      const set = await controlPlaneCall(scene.gatehouse, 'PUT', keyPath, { key: OWN_KEY })
      expect(set.status).toBe(201)
      const before = await usedTokens()
      await call('/v1/responses', { model: 'support', input: 'hi' })
      expect(scene.upstream.last().headers.authorization).toBe(`Bearer ${OWN_KEY}`)
      expect(await usedTokens()).toBe(before)
      await controlPlaneCall(scene.gatehouse, 'DELETE', keyPath)
    })
  })

  test('6. Customers may register an owned model, with a credential and declared pricing, addressed by an immutable slug', async () => {
    const before = await usedTokens()
    const { status } = await call('/v1/chat/completions', { gate_id: 'house', messages })
    expect(status).toBe(200)
    expect(sent().model).toBe('served-model')
    expect(scene.upstream.last().headers.authorization).toBe(`Bearer ${OWNED_CREDENTIAL}`)
    expect(await usedTokens()).toBe(before)
    const path = `/v1/owned-models/${SLUG}`
    expect(
      (await controlPlaneCall(scene.gatehouse, 'PATCH', path, { slug: 'renamed' })).status,
    ).toBe(400)
    const shown = await controlPlaneCall(scene.gatehouse, 'GET', path)
    expect(await shown.json()).toMatchObject({ slug: SLUG, pricingInput: 10, pricingOutput: 20 })
  })
})
