import { describe, expect, test } from 'bun:test'
import { ScriptedClock } from '../../../test/support/scripted-clock.ts'
import {
  json,
  type Script,
  ScriptedUpstream,
  UNREACHABLE,
} from '../../../test/support/scripted-upstream.ts'
import type { FimEndpoint, OwnedModel } from '../../core/owned-model.ts'
import { Secret } from '../../core/secret.ts'
import { Deadlines } from '../../net/deadlines.ts'
import { toOwnedUpstream } from '../plan/owned-upstream.ts'
import { probeOwnedModel } from './probe-owned-model.ts'

async function probe(scripts: readonly Script[], set: Partial<OwnedModel> = {}) {
  const clock = new ScriptedClock()
  const deadlines = new Deadlines(clock)
  const upstream = new ScriptedUpstream(clock, deadlines, scripts)
  const model = {
    slug: 'coder',
    dialect: 'mistral-fim',
    baseUrl: 'http://coder.test/v1',
    upstreamModelId: 'qwen2.5-coder:7b-base',
    credentialHeader: 'auto',
    fimEndpoint: 'auto',
    fimTemplate: 'auto',
    probe: null,
    ...set,
  } as OwnedModel
  const owned = toOwnedUpstream(model, {
    secret: new Secret('planted-key-0123456789'),
    owner: 'account',
  })
  const addresses = { resolve: async () => ['203.0.113.7'] }
  const { signal } = new AbortController()
  const ports = { clock, upstream, addresses }
  const result = await clock.finish(
    probeOwnedModel(ports, model, owned, { timeoutMs: 3_000, signal }),
  )
  expect(upstream.unusedScripts).toBe(0)
  expect(deadlines.size).toBe(0)
  const { sent } = upstream
  return { result, asked: sent.map(({ url }) => url.slice('http://coder.test'.length)), sent }
}

const MIDDLE = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'length' }],
}
const infilled = json(200, { content: 'x', stop: true, tokens_evaluated: 9, tokens_predicted: 1 })
const completed = (prompt_tokens?: number) =>
  json(200, {
    object: 'text_completion',
    choices: [{ index: 0, text: 'x', finish_reason: 'length' }],
    ...(prompt_tokens === undefined ? {} : { usage: { prompt_tokens, completion_tokens: 1 } }),
  })
const LLAMA_404 = json(404, {
  error: { code: 404, message: 'File Not Found', type: 'not_found_error' },
})
const FASTAPI_404 = json(404, { detail: 'Not Found' })
const GIN_404 = json(404, '404 page not found', { 'content-type': 'text/plain' })
const NO_SUFFIX = json(400, {
  error: {
    message: 'suffix is not currently supported',
    type: 'BadRequestError',
    param: null,
    code: 400,
  },
})
const NO_INSERT = json(400, {
  error: {
    message: 'registry.ollama.ai/library/llama3:latest does not support insert',
    type: 'api_error',
  },
})
const NO_INFILL = json(501, {
  error: {
    code: 501,
    message: 'Infill is not supported by this model',
    type: 'not_supported_error',
  },
})
const NO_MODEL = json(404, {
  error: {
    message: 'The model `m` does not exist.',
    type: 'NotFoundError',
    param: null,
    code: 404,
  },
})

describe('the first form that a server has is found', () => {
  test.each<[string, readonly Script[], FimEndpoint, readonly string[]]>([
    ['a copy of Mistral’s', [json(200, MIDDLE)], 'fim-completions', ['/v1/fim/completions']],
    ['llama.cpp', [LLAMA_404, infilled], 'infill', ['/v1/fim/completions', '/infill']],
    [
      'Ollama',
      [GIN_404, GIN_404, completed(64)],
      'completions-suffix',
      ['/v1/fim/completions', '/infill', '/v1/completions'],
    ],
    [
      'vLLM, which refuses every suffix',
      [FASTAPI_404, FASTAPI_404, NO_SUFFIX, completed(9)],
      'completions-template',
      ['/v1/fim/completions', '/infill', '/v1/completions', '/v1/completions'],
    ],
    [
      'one that takes a suffix and passes over it',
      [FASTAPI_404, FASTAPI_404, completed(12), completed(9)],
      'completions-template',
      ['/v1/fim/completions', '/infill', '/v1/completions', '/v1/completions'],
    ],
    [
      'one that does not report what it read of a suffix',
      [FASTAPI_404, FASTAPI_404, completed(), completed()],
      'completions-template',
      ['/v1/fim/completions', '/infill', '/v1/completions', '/v1/completions'],
    ],
    [
      'llama.cpp with a model whose file does not name its tokens',
      [LLAMA_404, NO_INFILL, completed(12), completed(9)],
      'completions-template',
      ['/v1/fim/completions', '/infill', '/v1/completions', '/v1/completions'],
    ],
  ])('%s', async (_, scripts, fimEndpoint, paths) => {
    const { result, asked } = await probe(scripts)
    expect(result).toEqual({
      status: 'reachable',
      httpStatus: 200,
      latencyMs: 0,
      found: { fimEndpoint },
    })
    expect(asked).toEqual([...paths])
  })

  test('by questions of one token, in the form in which calls ask', async () => {
    const { sent } = await probe([FASTAPI_404, FASTAPI_404, NO_SUFFIX, completed(9)])
    const [mistral, infill, suffix, template] = sent.map(({ body }) => JSON.parse(body))
    const model = 'qwen2.5-coder:7b-base'
    expect(mistral).toEqual({ model, prompt: 'a', suffix: 'b', max_tokens: 1 })
    expect(infill).toEqual({ model, input_prefix: 'a', input_suffix: 'b', n_predict: 1 })
    expect(suffix).toEqual({
      model,
      prompt: expect.stringMatching(/^# [0-9a-f-]{36}\n$/),
      suffix: expect.stringMatching(/^x0 .* x39$/),
      max_tokens: 1,
    })
    expect(template).toMatchObject({
      prompt: '<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>',
      max_tokens: 1,
    })
    for (const { headers } of sent)
      expect(headers.authorization).toBe('Bearer planted-key-0123456789')
  })

  test('an address without a version, or with more before it, is the same server', async () => {
    for (const [baseUrl, infill] of [
      ['http://coder.test', '/infill'],
      ['http://coder.test/llm/v1', '/llm/infill'],
      ['http://coder.test/llm/v1beta', '/llm/v1beta/infill'],
    ] as const) {
      const { asked } = await probe([LLAMA_404, infilled], { baseUrl })
      expect(asked.at(-1)).toBe(infill)
    }
  })

  test('by the model’s tokens only if its tokens are known', async () => {
    const scripts = [FASTAPI_404, FASTAPI_404, NO_SUFFIX]
    const { result } = await probe(scripts, { upstreamModelId: 'my-model' })
    expect(result).toMatchObject({ status: 'unreachable', httpStatus: 400 })
    const probed = await probe([...scripts, completed(9)], {
      upstreamModelId: 'my-model',
      fimTemplate: 'starcoder2',
    })
    expect(probed.result).toMatchObject({ found: { fimEndpoint: 'completions-template' } })
    expect(JSON.parse(probed.sent.at(-1)?.body ?? '').prompt).toBe(
      '<fim_prefix>a<fim_suffix>b<fim_middle>',
    )
  })
})

describe('an error says why no form was found', () => {
  test.each<[string, readonly Script[], number, RegExp]>([
    ['nothing is there', [GIN_404, GIN_404, GIN_404, GIN_404], 404, /none of \/fim\/completions/],
    [
      'the server has the address and not the model',
      [FASTAPI_404, FASTAPI_404, NO_MODEL, NO_MODEL],
      404,
      /does not know the model/,
    ],
    [
      'a sign-in page stands before it',
      Array.from({ length: 4 }, () => json(200, '<html>', { 'content-type': 'text/html' })),
      200,
      /web page/,
    ],
    [
      'the server fails',
      [GIN_404, GIN_404, json(500, { error: 'x' }), json(500, { error: 'x' })],
      500,
      /failed/,
    ],
  ])('%s', async (_, scripts, httpStatus, detail) => {
    const { result } = await probe(scripts)
    expect(result).toMatchObject({
      status: 'unreachable',
      httpStatus,
      detail: expect.stringMatching(detail),
    })
    expect(result).not.toHaveProperty('found')
  })

  test('a model that fills in nothing is unreachable, even behind a polite refusal', async () => {
    const { result } = await probe([GIN_404, GIN_404, NO_INSERT], { upstreamModelId: 'llama3' })
    expect(result?.status).toBe('unreachable')
  })

  test.each([
    ['the credential is refused', [json(401, { error: 'Unauthorized' })]],
    ['no answer comes', [UNREACHABLE, UNREACHABLE, UNREACHABLE]],
  ])('%s: the probe ends', async (_, scripts) => {
    const { result, asked } = await probe(scripts)
    expect(result?.status).toBe('unreachable')
    expect(new Set(asked)).toEqual(new Set(['/v1/fim/completions']))
  })

  test('an exhausted limit shows only that there is a server', async () => {
    const { result } = await probe([json(429, { error: { message: 'slow down' } })])
    expect(result).toMatchObject({ status: 'reachable', httpStatus: 429 })
    expect(result).not.toHaveProperty('found')
  })

  test('a model that is still loading is probed again', async () => {
    const loading = json(503, {
      error: { code: 503, message: 'Loading model', type: 'unavailable_error' },
    })
    const { result, asked } = await probe([loading, LLAMA_404, infilled])
    expect(result).toMatchObject({ status: 'reachable', found: { fimEndpoint: 'infill' } })
    expect(asked).toEqual(['/v1/fim/completions', '/v1/fim/completions', '/infill'])
  })
})

test('a configured form is probed alone, and no other is found', async () => {
  const { result, asked } = await probe([infilled], { fimEndpoint: 'infill' })
  expect(result).toEqual({ status: 'reachable', httpStatus: 200, latencyMs: 0 })
  expect(asked).toEqual(['/infill'])
  const wrong = await probe([GIN_404], { fimEndpoint: 'completions-suffix' })
  expect(wrong.result).toMatchObject({ status: 'unreachable', httpStatus: 404 })
})
