/**
 * Fill-in-the-middle at a server of one's own over the whole gateway in this process: registered,
 * found out, called, set by hand. The servers are played over real HTTP, at the paths that each of
 * them has.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pollUntil } from '../../test/support/poll-until.ts'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const key = generateApiKey().reveal()
const TEXT = 'return a + b'

type Body = Readonly<Record<string, unknown>>
type Serve = (path: string, body: Body) => Response

/** Path → answer, of what each server has; anything else is its own 404. */
const llamaServer: Serve = (path, body) =>
  path !== '/infill' || typeof body.input_prefix !== 'string'
    ? Response.json(
        { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } },
        { status: 404 },
      )
    : Response.json({
        content: TEXT,
        stop: true,
        stop_type: 'eos',
        tokens_evaluated: 9,
        tokens_predicted: 5,
      })
const completion = (prompt_tokens: number) =>
  Response.json({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, text: TEXT, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 },
  })
const words = (text: unknown) => String(text ?? '').split(' ').length
const ollama: Serve = (path, body) =>
  path === '/v1/completions'
    ? completion(words(body.prompt) + words(body.suffix))
    : new Response('404 page not found', { status: 404 })
const vllm: Serve = (path, body) => {
  if (path !== '/v1/completions') return Response.json({ detail: 'Not Found' }, { status: 404 })
  if (!('suffix' in body)) return completion(words(body.prompt))
  const error = {
    message: 'suffix is not currently supported',
    type: 'BadRequestError',
    param: null,
    code: 400,
  }
  return Response.json({ error }, { status: 400 })
}

let folder: string
let gatehouse: Gatehouse
let serve: Serve
let asked: { readonly path: string; readonly body: Body }[]
let server: ReturnType<typeof startServer>

function startServer() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const body = (await request.json()) as Body
      asked.push({ path, body })
      return serve(path, body)
    },
  })
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-fim-'))
  asked = []
  server = startServer()
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
  })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  await gatehouse.keys.import({ accountId: DEFAULT_ACCOUNT, name: 'test', key: new Secret(key) })
})
afterEach(async () => {
  await gatehouse.close()
  await server.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

interface Answer extends Body {
  readonly probe: { readonly status: string }
  readonly data: unknown
}

async function send(method: string, path: string, body?: object) {
  const response = await gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, json: (await response.json()) as Answer }
}

async function register(extra: object = {}) {
  const created = await send('POST', '/v1/owned-models', {
    slug: 'coder',
    dialect: 'mistral-fim',
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    upstreamModelId: 'qwen2.5-coder:7b-base',
    credential: 'any',
    pricingInput: 10,
    pricingOutput: 30,
    ...extra,
  })
  expect(created.status).toBe(201)
  const targets = [{ model: 'owned/coder' }]
  await gatehouse.gates.create(DEFAULT_ACCOUNT, {
    id: 'code' as GateId,
    description: '',
    targets,
    timeoutMs: null,
    maxRetries: 0,
  })
  return whenChecked()
}

async function whenChecked(): Promise<Body> {
  return await pollUntil('what the probe found', async () => {
    const { json } = await send('GET', '/v1/owned-models/coder')
    return json.probe.status === 'checking' ? undefined : json
  })
}

const complete = () =>
  send('POST', '/alt/v1/fim/completions', {
    model: 'code',
    prompt: 'def f(a, b):\n ',
    suffix: '\n',
  })

const served = (content = TEXT) => ({ status: 200, json: { choices: [{ message: { content } }] } })

describe('the server of a registered model is detected and stored, and calls use its form', () => {
  test.each<[string, Serve, string, object]>([
    [
      'llama.cpp',
      llamaServer,
      'infill',
      { path: '/infill', body: { input_prefix: 'def f(a, b):\n ' } },
    ],
    ['Ollama', ollama, 'completions-suffix', { path: '/v1/completions', body: { suffix: '\n' } }],
    [
      'vLLM',
      vllm,
      'completions-template',
      {
        path: '/v1/completions',
        body: { prompt: '<|fim_prefix|>def f(a, b):\n <|fim_suffix|>\n<|fim_middle|>' },
      },
    ],
  ])('%s', async (_, like, fimEndpoint, sent) => {
    serve = like
    const model = await register()
    expect(model).toMatchObject({
      fimEndpoint: 'auto',
      probe: { status: 'reachable', found: { fimEndpoint } },
    })
    expect(await complete()).toMatchObject(served())
    expect(asked.at(-1)).toMatchObject(sent)
    const test = await send('POST', '/v1/gates/code/test')
    expect(test.json).toMatchObject({ results: [{ status: 'ok', dialect: 'mistral-fim' }] })
    const models = await send('GET', '/alt/v1/models')
    expect(models.json.data).toMatchObject([{ id: 'code', capabilities: { completion_fim: true } }])
  })
})

test('a configured form overrides the detected one, and is probed at once', async () => {
  serve = vllm
  await register()
  const set = await send('PATCH', '/v1/owned-models/coder', { fimTemplate: 'starcoder2' })
  expect(set).toMatchObject({ status: 200, json: { fimTemplate: 'starcoder2' } })
  await whenChecked()
  expect(await complete()).toMatchObject(served())
  expect(asked.at(-1)?.body.prompt).toBe('<fim_prefix>def f(a, b):\n <fim_suffix>\n<fim_middle>')
  serve = llamaServer
  await send('PATCH', '/v1/owned-models/coder', { fimEndpoint: 'infill' })
  expect(await whenChecked()).toMatchObject({
    fimEndpoint: 'infill',
    probe: { status: 'reachable' },
  })
  expect(await complete()).toMatchObject(served())
  expect(asked.at(-1)?.path).toBe('/infill')
})

test('another server at the same address is detected by a new probe', async () => {
  serve = ollama
  await register()
  serve = llamaServer
  expect((await complete()).status).toBe(404)
  await send('POST', '/v1/owned-models/coder/probe')
  await whenChecked()
  expect(await complete()).toMatchObject(served())
})

test('a server with Mistral’s own path gets relayed calls', async () => {
  serve = (path) =>
    path === '/v1/fim/completions'
      ? Response.json({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [
            { index: 0, message: { role: 'assistant', content: 'mid' }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        })
      : new Response('', { status: 404 })
  expect(await register()).toMatchObject({ probe: { found: { fimEndpoint: 'fim-completions' } } })
  expect(await complete()).toMatchObject(served('mid'))
  expect(asked.at(-1)?.path).toBe('/v1/fim/completions')
})
