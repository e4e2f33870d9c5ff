/**
 * Stage 5, one attempt: the request, the deadlines, what counts as an answer, and the text of a
 * refusal.
 */
import { describe, expect, test } from 'bun:test'
import { Secret } from '../../src/core/secret.ts'
import type { CallObserver, CallTrace } from '../../src/gateway/call-observer.ts'
import { toOwnedUpstream } from '../../src/gateway/plan/owned-upstream.ts'
import { AddressRefusedError } from '../../src/net/address-guard.ts'
import { UpstreamFailure } from '../../src/net/upstream-failure.ts'
import { CHAT_JSON, CHAT_STREAM_WITH_USAGE, MESSAGES_JSON } from '../support/dialect-samples.ts'
import {
  CALLER,
  CALLER_KEY,
  type GatewayScript,
  InProcessGateway,
  plantedCredentialOf,
} from '../support/in-process-gateway.ts'
import {
  CUT,
  head,
  json,
  piece,
  type Script,
  SILENCE,
  stream,
  UNREACHABLE,
} from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  chatBody,
  GATE,
  runRow,
  runRows,
  type StageRow,
  TARGET,
  type UnnamedRow,
} from '../support/stage-rows.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const succeeded = { outcome: 'succeeded', status: 200 } as const
const passed = { upstream: [CHAT_ANSWER], seen: { status: 200 }, settled: succeeded }
const CLAUDE = 'anthropic/claude-opus-5'
const messages = { path: '/v1/messages', body: chatBody({ max_tokens: 9 }) }

describe('headers', () => {
  test('of the provider are sent; the caller may replace some, and not the fixed ones', async () => {
    const provider = {
      ...{ id: 'owned/mine', name: 'Mine', baseUrl: 'https://models.example/v1' },
      endpoints: { 'openai-chat': { path: '/chat/completions' } },
      headers: { 'x-version': 'first', 'openai-beta': 'provider' },
      fixedHeaders: { 'x-team': 'gateway' },
    }
    const credential = { secret: new Secret('planted-owned'), owner: 'account' } as const
    const row: UnnamedRow = {
      gateway: {
        gates: { [GATE]: ['owned/mine'] },
        ownedModels: [{ slug: 'mine', provider, model: 'm', credential }],
      },
      ...passed,
    }
    const sent = { 'x-version': 'first', 'openai-beta': 'provider', 'x-team': 'gateway' }
    await runRow({ ...row, sent: [{ headers: sent }] })
    await runRow({
      ...row,
      request: { headers: { 'openai-beta': 'client', 'x-team': 'client' } },
      sent: [{ headers: { ...sent, 'openai-beta': 'client' } }],
    })
  })

  runRows([
    {
      name: 'of the caller pass, but for what is ours, its own, or opens something',
      request: {
        headers: {
          'x-custom': 'dropped',
          'x-session-id': 'kept',
          'openai-beta': 'assistants=v2',
          'user-agent': 'client/1',
          accept: 'application/json',
          cookie: 'a=1',
          'x-api-key': 'k',
          'openai-organization': 'org',
          'x-gatehouse-strict': 'true',
          'x-forwarded-for': '10.0.0.1',
          'accept-encoding': 'gzip',
          connection: 'x-hop',
          'x-hop': '1',
        },
      },
      ...passed,
      sent: [
        {
          headers: {
            'x-custom': null,
            'x-session-id': 'kept',
            'openai-beta': 'assistants=v2',
            'user-agent': 'client/1',
            accept: 'application/json',
            authorization: `Bearer ${plantedCredentialOf('openai')}`,
            'content-type': 'application/json',
            'accept-encoding': 'identity',
            cookie: null,
            'x-api-key': null,
            'openai-organization': null,
            'x-gatehouse-strict': null,
            'x-forwarded-for': null,
            connection: null,
            'x-hop': null,
            'content-length': null,
          },
        },
      ],
    },
    {
      name: 'of the caller do not pass to a target of another dialect',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: {
        headers: {
          'x-custom': 'dropped',
          'user-agent': 'client/1',
          traceparent: TRACE,
          tracestate: 'a=b',
        },
      },
      upstream: [json(200, MESSAGES_JSON)],
      seen: { status: 200 },
      sent: [
        {
          headers: {
            'x-custom': null,
            'user-agent': null,
            authorization: null,
            'x-api-key': plantedCredentialOf('anthropic'),
            'anthropic-version': '2023-06-01',
            traceparent: TRACE,
            tracestate: 'a=b',
          },
        },
      ],
      settled: succeeded,
    },
    {
      name: 'of the provider are added, and the caller’s own version counts',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: { ...messages, headers: { 'anthropic-version': '2024-10-22' } },
      upstream: [json(200, MESSAGES_JSON)],
      seen: { status: 200, text: MESSAGES_JSON },
      sent: [{ headers: { 'anthropic-version': '2024-10-22' } }],
      settled: succeeded,
    },
  ])
})

describe('a trace', () => {
  const observer = (trace: CallTrace): CallObserver => ({
    begin: () => trace,
    finish: () => {},
    refuse: () => {},
  })

  test('goes on with each attempt, in place of the caller’s', () => {
    let spans = 0
    const trace: CallTrace = {
      traceId: 'f'.repeat(32),
      beginAttempt() {
        spans += 1
        return { spanId: String(spans).repeat(16), headers: { traceparent: `span-${spans}` } }
      },
    }
    return runRow({
      gateway: { gates: { [GATE]: [TARGET, 'groq/other'] }, observer: observer(trace) },
      request: { headers: { traceparent: TRACE, tracestate: 'a=b' } },
      upstream: [UNREACHABLE, CHAT_ANSWER],
      seen: { status: 200 },
      sent: [
        { headers: { traceparent: 'span-1', tracestate: null } },
        { headers: { traceparent: 'span-2', tracestate: null } },
      ],
      settled: { attempts: 2 },
    })
  })

  test('of the caller passes if the gateway has no tracing', () =>
    runRow({
      request: { headers: { traceparent: TRACE, tracestate: 'a=b' } },
      ...passed,
      sent: [{ headers: { traceparent: TRACE, tracestate: 'a=b' } }],
    }))
})

describe('deadlines', () => {
  const timeouts = { connectMs: 1, firstByteMs: 2, idleMs: 3, totalMs: 4_000 }
  runRows([
    {
      name: 'are the server’s',
      gateway: { timeouts },
      ...passed,
      sent: [{ timeouts }],
    },
    {
      name: 'are the gate’s total if it has one',
      gateway: { timeouts, gates: { [GATE]: { targets: [{ model: TARGET }], timeoutMs: 90_000 } } },
      ...passed,
      sent: [{ timeouts: { ...timeouts, totalMs: 90_000 } }],
    },
  ])
})

describe('a customer’s address', () => {
  const mine = toOwnedUpstream(
    {
      accountId: CALLER.accountId,
      slug: 'mine',
      dialect: 'openai-chat',
      baseUrl: 'https://models.example/v1',
      upstreamModelId: 'llama-7b',
    } as Parameters<typeof toOwnedUpstream>[0],
    { secret: new Secret('planted-owned'), owner: 'account' },
  )
  const avoided: string[] = []
  const gateway = (resolve: GatewayScript['addresses']) => ({
    gates: { [GATE]: ['owned/mine', TARGET] },
    ownedModels: [mine],
    addresses: { avoid: (url: string) => void avoided.push(url), ...resolve },
  })
  const located = { resolve: async () => ['192.0.2.7', '192.0.2.8'] }

  runRows([
    {
      name: 'is connected as it was checked, under its own name',
      gateway: gateway(located),
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': 'owned/mine' } },
      sent: [
        {
          url: 'https://models.example/v1/chat/completions',
          addresses: ['192.0.2.7', '192.0.2.8'],
          json: { model: 'llama-7b' },
        },
      ],
      settled: { target: 'owned/mine' },
      check: () => expect(avoided.splice(0)).toEqual([]),
    },
    {
      name: 'that cannot be reached is avoided, and the next target is tried',
      gateway: gateway(located),
      upstream: [UNREACHABLE, CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': TARGET } },
      sent: [{}, { url: 'https://openai.test/base/chat/completions' }],
      settled: { attempts: 2, target: TARGET },
      check: () =>
        expect(avoided.splice(0)).toEqual(['https://models.example/v1/chat/completions']),
    },
    {
      name: 'that is not allowed is never connected or tried again, and the next target is',
      gateway: {
        ...gateway({ resolve: () => Promise.reject(new AddressRefusedError('It is private.')) }),
        gates: { [GATE]: { targets: [{ model: 'owned/mine' }, { model: TARGET }], maxRetries: 2 } },
      },
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': TARGET, 'x-gatehouse-attempts': '2' } },
      sent: [{ url: 'https://openai.test/base/chat/completions' }],
      settled: {
        attempts: 2,
        attemptDetails: [{ target: 'owned/mine', status: null }, { target: TARGET }] as never,
      },
      tookMs: 0,
      check: () => expect(avoided.splice(0)).toEqual([]),
    },
    {
      name: 'that is not allowed fails the call with that reason if it is the only one',
      gateway: {
        ...gateway({ resolve: () => Promise.reject(new AddressRefusedError('It is private.')) }),
        gates: { [GATE]: ['owned/mine'] },
      },
      seen: {
        status: 502,
        json: {
          error: {
            code: 'address_refused',
            message: 'The address of owned/mine is not allowed: It is private.',
          },
        },
      },
      settled: { outcome: 'failed', errorKind: 'upstream_error', status: 502 },
    },
    {
      name: 'without a resolvable name is unreachable',
      gateway: {
        ...gateway({
          resolve: () => Promise.reject(new UpstreamFailure('connect_failed', 'No such name.')),
        }),
        gates: { [GATE]: ['owned/mine'] },
      },
      seen: { status: 502, json: { error: { code: 'connect_failed' } } },
      settled: { outcome: 'failed', errorKind: 'upstream_error' },
      check: () => expect(avoided.splice(0)).toHaveLength(1),
    },
  ])
})

describe('a prepared request keeps its own call’s contents, whichever other calls are served', () => {
  const owned = toOwnedUpstream(
    {
      accountId: CALLER.accountId,
      slug: 'mine',
      dialect: 'openai-chat',
      baseUrl: 'https://models.example/v1',
      upstreamModelId: 'llama-7b',
    } as Parameters<typeof toOwnedUpstream>[0],
    { secret: new Secret('planted-owned'), owner: 'account' },
  )
  test.each([
    ['an address that is looked up', 'owned/mine', CHAT, CHAT_ANSWER],
    [
      'a credential that may sign',
      'vertex-anthropic/claude-opus-5',
      '/v1/messages',
      json(200, MESSAGES_JSON),
    ],
    ['neither', TARGET, CHAT, CHAT_ANSWER],
  ] as const)('%s', async (_, target, path, answer) => {
    const names = ['one', 'two', 'three', 'four']
    const gateway = new InProcessGateway({
      gates: { [GATE]: [target] },
      ownedModels: [owned],
      upstream: names.map(() => answer),
    })
    const calls = names.map((name) => {
      const messages = [{ role: 'user', content: `I am ${name.padEnd(5)}.` }]
      return gateway.begin({ path, body: { model: GATE, max_tokens: 9, messages } }).seen
    })
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const said = gateway.upstream.sent.map(({ body }) => /I am (\w+) *\./.exec(body)?.[1] ?? body)
    expect(said.toSorted()).toEqual(names.toSorted())
    await gateway.assertNothingIsLeft()
  })
})

describe('a refusal', () => {
  const SAID =
    '{ "error": {"message":"No caf\\u00e9","type":"odd_error","param":"tools[0]","code":"odd", "extra":1} }'
  const failed = (status: number) =>
    ({ outcome: 'failed', errorKind: 'upstream_error', status, usage: null }) as const

  test.each([400, 402, 404, 408, 409, 413, 418, 422, 429, 499])(
    'with %d keeps its status and its message, to the byte if the dialects match',
    (status) =>
      runRow({
        upstream: [json(status, SAID)],
        seen: {
          status,
          text: SAID,
          headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
        },
        sent: [{ state: 'whole' }],
        settled: failed(status),
      }),
  )

  test.each([503, 529])('with %d becomes 503, with a time to come back', (status) =>
    runRow({
      upstream: [json(status, SAID, { 'retry-after': '7' })],
      seen: { status: 503, text: SAID, headers: { 'retry-after': '7' } },
      sent: [{}],
      settled: failed(503),
    }),
  )

  test.each([300, 302, 304, 407, 500, 502, 599])(
    'with %d becomes a failure of the upstream',
    (status) =>
      runRow({
        upstream: [json(status, SAID)],
        seen: { status: 502, text: SAID },
        sent: [{}],
        settled: failed(502),
      }),
  )

  test.each([401, 403])(
    'with %d counts as one of the credential, and its message is not passed on',
    (status) =>
      runRow({
        upstream: [
          json(
            status,
            `{"error":{"message":"Incorrect API key ${plantedCredentialOf('openai')}"}}`,
          ),
        ],
        seen: {
          status: 502,
          json: {
            error: {
              code: 'provider_auth_failed',
              message: expect.stringContaining(`(HTTP ${status})`),
            },
          },
          forbids: ['Incorrect'],
        },
        sent: [status === 401 ? { state: 'closed', taken: 0 } : {}],
        settled: { outcome: 'failed', errorKind: 'provider_auth_failed', status: 502 },
      }),
  )

  test.each([
    ['the account’s own key', { openai: 'account' }, "refused the account's own key"],
    ['the platform’s', {}, "refused the gateway's credential"],
  ] as const)('names the owner of the credential: %s', (_, credentials, message) =>
    runRow({
      gateway: { credentials },
      upstream: [json(401, '{}')],
      seen: { status: 502, contains: [message] },
      sent: [{}],
      settled: { errorKind: 'provider_auth_failed' },
    }),
  )

  const nested = (message: unknown, more: object = {}) => ({
    json: { error: { message, type: 'upstream_error', ...more } },
  })
  const shapes: readonly (readonly [string, Script, object])[] = [
    ['without an error', json(400, '{}'), nested(expect.stringContaining('HTTP 400'))],
    [
      'that is not JSON',
      json(400, '<html>x</html>', { 'content-type': 'text/html' }),
      nested(
        'The upstream of openai/gpt-4o answered HTTP 400 with text/html that contains no error message.',
      ),
    ],
    ['that is empty', json(404, ''), nested(expect.stringContaining('HTTP 404'))],
    [
      'that is a redirect',
      json(302, '', { location: 'https://elsewhere.test/' }),
      nested(expect.stringContaining('which is not followed')),
    ],
    ['with a bare message', json(400, '{"message":"bad"}'), nested('bad')],
    ['with a detail', json(400, '{"detail":"bad"}'), nested('bad')],
    ['with a bare error', json(400, '{"error":"bad"}'), nested('bad')],
    [
      'in an array',
      json(400, '[{"error":{"message":"bad","status":"INVALID"}}]'),
      nested('bad', { status: 'INVALID' }),
    ],
    [
      'without a type',
      json(400, '{"error":{"message":"bad","code":7}}'),
      nested('bad', { code: 7 }),
    ],
  ]
  runRows(
    shapes.map(([name, script, seen]) => ({
      name: `${name} has the caller’s envelope`,
      upstream: [script],
      seen: {
        status:
          script[0]?.type === 'head' && script[0].status < 400
            ? 502
            : (script[0] as { status: number }).status,
        ...seen,
        forbids: ['<html>'],
      },
      sent: [{}],
      settled: { outcome: 'failed' as const, errorKind: 'upstream_error' as const },
    })),
  )

  test('is read for 64 KB at most: an endless one is not waited for', async () => {
    const LIMIT = 64 * 1024
    const message = 'x'.repeat(LIMIT - 100)
    const whole = JSON.stringify({ error: { message, type: 't', code: null } }).padEnd(LIMIT)
    const type = { 'content-type': 'application/json' }
    const row = {
      sent: [{ state: 'closed' as const }],
      settled: failed(400),
      tookMs: 0,
    }
    await runRow({
      ...row,
      upstream: [[head(400, type), piece(whole.slice(0, -1)), piece(whole.slice(-1)), SILENCE]],
      seen: { status: 400, text: whole },
    })
    // What comes in one piece with it counts as little.
    await runRow({
      ...row,
      upstream: [[head(400, type), piece(`${whole}and more`), SILENCE]],
      seen: { status: 400, text: whole },
    })
    const endless = Array<Script[number]>(100).fill(piece(' '.repeat(1_000)))
    await runRow({
      ...row,
      upstream: [[head(400, type), ...endless, SILENCE]],
      seen: { status: 400, contains: ['that contains no error message'] },
      check: ({ upstream }) => expect(upstream.sent[0]?.taken).toBe(66),
    })
  })

  test('that breaks off is passed on as far as it came', () =>
    runRow({
      upstream: [[head(400, { 'content-type': 'text/html' }), piece('<html>'), CUT]],
      seen: {
        status: 400,
        contains: ['answered HTTP 400 with text/html that contains no error message'],
      },
      sent: [{ state: 'connection_lost' }],
      settled: failed(400),
    }))

  test('never shows the credential, whoever repeats it', () =>
    runRow({
      upstream: [
        json(400, {
          error: { message: `bad key ${plantedCredentialOf('openai')}`, type: 't', code: null },
        }),
      ],
      seen: { status: 400, json: { error: { message: 'bad key [secret]' } } },
      sent: [{}],
      settled: failed(400),
    }))

  test('comes in the caller’s own dialect if the target speaks another', async () => {
    await runRow({
      gateway: { gates: { [GATE]: [CLAUDE] } },
      upstream: [
        json(400, '{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}'),
      ],
      seen: {
        status: 400,
        json: {
          error: {
            message: 'bad',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_error',
          },
        },
      },
      sent: [{}],
      settled: failed(400),
    })
    await runRow({
      gateway: { gates: { [GATE]: ['mistral/codestral'] } },
      request: { path: '/alt/v1/fim/completions', body: { model: GATE, prompt: 'x' } },
      upstream: [json(422, '{"detail":[{"msg":"Extra inputs"}]}')],
      seen: {
        status: 400,
        json: {
          error: 'upstream_error',
          details: { status: 422, body: { detail: [{ msg: 'Extra inputs' }] } },
        },
      },
      sent: [{}],
      settled: failed(400),
    })
  })
})

describe('an unusable answer:', () => {
  runRows(
    [
      { path: '/v1/responses', body: { model: GATE, input: 'x' }, target: 'openai/gpt-5' },
      { path: '/v1/messages', body: chatBody({ max_tokens: 9 }), target: CLAUDE },
      { path: '/v1/messages/count_tokens', body: chatBody(), target: CLAUDE },
      {
        path: '/v1/embeddings',
        body: { model: GATE, input: 'x' },
        target: 'openai/text-embedding-3-small',
      },
      {
        path: '/alt/v1/fim/completions',
        body: { model: GATE, prompt: 'x' },
        target: 'mistral/codestral',
      },
      { path: '/alt/v1/chat/completions', body: chatBody(), target: 'mistral/large' },
      { path: '/v1/chat/completions', body: chatBody(), target: CLAUDE },
      { path: '/v1/chat/completions', body: chatBody(), target: 'gemini/gemini-2.5-flash' },
      { path: '/v1/chat/completions', body: chatBody(), target: 'cohere/command-a' },
      { path: '/v1/chat/completions', body: chatBody(), target: 'bedrock/anthropic.claude' },
      { path: '/v1/embeddings', body: { model: GATE, input: 'x' }, target: 'cohere/embed-v4.0' },
    ].flatMap(({ target, ...request }) =>
      ['{}', '{"error":{"message":"Busy"}}'].map((answer) => ({
        name: `${answer} of ${target} with a 200, at ${request.path}`,
        gateway: { gates: { [GATE]: [target] } },
        request,
        upstream: [json(200, answer)],
        seen: { status: 502, contains: [`The upstream of ${target}`] },
        sent: [{}],
        settled: {
          outcome: 'failed' as const,
          status: 502,
          errorKind: 'upstream_error' as const,
          usage: null,
        },
        spent: { tokens: 0 },
      })),
    ),
  )

  const useless: readonly (readonly [string, Script, string])[] = [
    [
      'HTML',
      json(200, '<html>', { 'content-type': 'text/html' }),
      'answered with text/html instead of JSON',
    ],
    ['nothing', json(200, ''), 'sent an empty answer'],
    ['half a JSON text', json(200, '{"id":'), 'sent an answer that is not valid JSON'],
    ['an array', json(200, '[]'), 'sent JSON that is not an object'],
    ['null', json(200, 'null'), 'sent JSON that is not an object'],
    [
      'no UTF-8',
      [head(200, { 'content-type': 'application/json' }), piece(Uint8Array.of(0x7b, 0xff, 0x7d))],
      'not valid JSON',
    ],
    ['an empty object', json(200, '{}'), 'sent JSON that is not an answer in the requested format'],
    [
      'an error',
      json(200, {
        error: { message: `No credit for ${plantedCredentialOf('openai')}`, code: 402 },
      }),
      'reported a failure with status 200: No credit for [secret]',
    ],
    [
      'an error beside no choices',
      json(200, { choices: [], error: { message: 'Busy' } }),
      'with status 200: Busy',
    ],
    [
      'an error of mere text beside no choices',
      json(200, { choices: [], error: 'Busy' }),
      'with status 200: Busy',
    ],
    ['another dialect’s answer', json(200, MESSAGES_JSON), 'sent JSON that is not an answer'],
    ['a picture', json(200, 'x', { 'content-type': 'image/png' }), 'answered with image/png'],
    [
      'JSON lines',
      json(200, '{}', { 'content-type': 'application/jsonl' }),
      'answered with application/jsonl',
    ],
  ]
  runRows(
    useless.map(([name, script, message]) => ({
      name,
      upstream: [script],
      seen: {
        status: 502,
        json: { error: { type: 'upstream_error', code: 'bad_upstream_answer' } },
        contains: [message, `The upstream of ${TARGET}`],
      },
      sent: [{ state: expect.stringMatching(/^(?:whole|closed)$/) as never }],
      settled: {
        outcome: 'failed',
        status: 502,
        errorKind: 'upstream_error',
        usage: null,
        firstByteMs: null,
      },
      spent: { tokens: 0 },
    })),
  )

  runRows([
    {
      name: 'except JSON without a content type',
      upstream: [[head(200), piece('{"choices":[]}')]],
      seen: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        text: '{"choices":[]}',
      },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'except JSON under another name of its type',
      upstream: [
        json(200, '{"choices":[]}', { 'content-type': 'application/vnd.api+json; charset=utf-8' }),
      ],
      seen: { status: 200, text: '{"choices":[]}' },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'an event of implausible size',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(Array<string>(40).fill('x'.repeat(1024 * 1024)))],
      seen: { status: 502, contains: ['sent an event above the size limit'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error' },
    },
    {
      name: 'a failure in the first event, with its message under a real status',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(['data: {"error":{"message":"overloaded"}}\n\n'])],
      seen: { status: 502, contains: ['reported a failure: overloaded'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error', firstByteMs: null },
    },
    {
      name: 'a failure in the first event that is a mere text, as some servers tell it',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(['data: {"error":"out of memory"}\n\n', 'data: [DONE]\n\n'])],
      seen: { status: 502, contains: ['reported a failure: out of memory'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error', usage: null },
    },
    {
      name: 'a stream of nothing but its end',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream([': hello\n\n', 'data: [DONE]\n\n'])],
      seen: { status: 502, contains: ['ended its stream before the first event'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error', usage: null },
    },
    {
      name: 'a stream of nothing but its end, for a caller of another dialect',
      request: {
        path: '/v3/chat',
        body: { gate_id: GATE, stream: true, messages: [{ role: 'user', content: 'hi' }] },
      },
      upstream: [stream(['data: [DONE]\n\n'])],
      seen: { status: 502, contains: ['ended its stream before the first event'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error', usage: null },
    },
    {
      name: 'a failure’s message with its one full stop kept',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(['data: {"error":{"message":"Overloaded."}}\n\n'])],
      seen: { status: 502, contains: ['reported a failure: Overloaded."'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error' },
    },
    {
      name: 'a status without a body, whatever comes with it',
      upstream: [json(205, CHAT_JSON)],
      seen: { status: 502, contains: ['answered with HTTP 205, which has no body'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', status: 502, errorKind: 'upstream_error', usage: null },
    },
    {
      name: 'a failure after comments, which are hidden: the next target may answer',
      gateway: { gates: { [GATE]: [TARGET, 'openai/gpt-4o-mini'] } },
      request: { body: chatBody({ stream: true, stream_options: { include_usage: true } }) },
      upstream: [
        stream([': PROCESSING\n\n', ':\r\n\r\n', 'data: {"error":{"message":"overloaded"}}\n\n']),
        stream([': PROCESSING\n\n', ...CHAT_STREAM_WITH_USAGE]),
      ],
      seen: { status: 200, text: `: PROCESSING\n\n${CHAT_STREAM_WITH_USAGE.join('')}` },
      sent: [{ state: 'closed' }, { state: 'whole' }],
      settled: succeeded,
    },
    {
      name: 'many comments begin the answer: they may not fill the memory',
      request: { body: chatBody({ stream: true, stream_options: { include_usage: true } }) },
      upstream: [
        stream(Array<string>(5).fill(`: ${'x'.repeat(20_000)}\n\n`), { ending: [SILENCE] }),
      ],
      client: { leavesAfterEvents: 1 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { outcome: 'cancelled' },
    },
    {
      name: 'a comment alone: the answer has not begun',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream([':'])],
      seen: { status: 502, contains: ['ended its stream before the first event'] },
      sent: [{ state: 'whole' }],
      settled: { outcome: 'failed' },
    },
  ])
})

describe('the encoding of an answer', () => {
  const encoded = (name: string) => json(200, { choices: [] }, { 'content-encoding': name })
  const refused = { outcome: 'failed', status: 502 } as const

  runRows([
    ...['identity', ' IDENTITY ', ''].map(
      (name): StageRow => ({
        ...passed,
        name: `"${name}" means none`,
        upstream: [encoded(name)],
        sent: [{}],
      }),
    ),
    ...['gzip', 'br', 'identity, gzip', 'x'.repeat(500)].map(
      (name): StageRow => ({
        name: `"${name.slice(0, 20)}" is refused, and not inflated`,
        upstream: [encoded(name)],
        sent: [{}],
        seen: { status: 502 },
        settled: refused,
      }),
    ),
  ])
})

test('the caller’s key is never sent, wherever the caller puts it', () =>
  runRow({
    request: { headers: { 'x-api-key': CALLER_KEY, 'api-key': CALLER_KEY, cookie: CALLER_KEY } },
    ...passed,
    sent: [{ headers: { 'x-api-key': null, 'api-key': null, cookie: null } }],
  }))
