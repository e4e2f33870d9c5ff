/**
 * Every endpoint of the data plane through all seven stages: relayed and translated, whole and
 * streamed.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Usage } from '../../src/core/usage.ts'
import { CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { DIALECTS } from '../support/dialect-table.ts'
import { type Envelope, readErrorCode, readMistralError } from '../support/envelopes.ts'
import { CALLER_KEY, InProcessGateway, plantedCredentialOf } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { CHAT, chatBody, GATE, runRow, type UnnamedRow } from '../support/stage-rows.ts'
import { TRANSLATED, TRANSLATED_TEXT } from '../support/translated-samples.ts'
import { WHOLE_ANSWERS } from '../support/whole-answer-samples.ts'

// Loaded beforehand, because scripted time does not wait for files.
beforeAll(() => import('../../src/net/sign-aws.ts'))

const providerOf = (target: string) => target.slice(0, target.indexOf('/'))
const modelOf = (target: string) => target.slice(target.indexOf('/') + 1)

function costOf({ inputTokens, outputTokens }: Usage) {
  return { nanoUsd: inputTokens + 10 * outputTokens, status: 'exact', source: 'scripted' } as const
}

function succeeded(dialect: string, target: string, usage: Usage | null) {
  return {
    gateId: GATE as never,
    dialect,
    target,
    attempts: 1,
    attemptDetails: undefined,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    usage,
    credential: 'platform',
  } as const
}

const ofFields = (inputTokens: number): Usage => ({
  inputTokens,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
})

const ASKED_ONCE = {
  'x-gatehouse-attempts': '1',
  'x-gatehouse-ignored': null,
  'x-gatehouse-skipped': null,
  'x-ratelimit-remaining-requests': '41',
}
const STREAMED = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

describe('relayed to the byte', () => {
  for (const {
    dialect,
    path,
    upstreamPath,
    target,
    fields,
    answer,
    usage,
    keyHeader,
    ...row
  } of DIALECTS) {
    const provider = providerOf(target)
    const credential = plantedCredentialOf(provider)
    const sent = {
      url: `https://${provider}.test/base${provider === 'anthropic' ? upstreamPath : upstreamPath.slice(3)}`,
      headers: {
        authorization: keyHeader === undefined ? `Bearer ${credential}` : null,
        ...(keyHeader === undefined ? {} : { [keyHeader]: credential }),
        'content-type': 'application/json',
        'accept-encoding': 'identity',
      },
      state: 'whole',
      atMs: 0,
    } as const
    const settled = { ...succeeded(dialect, target, usage), cost: costOf(usage) }
    const headers = { ...ASKED_ONCE, 'x-gatehouse-target': target }
    const gateway = { gates: { [GATE]: [target] } }

    test(`${dialect}, whole`, () =>
      runRow({
        gateway,
        request: { path, body: { ...fields, model: GATE } },
        upstream: [json(200, answer, { 'x-should-retry': 'kept' })],
        seen: {
          status: 200,
          text: answer,
          headers: { ...headers, 'content-type': 'application/json', 'x-should-retry': 'kept' },
        },
        sent: [{ ...sent, json: { ...fields, model: modelOf(target) } }],
        settled: { ...settled, stream: false },
        spent: { countsForQuota: true },
      }))

    const events = dialect === 'openai-chat' ? CHAT_STREAM_WITH_USAGE : row.stream
    const text = events.join('')
    const cuts = {
      'an event at a time': events,
      'a byte at a time': Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)),
      'all at once': [text],
    }
    test.each(Object.entries(cuts))(`${dialect}, streamed %s`, (_, pieces) =>
      runRow({
        gateway,
        request: { path, body: { ...fields, model: GATE, stream: true } },
        upstream: [stream(pieces, { headers: { 'x-should-retry': 'kept' } })],
        seen: { status: 200, text, headers: { ...headers, ...STREAMED, 'x-should-retry': 'kept' } },
        sent: [{ ...sent, json: { ...fields, model: modelOf(target), stream: true } }],
        settled: { ...settled, stream: true },
        spent: { countsForQuota: true },
      }),
    )
  }
})

const TARGETS: Readonly<Record<string, string>> = {
  'anthropic-messages': 'anthropic/claude-opus-5',
  'gemini-generate-content': 'gemini/gemini-3-pro',
  'cohere-chat': 'cohere/command-a',
  'mistral-chat': 'mistral/mistral-large-latest',
  'bedrock-converse': 'bedrock/model-1',
  'openai-embeddings': 'openai/model-1',
  'mistral-embeddings': 'mistral/model-1',
  'gemini-embed-contents': 'gemini/model-1',
  'cohere-embed': 'cohere/model-1',
  'anthropic-count-tokens': 'anthropic/model-1',
}

/** Callers whose upstreams speak another dialect: the request, and where the answer's text is. */
const CALLERS = [
  {
    dialect: 'openai-chat',
    path: CHAT,
    body: chatBody(),
    whole: { object: 'chat.completion', choices: [{ message: { content: TRANSLATED_TEXT } }] },
    last: 'data: [DONE]\n\n',
  },
  {
    dialect: 'anthropic-messages',
    path: '/v1/messages',
    body: chatBody({ max_tokens: 99 }),
    whole: { type: 'message', content: [{ type: 'text', text: TRANSLATED_TEXT }] },
    last: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
  {
    dialect: 'gatehouse-chat',
    path: '/v3/chat',
    body: { gate_id: GATE, messages: [{ role: 'user', content: 'hi' }] },
    whole: { object: 'chat', gate_id: GATE, content: TRANSLATED_TEXT },
    last: '}\n\n',
  },
] as const

describe('translated', () => {
  for (const caller of CALLERS)
    for (const upstream of TRANSLATED) {
      if (caller.dialect === upstream.dialect) continue
      const target = TARGETS[upstream.dialect] ?? ''
      const row = {
        gateway: { gates: { [GATE]: [target] } },
        settled: {
          ...succeeded(caller.dialect, target, upstream.usage),
          cost: costOf(upstream.usage),
        },
      }
      const headers = { ...ASKED_ONCE, 'x-gatehouse-target': target }
      const url = expect.stringMatching(new RegExp(`^https://${providerOf(target)}\\.test/base/`))

      test(`${caller.dialect} to ${upstream.dialect}, whole`, () =>
        runRow({
          ...row,
          request: { path: caller.path, body: caller.body },
          upstream: [json(200, upstream.answer, { 'x-upstream': 'not ours' })],
          seen: {
            status: 200,
            json: caller.whole,
            headers: { ...headers, 'content-type': 'application/json', 'x-upstream': null },
          },
          sent: [{ url, state: 'whole' }],
        }))

      test(`${caller.dialect} to ${upstream.dialect}, streamed`, async () => {
        const headersOfStream = { ...upstream.streamHeaders, 'x-upstream': 'not ours' }
        const asked: UnnamedRow = {
          ...row,
          request: { path: caller.path, body: { ...caller.body, stream: true } },
          upstream: [stream(upstream.stream, { headers: headersOfStream })],
          seen: {
            status: 200,
            contains: [TRANSLATED_TEXT],
            headers: { ...headers, ...STREAMED, 'x-upstream': null },
          },
          sent: [{ url, state: 'whole' }],
          settled: { ...row.settled, stream: true },
          check: (_, { text }) => expect(text).toEndWith(caller.last),
        }
        await runRow(asked)
        const bytes = upstream.stream.flatMap((event) =>
          Array.from(Buffer.from(event), (byte) => Uint8Array.of(byte)),
        )
        await runRow({ ...asked, upstream: [stream(bytes, { headers: headersOfStream })] })
      })
    }
})

describe('without streams', () => {
  for (const { dialect, path, fields, answer, seen, usage } of WHOLE_ANSWERS) {
    const target = TARGETS[dialect] ?? ''
    const caller = path === '/v1/embeddings' ? 'openai-embeddings' : 'anthropic-count-tokens'
    test(`${caller} to ${dialect}`, () =>
      runRow({
        gateway: { gates: { [GATE]: [target] } },
        request: { path, body: { ...fields, model: GATE } },
        upstream: [json(200, answer)],
        seen: {
          status: 200,
          headers: { ...ASKED_ONCE, 'x-gatehouse-target': target },
          ...(seen === undefined ? { text: answer } : { json: seen as object }),
        },
        sent: [{ state: 'whole' }],
        settled: {
          ...succeeded(caller, target, usage === 'estimated' ? ofFields(10) : usage),
          stream: false,
        },
      }))
  }

  test('tokens are estimated if no target counts them, without an attempt', () =>
    runRow({
      request: { path: '/v1/messages/count_tokens', body: chatBody() },
      seen: {
        status: 200,
        text: '{"input_tokens":5}',
        headers: { 'x-gatehouse-estimated': 'true', 'x-gatehouse-target': null },
      },
      settled: {
        outcome: 'succeeded',
        status: 200,
        target: null,
        attempts: 0,
        usage: null,
        credential: null,
      },
      spent: { tokens: 0, countsForQuota: true },
    }))
})

describe('/v1/models', () => {
  const scene = () =>
    new InProcessGateway({
      gates: { one: ['openai/gpt-4o'], two: ['mistral/large'] },
      hasNoPrices: true,
    })
  const model = (id: string) => ({
    id,
    object: 'model',
    created: 1_780_000_000,
    owned_by: 'gatehouse',
    name: id,
  })

  test('lists the gates of the account, and names each alone', async () => {
    const gateway = scene()
    const list = await gateway.ask({ path: '/v1/models', method: 'GET' })
    expect(JSON.parse(list.text)).toEqual({ object: 'list', data: [model('one'), model('two')] })
    expect(list.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^req_/),
    })
    const one = await gateway.ask({ path: '/v1/models/one', method: 'GET' })
    expect(JSON.parse(one.text)).toEqual(model('one'))
    expect(gateway.touched).toEqual(['key_caller', 'key_caller'])
    expect(gateway.ledger.records).toEqual([])
  })

  test('refuses a limit beyond what the document says, in OpenAI’s format too', async () => {
    const gateway = scene()
    const ask = async (query: string) =>
      (await gateway.ask({ path: `/v1/models?${query}`, method: 'GET' })).status
    expect(await Promise.all(['limit=1', 'limit=1000', 'after=x'].map(ask))).toEqual([
      200, 200, 200,
    ])
    expect(await Promise.all(['limit=1001', 'limit=0'].map(ask))).toEqual([400, 400])
  })

  test('is in Anthropic’s format for its clients, page by page, with the key in its header', async () => {
    const gateway = scene()
    const headers = {
      authorization: null,
      'x-api-key': CALLER_KEY,
      'anthropic-version': '2023-06-01',
    }
    const ask = async (path: string) => {
      const { status, text, headers: seen } = await gateway.ask({ path, method: 'GET', headers })
      expect(seen['request-id']).toBe(seen['x-request-id'] ?? '')
      return { status, json: JSON.parse(text) }
    }
    const info = (id: string) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: '2026-05-28T20:26:40.000Z',
    })
    const all = (await ask('/v1/models')).json
    expect(all).toMatchObject({
      data: [info('one'), info('two')],
      has_more: false,
      first_id: 'one',
      last_id: 'two',
    })
    expect((await ask('/v1/models/two')).json).toEqual(all.data[1])
    const page = (data: object[], has_more: boolean, id: string | null) => ({
      data,
      has_more,
      first_id: id,
      last_id: id,
    })
    for (const [query, expected] of [
      ['limit=1', page([all.data[0]], true, 'one')],
      ['limit=1&after_id=one', page([all.data[1]], false, 'two')],
      ['after_id=two', page([], false, null)],
      ['limit=1&before_id=two', page([all.data[0]], false, 'one')],
      ['before_id=one', page([], false, null)],
    ] as const)
      expect({ query, ...(await ask(`/v1/models?${query}`)).json }).toEqual({ query, ...expected })
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=',
      'limit=1.5',
      'after_id=three',
      'before_id=',
    ])
      expect((await ask(`/v1/models?${query}`)).status).toBe(400)
    expect((await ask('/v1/models/three')).json).toMatchObject({
      error: { type: 'not_found_error' },
    })
  })

  test('accepts the key from x-api-key for OpenAI’s shape too', async () => {
    const headers = { authorization: null, 'x-api-key': CALLER_KEY }
    const seen = await scene().ask({ path: '/v1/models/one', method: 'GET', headers })
    expect(JSON.parse(seen.text)).toEqual(model('one'))
  })

  test('is in Mistral’s format under /alt, with the calls that each gate accepts', async () => {
    const gateway = scene()
    const card = (id: string, takes: boolean) => ({
      ...model(id),
      type: 'base',
      description: '',
      aliases: [],
      capabilities: { completion_chat: takes, completion_fim: takes, function_calling: takes },
    })
    const list = await gateway.ask({ path: '/alt/v1/models', method: 'GET' })
    expect(JSON.parse(list.text)).toEqual({
      object: 'list',
      data: [card('one', false), card('two', true)],
    })
    const two = await gateway.ask({ path: '/alt/v1/models/two', method: 'GET' })
    expect(JSON.parse(two.text)).toEqual(card('two', true))
    const three = await gateway.ask({ path: '/alt/v1/models/three', method: 'GET' })
    expect(readMistralError(three.text)).toMatchObject({
      error: 'gate_not_found',
      code: 'model_not_found',
    })
  })

  test.each([
    ['/v1/models/three', {}, 404, 'model_not_found'],
    ['/v1/models/%E0%A4', {}, 404, 'model_not_found'],
    ['/v1/models', { authorization: null }, 401, 'invalid_api_key'],
    ['/v1/models/one', { authorization: 'Bearer no-key' }, 401, 'invalid_api_key'],
  ])('GET %s with %j is %d', async (path, headers, status, code) => {
    const seen = await scene().ask({ path, method: 'GET', headers })
    expect(seen.status).toBe(status)
    expect(readErrorCode('nested', seen.text)).toBe(code)
  })

  test('answers HEAD too, and an internal fault does not pass for a refusal', async () => {
    const gateway = scene()
    for (const path of ['/v1/models', '/v1/models/one'])
      expect((await gateway.ask({ path, method: 'HEAD' })).status).toBe(200)
    const freshness = {
      isFresh: () => false,
      refresh: () => Promise.reject(new Error('a fault')),
      assertKnown: () => {},
    }
    const faulty = new InProcessGateway({ gates: {}, freshness })
    expect(faulty.ask({ path: '/v1/models', method: 'GET' })).rejects.toThrow('a fault')
  })
})

describe('another method than the door has', () => {
  const doors: readonly (readonly [string, Envelope, string, readonly string[]])[] = [
    ['/v1/models', 'nested', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/v1/models/one', 'nested', 'GET, HEAD', ['POST', 'DELETE']],
    ...(
      [
        ['/v1/responses', 'nested'],
        ['/v1/chat/completions', 'nested'],
        ['/v1/embeddings', 'nested'],
        ['/v1/messages', 'messages'],
        ['/v1/messages/count_tokens', 'messages'],
        ['/v3/chat', 'flat'],
        ['/alt/v1/fim/completions', 'flat'],
        ['/alt/v1/chat/completions', 'flat'],
      ] as const
    ).map(
      ([path, envelope]) => [path, envelope, 'POST', ['GET', 'HEAD', 'PUT', 'DELETE']] as const,
    ),
  ]
  const scene = () => new InProcessGateway({ gates: { one: ['openai/gpt-4o'] } })
  const codes = {
    nested: 'method_not_allowed',
    flat: 'method_not_allowed',
    messages: 'invalid_request_error',
  }

  test.each(doors)(
    '%s lists the allowed ones, in its own envelope',
    async (path, envelope, allow, methods) => {
      for (const method of methods) {
        const seen = await scene().ask({ path, method })
        expect({ method, status: seen.status, allow: seen.headers.allow }).toEqual({
          method,
          status: 405,
          allow,
        })
        const id = seen.headers['x-request-id'] ?? ''
        expect(id).toMatch(/^req_/)
        expect(seen.headers['request-id'] ?? '').toBe(envelope === 'messages' ? id : '')
        expect(readErrorCode(envelope, seen.text)).toBe(codes[envelope])
        expect(seen.text).toContain(`${method} is not allowed on this path: use ${allow}.`)
      }
    },
  )

  test.each(doors)('%s and an upgrade to a WebSocket', async (path, envelope, allow) => {
    for (const upgrade of ['websocket', 'WebSocket']) {
      const seen = await scene().ask({ path, method: 'GET', headers: { upgrade } })
      if (allow !== 'POST') {
        expect(seen.status).toBe(200)
        continue
      }
      expect(seen.status).toBe(426)
      expect(seen.headers.upgrade).toBe('HTTP/1.1')
      expect(seen.headers).not.toHaveProperty('allow')
      expect(readErrorCode(envelope, seen.text)).toBe(
        envelope === 'messages' ? 'invalid_request_error' : 'upgrade_not_supported',
      )
    }
    const other = await scene().ask({ path, method: 'PUT', headers: { upgrade: 'h2c' } })
    expect(other.status).toBe(405)
  })
})
