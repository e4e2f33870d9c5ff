/**
 * An unmodified OpenAI client whose gates' targets are on Vertex AI, by a service account and by an
 * access token.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { controlPlaneCall, createGate, waitForLogRow } from '../support/control-plane.ts'
import {
  type CapturedRequest,
  type RawUpstream,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { createServiceAccount, type ServiceAccount } from '../support/service-account.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { TRANSLATED, TRANSLATED_TEXT, type TranslatedRow } from '../support/translated-samples.ts'

const CLOUD = '/v1/projects/acme-1/locations/eu/publishers'
const rowOf = (dialect: string) =>
  TRANSLATED.find((row) => row.dialect === dialect) as TranslatedRow
const GEMINI = rowOf('gemini-generate-content')
const CLAUDE = rowOf('anthropic-messages')

const granted = (token: string, seconds: number) =>
  jsonAnswer(200, { access_token: token, expires_in: seconds, token_type: 'Bearer' })

const question: OpenAI.Chat.ChatCompletionMessageParam = { role: 'user', content: 'Weather?' }
const tools: OpenAI.Chat.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
]

/**
 * What a call was refused with. The SDK's promises are lazy: awaiting is what sends the request.
 */
async function failureOf(
  call: PromiseLike<unknown>,
): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call
  } catch (failure) {
    if (failure instanceof OpenAI.APIError) return failure
    throw failure
  }
  throw new Error('the call succeeded')
}

let vertex: RawUpstream
let tokens: RawUpstream
let account: ServiceAccount
beforeAll(async () => {
  vertex = await startRawUpstream()
  tokens = await startRawUpstream()
  account = createServiceAccount(`${tokens.url}/token`)
})
afterEach(() => {
  vertex.reset()
  tokens.reset()
})
afterAll(async () => {
  await vertex.stop()
  await tokens.stop()
})
const bearerOf = ({ headers }: CapturedRequest) => headers.authorization?.replace('Bearer ', '')

interface Scene {
  readonly gatehouse: Gatehouse
  readonly openai: OpenAI
}

/** A separate server, because a token lives as long as its process. */
async function withServer(
  credential: string,
  run: (scene: Scene) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const gatehouse = await startGatehouse({
    environment: {
      VERTEX_API_KEY: credential,
      VERTEX_BASE_URL: `${vertex.url}${CLOUD}/google`,
      VERTEX_ANTHROPIC_BASE_URL: `${vertex.url}${CLOUD}/anthropic`,
      GATEHOUSE_LOG_LEVEL: 'trace',
      ...environment,
    },
  })
  try {
    await createGate(gatehouse, 'gemini', 'vertex/gemini-2.5-flash')
    await createGate(gatehouse, 'claude', 'vertex-anthropic/claude-sonnet-4-5@20250929')
    await run({
      gatehouse,
      openai: new OpenAI({ baseURL: `${gatehouse.url}/v1`, apiKey: gatehouse.key, maxRetries: 0 }),
    })
    for (const secret of [...account.secrets, 'ya29.', 'assertion']) {
      expect(gatehouse.output()).not.toContain(secret)
    }
  } finally {
    await gatehouse.remove()
  }
}

describe('with a service account', () => {
  test('a token is fetched once for twenty calls at the same time, and serves later ones', async () => {
    await withServer(account.json, async ({ openai }) => {
      tokens.answer(async (exchange) => {
        await Bun.sleep(50)
        await granted('ya29.one', 3600)(exchange)
      })
      vertex.answer(jsonAnswer(200, GEMINI.answer))
      const ask = () => openai.chat.completions.create({ model: 'gemini', messages: [question] })
      const answers = await Promise.all(Array.from({ length: 20 }, ask))
      expect(new Set(answers.map(({ choices }) => choices[0]?.message.content))).toEqual(
        new Set([TRANSLATED_TEXT]),
      )
      await ask()
      expect(tokens.requests).toHaveLength(1)
      expect(account.readClaims(tokens.last().text).scope).toBe(
        'https://www.googleapis.com/auth/cloud-platform',
      )
      expect(vertex.requests).toHaveLength(21)
      expect(new Set(vertex.requests.map(bearerOf))).toEqual(new Set(['ya29.one']))
      expect(vertex.last().path).toBe(`${CLOUD}/google/models/gemini-2.5-flash:generateContent`)
      for (const { head } of vertex.requests) expect(head).not.toContain('service_account')
    })
  })

  test('a token near its end is fetched again', async () => {
    await withServer(account.json, async ({ openai }) => {
      tokens.answerOnce(granted('ya29.first', 299))
      tokens.answerOnce(granted('ya29.second', 3600))
      vertex.answer(streamAnswer(GEMINI.stream))
      for (const token of ['ya29.first', 'ya29.second', 'ya29.second']) {
        const stream = await openai.chat.completions.create({
          model: 'gemini',
          messages: [question],
          stream: true,
        })
        let text = ''
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
        expect(text).toBe(TRANSLATED_TEXT)
        expect(bearerOf(vertex.last())).toBe(token)
      }
      expect(vertex.last().path).toBe(
        `${CLOUD}/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`,
      )
      expect(tokens.requests).toHaveLength(2)
    })
  })

  test('a refused account fails a call as a refused credential, and the next target answers', async () => {
    await withServer(account.json, async ({ gatehouse, openai }) => {
      await createGate(gatehouse, 'both', [
        'vertex/gemini-2.5-flash',
        'vertex-anthropic/claude-opus-5',
      ])
      tokens.answer(jsonAnswer(400, { error: 'invalid_grant', error_description: 'ya29.shown' }))
      const failure = await failureOf(
        openai.chat.completions.create({ model: 'gemini', messages: [question] }),
      )
      expect(failure).toMatchObject({ status: 502, code: 'provider_auth_failed' })
      expect(failure.message).toContain('invalid_grant')
      expect(failure.message).toContain('vertex/gemini-2.5-flash')
      for (const secret of account.secrets) expect(failure.message).not.toContain(secret)
      expect(vertex.requests).toHaveLength(0)
      expect((await waitForLogRow(gatehouse, failure.requestID)).errorKind).toBe(
        'provider_auth_failed',
      )

      tokens.answerOnce(jsonAnswer(400, { error: 'invalid_grant' }))
      tokens.answerOnce(granted('ya29.good', 3600))
      vertex.answer(jsonAnswer(200, CLAUDE.answer))
      const answered = await openai.chat.completions.create({ model: 'both', messages: [question] })
      expect(answered.choices[0]?.message.content).toBe(TRANSLATED_TEXT)
    })
  })

  test('an unreachable endpoint fails a call as an upstream that may be back', async () => {
    await withServer(account.json, async ({ openai }) => {
      tokens.answer(jsonAnswer(503, {}))
      const ask = () => openai.chat.completions.create({ model: 'gemini', messages: [question] })
      expect(await failureOf(ask())).toMatchObject({ status: 502, code: 'token_endpoint_failed' })
    })
  })

  test('an unreadable account fails a call before anything is sent', async () => {
    await withServer('{"type": "service_account", "private_key": "ya29.', async ({ openai }) => {
      const ask = openai.chat.completions.create({ model: 'gemini', messages: [question] })
      const failure = await failureOf(ask)
      expect(failure).toMatchObject({ status: 502, code: 'provider_auth_failed' })
      expect(failure.message).not.toContain('ya29.')
      expect(vertex.requests).toHaveLength(0)
    })
  })

  test('a token repeated by an upstream is masked', async () => {
    await withServer(account.json, async ({ openai }) => {
      tokens.answer(granted('ya29.repeated', 3600))
      vertex.answer(
        jsonAnswer(400, { error: { code: 400, message: 'bad: ya29.repeated', status: 'X' } }),
      )
      const ask = openai.chat.completions.create({ model: 'gemini', messages: [question] })
      expect((await failureOf(ask)).message).toContain('bad: [secret]')
    })
  })
})

describe('with a service account of the caller’s own', () => {
  const setKey = (gatehouse: Gatehouse) =>
    controlPlaneCall(gatehouse, 'PUT', '/v1/provider-keys/vertex', { key: account.json })

  test('a token is fetched nowhere that no customer may lead the gateway to', async () => {
    await withServer('planted-access-token', async ({ gatehouse, openai }) => {
      expect((await setKey(gatehouse)).status).toBe(201)
      tokens.answer(jsonAnswer(404, { error: 'invalid_grant' }))
      const failure = await failureOf(
        openai.chat.completions.create({ model: 'gemini', messages: [question] }),
      )
      expect(failure).toMatchObject({ status: 502, code: 'provider_auth_failed' })
      expect(failure.message).toContain('has a token_uri that is not allowed')
      expect(tokens.requests).toHaveLength(0)
      expect(vertex.requests).toHaveLength(0)
    })
  })

  test('a token is fetched from a host that the operator trusts', async () => {
    const run = async ({ gatehouse, openai }: Scene) => {
      expect((await setKey(gatehouse)).status).toBe(201)
      tokens.answer(granted('ya29.own', 3600))
      vertex.answer(jsonAnswer(200, GEMINI.answer))
      await openai.chat.completions.create({ model: 'gemini', messages: [question] })
      expect(bearerOf(vertex.last())).toBe('ya29.own')
    }
    await withServer('planted-access-token', run, { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' })
  })
})

describe('with an access token', () => {
  test('it is sent unchanged', async () => {
    await withServer('planted-access-token', async ({ openai }) => {
      vertex.answer(jsonAnswer(200, GEMINI.answer))
      await openai.chat.completions.create({ model: 'gemini', messages: [question] })
      expect(bearerOf(vertex.last())).toBe('planted-access-token')
      expect(tokens.requests).toHaveLength(0)
    })
  })

  // https://github.com/vercel/ai/issues/15664: Vertex refuses what Gemini's own interface takes.
  test('a tool loop sends no ids of calls, which Vertex refuses', async () => {
    await withServer('planted-access-token', async ({ openai }) => {
      vertex.answer(jsonAnswer(200, GEMINI.answer))
      await openai.chat.completions.create({
        model: 'gemini',
        tools,
        messages: [
          question,
          {
            role: 'assistant',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
        ],
      })
      const { contents } = JSON.parse(vertex.last().text)
      expect(contents[1].parts[0].functionCall).toEqual({ name: 'weather', args: {} })
      expect(contents[2].parts[0].functionResponse).toEqual({
        name: 'weather',
        response: { result: 'sunny' },
      })
    })
  })

  test("Claude's model is in the path, and the body has the version instead", async () => {
    await withServer('planted-access-token', async ({ openai, gatehouse }) => {
      const base = `${CLOUD}/anthropic/models/claude-sonnet-4-5%4020250929`
      vertex.answerOnce(jsonAnswer(200, CLAUDE.answer))
      const answer = await openai.chat.completions.create({ model: 'claude', messages: [question] })
      expect(answer.choices[0]?.message.content).toBe(TRANSLATED_TEXT)
      expect(vertex.last().path).toBe(`${base}:rawPredict`)
      const translated = JSON.parse(vertex.last().text)
      expect(translated.anthropic_version).toBe('vertex-2023-10-16')
      expect(translated).not.toHaveProperty('model')

      vertex.answerOnce(streamAnswer(CLAUDE.stream))
      const body = `{"model":"claude","max_tokens":16,"messages":[{"role":"user","content":"Hi"}],"stream":true}`
      const relayed = await fetch(`${gatehouse.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': gatehouse.key, 'content-type': 'application/json' },
        body,
      })
      expect(await relayed.text()).toBe(CLAUDE.stream.join(''))
      expect(vertex.last().path).toBe(`${base}:streamRawPredict`)
      expect(vertex.last().text).toBe(
        body.replace('"model":"claude"', '"anthropic_version":"vertex-2023-10-16"'),
      )
    })
  })
})
