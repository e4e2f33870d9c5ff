/**
 * A whole gateway in front of the servers that people run models on, each played as it answers:
 * what its registration finds out, and what calls through a gate make of that.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readSettings } from '../../src/config/settings.ts'
import { generateApiKey } from '../../src/core/api-key.ts'
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import { composeGatehouse, type Gatehouse } from '../../src/run/compose.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { CHAT_JSON, MESSAGES_JSON } from '../support/dialect-samples.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  type CapturedRequest,
  type RawUpstream,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { bodyAnswer, jsonAnswer } from '../support/scripted-answers.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const KEY = 'planted-key-of-the-server'
const SERVED = 'served-model'
const VECTORS =
  '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-0.25e-1]}],"model":"served-model","usage":{"prompt_tokens":4000000,"total_tokens":4000000}}'

type Answer = ReturnType<typeof jsonAnswer>
type Server = (request: CapturedRequest, body: Readonly<Record<string, unknown>>) => Answer

/** OpenAI's paths for chat, of a server that has no others but those given. */
const chatOr =
  (others: Readonly<Record<string, Answer>>, nothing: Answer): Server =>
  ({ path }) =>
    path === '/v1/chat/completions' ? jsonAnswer(200, CHAT_JSON) : (others[path] ?? nothing)

/**
 * `vllm serve MODEL --api-key KEY`: one middleware for all paths, which looks at one header
 * (vllm#51572), and errors of the Messages endpoint in its envelope with types that nobody there
 * knows.
 */
const vllm: Server = ({ path, headers }, { model }) => {
  if (headers.authorization !== `Bearer ${KEY}`) return jsonAnswer(401, { error: 'Unauthorized' })
  const error = (code: number, type: string, message: string) =>
    path.startsWith('/v1/messages')
      ? jsonAnswer(code, { type: 'error', error: { type, message } })
      : jsonAnswer(code, { error: { message, type, param: null, code } })
  if (model !== SERVED) return error(404, 'NotFoundError', `The model \`${model}\` does not exist.`)
  if (path === '/v1/messages') return jsonAnswer(200, MESSAGES_JSON)
  if (path === '/v1/messages/count_tokens')
    return jsonAnswer(200, {
      input_tokens: 4321,
      context_management: { original_input_tokens: 4321 },
    })
  if (path === '/v1/embeddings')
    return error(400, 'BadRequestError', 'The model does not support Embeddings API')
  return chatOr({}, jsonAnswer(404, { detail: 'Not Found' }))({ path } as CapturedRequest, {})
}

/**
 * Ollama: loads in silence, asks nobody for a key, embeds with every model, and counts no tokens.
 */
const ollama: Server = ({ path }, { model }) => {
  const unknown = {
    message: `model "${model}" not found, try pulling it first`,
    type: 'not_found_error',
  }
  if (model !== SERVED) return jsonAnswer(404, { error: { ...unknown, param: null, code: null } })
  const others = {
    '/v1/embeddings': jsonAnswer(200, VECTORS),
    '/v1/messages': jsonAnswer(200, MESSAGES_JSON),
  }
  const nothing = bodyAnswer(404, '404 page not found', { 'content-type': 'text/plain' })
  return chatOr(others, nothing)({ path } as CapturedRequest, {})
}

/** llama.cpp's server, started without `--embeddings`: serves its one model under every name. */
const llamaCpp: Server = chatOr(
  {
    '/v1/embeddings': jsonAnswer(501, {
      error: {
        code: 501,
        message: 'This server does not support embeddings. Start it with `--embeddings`',
        type: 'not_supported_error',
      },
    }),
  },
  jsonAnswer(404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }),
)

const llamaCppLoading: Server = () =>
  jsonAnswer(503, { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } })

/** A server for embeddings alone, such as text-embeddings-inference. */
const embedder: Server = ({ path }) =>
  path === '/v1/embeddings' ? jsonAnswer(200, VECTORS) : bodyAnswer(404, '')

/** A page in front of a server that wants people to sign in. */
const signInPage: Server = () =>
  bodyAnswer(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' })

const key = generateApiKey()
let folder: TemporaryFolder
let gatehouse: Gatehouse
let upstream: RawUpstream

beforeAll(async () => {
  folder = await createTemporaryFolder()
  upstream = await startRawUpstream()
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    GATEHOUSE_LOG_LEVEL: 'silent',
    GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
    GATEHOUSE_SHIP_INTERVAL_MS: '10',
  })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  gatehouse.keys.addEphemeral(key, { accountId: DEFAULT_ACCOUNT, name: 'test' })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await gatehouse.close()
  await upstream.stop()
  await folder.remove()
})

interface Told {
  readonly status: number
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

async function send(method: string, path: string, body?: unknown): Promise<Told> {
  const response = await gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key.reveal()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  expect(text).not.toContain('planted-')
  const json = text.startsWith('{') ? (JSON.parse(text) as Told['json']) : {}
  return { status: response.status, text, json, headers: response.headers }
}

function serve(server: Server): void {
  upstream.answer((exchange) =>
    server(exchange.request, JSON.parse(exchange.request.text))(exchange),
  )
}

let registered = 0

/** Registers a model of the server, and a gate of the same id that leads to it. */
async function register(server: Server, extra: Readonly<Record<string, unknown>> = {}) {
  serve(server)
  const slug = `m-${++registered}`
  const dialect = extra.dialect ?? 'openai-chat'
  const saved = await send('POST', '/v1/owned-models', {
    slug,
    dialect,
    baseUrl: upstream.url + (dialect === 'anthropic-messages' ? '' : '/v1'),
    upstreamModelId: SERVED,
    credential: KEY,
    pricingInput: 25,
    pricingOutput: 100,
    ...extra,
  })
  expect({ status: saved.status, text: saved.text }).toMatchObject({ status: 201 })
  await send('POST', '/v1/gates', { id: slug, targets: [{ model: `owned/${slug}` }] })
  return { slug, probe: saved.json.probe, warnings: saved.json.warnings }
}

const messages = [{ role: 'user', content: 'Hi' }]
const askMessages = (model: string, more: object = {}) =>
  send('POST', '/v1/messages', { model, max_tokens: 9, messages, ...more })
const countTokens = (model: string) =>
  send('POST', '/v1/messages/count_tokens', { model, messages })
const embed = (model: string) => send('POST', '/v1/embeddings', { model, input: ['a', 'b'] })

describe('a vLLM with a key that is declared to speak Messages', () => {
  test('is found to need a bearer token, and gets one with calls', async () => {
    const { slug, probe, warnings } = await register(vllm, { dialect: 'anthropic-messages' })
    expect({ probe, warnings }).toMatchObject({
      probe: {
        status: 'reachable',
        found: { credentialHeader: 'authorization', countTokens: true },
      },
      warnings: [],
    })
    const { status, text } = await askMessages(slug)
    expect({ status, text }).toEqual({ status: 200, text: MESSAGES_JSON })
    const { headers } = upstream.last()
    expect([headers.authorization, headers['x-api-key']]).toEqual([`Bearer ${KEY}`, undefined])
  })

  test('fails under the configured wrong header, and works again under the right one', async () => {
    const { slug, probe } = await register(vllm, {
      dialect: 'anthropic-messages',
      credentialHeader: 'x-api-key',
    })
    expect(probe).toMatchObject({ status: 'unreachable', httpStatus: 401 })
    expect(await askMessages(slug)).toMatchObject({ status: 502 })
    const { json } = await send('PATCH', `/v1/owned-models/${slug}`, {
      credentialHeader: 'authorization',
    })
    expect(json).toMatchObject({
      credentialHeader: 'authorization',
      probe: { status: 'reachable' },
    })
    expect(await askMessages(slug)).toMatchObject({ status: 200 })
  })

  test('counts tokens itself', async () => {
    const { slug } = await register(vllm, { dialect: 'anthropic-messages' })
    const { json, headers } = await countTokens(slug)
    expect(json).toMatchObject({ input_tokens: 4321 })
    expect(headers.get('x-gatehouse-estimated')).toBeNull()
    expect(upstream.last()).toMatchObject({ path: '/v1/messages/count_tokens' })
    expect(JSON.parse(upstream.last().text)).toEqual({ model: SERVED, messages })
  })

  test('reports an unknown model, and its errors come in Anthropic’s envelope', async () => {
    const { slug, probe } = await register(vllm, {
      dialect: 'anthropic-messages',
      upstreamModelId: 'other',
    })
    const detail = 'The server does not know the model. Check upstreamModelId.'
    expect(probe).toMatchObject({ status: 'unreachable', httpStatus: 404, detail })
    const { status, json } = await askMessages(slug)
    expect({ status, json }).toEqual({
      status: 404,
      json: {
        type: 'error',
        error: { type: 'not_found_error', message: 'The model `other` does not exist.' },
      },
    })
    // The right name is tried at once.
    const changed = await send('PATCH', `/v1/owned-models/${slug}`, { upstreamModelId: SERVED })
    expect(changed.json).toMatchObject({ probe: { status: 'reachable' }, warnings: [] })
  })

  test('with a chat model has no embeddings', async () => {
    const { slug, probe } = await register(vllm)
    expect(probe).toMatchObject({ status: 'reachable', found: { embeddings: false } })
    expect(await embed(slug)).toMatchObject({
      status: 400,
      json: { error: { code: 'provider_mismatch' } },
    })
  })
})

describe('an Ollama', () => {
  test('gives embeddings with its chat model, byte for byte, at the declared price', async () => {
    const { slug, probe } = await register(ollama)
    expect(probe).toMatchObject({ status: 'reachable', found: { embeddings: true } })
    const { status, text, headers } = await embed(slug)
    expect({ status, text }).toEqual({ status: 200, text: VECTORS })
    expect(upstream.last().path).toBe('/v1/embeddings')
    expect(JSON.parse(upstream.last().text)).toEqual({ model: SERVED, input: ['a', 'b'] })
    const id = headers.get('x-request-id')
    const row = await pollUntil('the row of the call', async () => {
      const found = await send('GET', `/v1/logs/${id}`)
      return found.status === 200 ? found.json : undefined
    })
    expect(row).toMatchObject({
      dialect: 'openai-embeddings',
      target: `owned/${slug}`,
      usage: { inputTokens: 4_000_000, outputTokens: 0 },
      cost: { status: 'exact', usd: 1 },
    })
  })

  test('without a counting endpoint has tokens estimated', async () => {
    const { slug, probe } = await register(ollama, { dialect: 'anthropic-messages' })
    expect(probe).toMatchObject({ found: { credentialHeader: 'x-api-key', countTokens: false } })
    const asked = upstream.requests.length
    const { status, headers } = await countTokens(slug)
    expect([status, headers.get('x-gatehouse-estimated')]).toEqual([200, 'true'])
    expect(upstream.requests).toHaveLength(asked)
  })

  test('without the model pulled is reported as not knowing it', async () => {
    const { probe } = await register(ollama, { upstreamModelId: 'llama3' })
    expect(probe).toMatchObject({ detail: expect.stringContaining('does not know the model') })
  })
})

describe('a llama.cpp', () => {
  test('that loads its model is reported as loading, and as reachable later without another request', async () => {
    const { slug, probe, warnings } = await register(llamaCppLoading)
    expect({ probe, warnings }).toMatchObject({
      probe: { status: 'loading', httpStatus: 503, detail: 'The server is loading the model.' },
      warnings: [],
    })
    serve(llamaCpp)
    const ready = await pollUntil('the model', async () => {
      const { json } = await send('GET', `/v1/owned-models/${slug}`)
      return (json.probe as { status: string }).status === 'reachable' ? json : undefined
    })
    expect(ready).toMatchObject({ probe: { httpStatus: 200, found: { embeddings: false } } })
    expect(await embed(slug)).toMatchObject({
      status: 400,
      json: { error: { code: 'provider_mismatch' } },
    })
  })
})

describe('a server for embeddings alone', () => {
  test('is declared as one, gets calls in that dialect, and serves nothing else', async () => {
    const { slug, probe } = await register(embedder, { dialect: 'openai-embeddings' })
    expect(probe).toMatchObject({ status: 'reachable', httpStatus: 200 })
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/embeddings'])
    expect(await embed(slug)).toMatchObject({ status: 200, text: VECTORS })
    const chat = await send('POST', '/v1/chat/completions', { model: slug, messages })
    expect(chat).toMatchObject({ status: 400, json: { error: { code: 'provider_mismatch' } } })
    const { json } = await send('POST', `/v1/gates/${slug}/test`)
    expect(json.results).toMatchObject([{ status: 'ok', dialect: 'openai-embeddings' }])
  })

  test('is unreachable if declared to speak chat', async () => {
    const { probe, warnings } = await register(embedder)
    expect(probe).toMatchObject({ status: 'unreachable', httpStatus: 404 })
    expect(warnings).toMatchObject([{ code: 'probe_failed' }])
  })
})

test('a sign-in page in front of a server does not count as the server', async () => {
  const { slug, probe, warnings } = await register(signInPage)
  const detail = expect.stringContaining('a web page, such as a sign-in page')
  expect(probe).toMatchObject({ status: 'unreachable', httpStatus: 200, detail })
  expect(warnings).toMatchObject([{ code: 'probe_failed', message: detail }])
  // Once somebody has mended that, it is asked again.
  serve(ollama)
  const again = await send('POST', `/v1/owned-models/${slug}/probe`)
  expect(again.json).toMatchObject({ slug, probe: { status: 'reachable' }, warnings: [] })
  expect((await send('GET', '/v1/owned-models?limit=1')).json).toMatchObject({
    data: [{ slug, probe: { status: 'reachable' } }],
  })
})
