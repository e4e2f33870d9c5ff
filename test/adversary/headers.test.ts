/**
 * The headers that pass between callers and upstreams: those on a dialect's list. Headers of
 * proxies about people stay here; those that the published SDKs and agents rely on pass.
 */
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { InboundDialectId } from '../../src/core/dialects.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { SpendState } from '../../src/core/spend-state.ts'
import { CallHeaders } from '../../src/gateway/attempt/call-headers.ts'
import { CHAT_JSON, MESSAGES_JSON, MESSAGES_STREAM } from '../support/dialect-samples.ts'
import { head, json, piece, stream } from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, chatBody, GATE, runRows } from '../support/stage-rows.ts'

/** Headers about callers from proxies in front of the gateway. */
const OF_PEOPLE = {
  'x-goog-iap-jwt-assertion': 'm',
  'x-goog-authenticated-user-email': 'm',
  'x-amzn-oidc-data': 'm',
  'x-amzn-oidc-identity': 'm',
  'x-ms-client-principal': 'm',
  'x-ms-client-principal-name': 'm',
  'true-client-ip': 'm',
  'fastly-client-ip': 'm',
  'x-client-ip': 'm',
  'x-cluster-client-ip': 'm',
  'x-original-url': 'm',
  'remote-user': 'm',
  'x-custom': 'm',
  baggage: 'm',
}

/** Headers for pages and accounts, of no use to clients of an interface. */
const OF_SITES = {
  location: '/elsewhere',
  refresh: '0; url=/',
  'clear-site-data': '"*"',
  link: '</x>; rel=preload',
  'content-disposition': 'attachment',
  'content-location': '/x',
  'anthropic-organization-id': 'org',
  'openai-organization': 'org',
  'openai-project': 'proj',
  'x-custom': 'm',
  'cache-control': 'public, max-age=99',
  'set-cookie': 'a=1',
  'strict-transport-security': 'max-age=0',
}
const none = (headers: object) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, null]))
/** Headers of a vendor about the account's limits there. */
const OF_VENDOR = {
  'anthropic-ratelimit-tokens-remaining': '5',
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-5h-utilization': '1',
}
const OF_LIMITS = {
  ...OF_VENDOR,
  'anthropic-ratelimit-unified-representative-claim': '',
  'anthropic-ratelimit-unified-overage-status': '',
  'anthropic-ratelimit-unified-overage-utilization': '',
}
/** A budget of one dollar a month with 80 cents used. */
const SPEND: SpendState = {
  period: 'month',
  usedNanoUsd: 800_000_000,
  limitNanoUsd: 1_000_000_000,
  endsAtMs: Date.parse('2026-12-01T00:00:00.000Z'),
}
const succeeded = { outcome: 'succeeded' } as const
const CLAUDE = 'anthropic/claude-opus-5'
const messages = { path: '/v1/messages', body: chatBody({ max_tokens: 9 }) }

describe('headers of a request', () => {
  const agent = {
    'anthropic-beta': 'a,b',
    'anthropic-version': '2023-06-01',
    'user-agent': 'claude-cli/2',
    'x-app': 'cli',
    'x-stainless-lang': 'js',
  }
  runRows([
    {
      name: 'about people, from proxies, do not reach the upstream',
      request: { headers: OF_PEOPLE },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ headers: none(OF_PEOPLE) }],
      settled: succeeded,
    },
    {
      name: 'that agents of a dialect rely on reach it',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: { ...messages, headers: agent },
      upstream: [json(200, MESSAGES_JSON)],
      seen: { status: 200 },
      sent: [{ headers: agent }],
      settled: succeeded,
    },
    {
      name: 'of one dialect do not pass in another',
      request: { headers: { 'anthropic-beta': 'a', 'openai-beta': 'b' } },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ headers: { 'anthropic-beta': null, 'openai-beta': 'b' } }],
      settled: succeeded,
    },
    {
      name: 'that the operator added pass, except those that open something',
      gateway: { addedHeaders: { request: ['x-team', 'x-my-*'], answer: [] } },
      request: { headers: { 'x-team': 't', 'x-my-1': 'u', 'x-my-token': 'm', 'x-other': 'm' } },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ headers: { 'x-team': 't', 'x-my-1': 'u', 'x-my-token': null, 'x-other': null } }],
      settled: succeeded,
    },
  ])
})

describe('headers of an answer', () => {
  runRows([
    {
      name: 'about sites and accounts do not reach the caller',
      upstream: [json(200, CHAT_JSON, OF_SITES)],
      seen: { status: 200, headers: none(OF_SITES) },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'that SDKs read do, and the vendor’s id has a separate name',
      upstream: [
        json(200, CHAT_JSON, {
          'openai-version': '2020-10-01',
          'openai-processing-ms': '7',
          'x-request-id': 'req_vendor',
          'x-ratelimit-limit-requests': '9999',
        }),
      ],
      seen: {
        status: 200,
        headers: {
          'openai-version': '2020-10-01',
          'openai-processing-ms': '7',
          'x-gatehouse-upstream-request-id': 'req_vendor',
          'x-ratelimit-limit-requests': null,
        },
      },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'with the vendor’s id come with a translated call too',
      request: messages,
      upstream: [json(200, CHAT_JSON, { 'x-request-id': 'req_vendor' })],
      seen: { status: 200, headers: { 'x-gatehouse-upstream-request-id': 'req_vendor' } },
      sent: [{}],
      settled: succeeded,
    },
    ...(['platform', 'account'] as const).map((owner) => ({
      name: `with the remaining limits of the ${owner} reach the account that they belong to`,
      gateway: {
        gates: { [GATE]: [CLAUDE] },
        credentials: owner === 'account' ? { anthropic: owner } : {},
      },
      request: messages,
      upstream: [json(200, MESSAGES_JSON, { 'anthropic-ratelimit-tokens-remaining': '5' })],
      seen: {
        status: 200,
        headers: { 'anthropic-ratelimit-tokens-remaining': owner === 'account' ? '5' : null },
      },
      sent: [{}],
      settled: succeeded,
    })),
    ...(['platform', 'account'] as const).map((owner) => ({
      name: `of a refusal with the remaining limits of the ${owner} reach the account that they belong to`,
      gateway: {
        gates: { [GATE]: [CLAUDE] },
        credentials: owner === 'account' ? { anthropic: owner } : {},
      },
      request: messages,
      upstream: [
        json(
          429,
          { type: 'error', error: { type: 'rate_limit_error', message: 'Used up.' } },
          {
            'retry-after': '7',
            'anthropic-ratelimit-unified-status': 'rejected',
            'anthropic-ratelimit-unified-5h-utilization': '1',
            'anthropic-organization-id': 'org_1',
            'set-cookie': 'a=b',
          },
        ),
      ],
      seen: {
        status: 429,
        headers: {
          'retry-after': '7',
          'anthropic-ratelimit-unified-status': owner === 'account' ? 'rejected' : null,
          'anthropic-ratelimit-unified-5h-utilization': owner === 'account' ? '1' : null,
          'anthropic-organization-id': null,
          'set-cookie': null,
          'content-type': 'application/json',
        },
      },
      sent: [{}],
      settled: { outcome: 'failed' as const, status: 429 },
    })),
    ...[json(200, MESSAGES_JSON, OF_VENDOR), stream(MESSAGES_STREAM, { headers: OF_VENDOR })].map(
      (answer, index) => ({
        name: `of the vendor's limits do not pass where a budget in money applies (${index})`,
        gateway: {
          gates: { [GATE]: [CLAUDE] },
          credentials: { anthropic: 'account' as const },
          limits: { spend: SPEND },
          addedHeaders: { request: [], answer: ['anthropic-ratelimit-*'] },
        },
        request: index === 0 ? messages : { ...messages, body: { ...messages.body, stream: true } },
        upstream: [answer],
        seen: {
          status: 200,
          headers: {
            'anthropic-ratelimit-tokens-remaining': null,
            'anthropic-ratelimit-unified-5h-utilization': null,
            'anthropic-ratelimit-unified-status': 'allowed_warning',
            'anthropic-ratelimit-unified-representative-claim': 'overage',
            'anthropic-ratelimit-unified-overage-utilization': '0.8',
            'anthropic-ratelimit-unified-overage-surpassed-threshold': '0.75',
            'anthropic-ratelimit-unified-reset': '1796083200',
          },
        },
        sent: [{}],
        settled: succeeded,
      }),
    ),
    {
      name: 'of the vendor’s limits do not pass with a refusal where a budget in money applies',
      gateway: {
        gates: { [GATE]: [CLAUDE] },
        credentials: { anthropic: 'account' as const },
        limits: { spend: SPEND },
      },
      request: messages,
      upstream: [
        json(429, { type: 'error', error: { type: 'rate_limit_error', message: 'x' } }, OF_VENDOR),
      ],
      // Any of these names on a 429 would make Claude Code replace the vendor's message.
      seen: { status: 429, forbids: ['unified'], headers: none(OF_LIMITS) },
      sent: [{}],
      settled: { outcome: 'failed' as const, status: 429 },
    },
    {
      name: 'of a budget in money come with a translated answer too',
      gateway: { limits: { spend: SPEND } },
      request: messages,
      upstream: [json(200, CHAT_JSON)],
      seen: {
        status: 200,
        headers: { 'anthropic-ratelimit-unified-overage-utilization': '0.8' },
      },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'of a budget in money do not come in other dialects',
      gateway: { limits: { spend: SPEND } },
      upstream: [json(200, CHAT_JSON)],
      seen: { status: 200, headers: none(OF_LIMITS) },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'of a refusal for a used-up budget in money',
      gateway: {
        limits: {
          spend: SPEND,
          reserveQuota: () =>
            new GatewayError('quota_exceeded', 'It is used up. Ask Ann.', { spend: SPEND }),
        },
      },
      request: messages,
      seen: {
        status: 429,
        json: { error: { type: 'billing_error', message: 'It is used up. Ask Ann.' } },
        headers: {
          'x-should-retry': 'false',
          'anthropic-ratelimit-unified-status': 'rejected',
          'anthropic-ratelimit-unified-overage-period': 'monthly',
          'anthropic-ratelimit-unified-representative-claim': null,
          'anthropic-ratelimit-unified-overage-status': null,
        },
      },
      settled: { outcome: 'failed' as const, status: 429 },
    },
    {
      name: 'of a refusal stay with it when another target answers',
      gateway: {
        gates: { [GATE]: [CLAUDE, 'anthropic/claude-haiku-5'] },
        credentials: { anthropic: 'account' as const },
      },
      request: messages,
      upstream: [
        json(429, {}, { 'anthropic-ratelimit-unified-status': 'rejected' }),
        json(200, MESSAGES_JSON),
      ],
      seen: { status: 200, headers: { 'anthropic-ratelimit-unified-status': null } },
      sent: [{}, {}],
      settled: succeeded,
    },
    {
      name: 'that the operator added pass',
      gateway: { addedHeaders: { request: [], answer: ['x-custom'] } },
      upstream: [json(200, CHAT_JSON, { 'x-custom': 'kept' })],
      seen: { status: 200, headers: { 'x-custom': 'kept' } },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'with control characters invalidate the whole answer',
      upstream: [
        [head(200, { 'content-type': 'application/json', 'x-any': 'a\u001b[31m' }), piece('{}')],
      ],
      seen: { status: 502, contains: ['malformed_answer'], forbids: ['\u001b'] },
      sent: [{}],
      settled: { outcome: 'failed', status: 502 },
    },
    {
      name: 'with control characters invalidate a stream before it begins',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(['data: [DONE]\n\n'], { headers: { 'x-any': '\u0007' } })],
      seen: { status: 502 },
      sent: [{}],
      settled: { outcome: 'failed', status: 502 },
    },
  ])
})

describe('the published SDKs’ headers', () => {
  const seen: Headers[] = []
  const fetch = async (input: unknown, init?: { headers?: unknown }) => {
    seen.push(
      input instanceof Request
        ? input.headers
        : new Headers(init?.headers as Record<string, string>),
    )
    return new Response('{}', { status: 400, headers: { 'content-type': 'application/json' } })
  }
  const said = [{ role: 'user' as const, content: 'hi' }]
  const kinds: readonly (readonly [
    string,
    InboundDialectId,
    () => Promise<unknown>,
    readonly string[],
  ])[] = [
    [
      'openai',
      'openai-chat',
      () =>
        new OpenAI({
          apiKey: 'k',
          baseURL: 'http://a.test/v1',
          organization: 'org',
          maxRetries: 0,
          fetch,
        }).chat.completions.create({ model: 'm', messages: said }),
      ['authorization', 'openai-organization', 'content-length'],
    ],
    [
      '@anthropic-ai/sdk',
      'anthropic-messages',
      () =>
        new Anthropic({
          apiKey: 'k',
          authToken: null,
          baseURL: 'http://a.test',
          maxRetries: 0,
          fetch,
        }).beta.messages.create({
          model: 'm',
          max_tokens: 1,
          messages: said,
          betas: ['context-1m-2025-08-07'],
        }),
      ['authorization', 'x-api-key', 'content-length'],
    ],
  ]

  test.each(kinds)(
    'of %s pass in %s, except its key and its account',
    async (_, dialect, call, stays) => {
      seen.length = 0
      await call().catch(() => {})
      const [headers] = seen
      if (headers === undefined) throw new Error('nothing was sent')
      const passed = new CallHeaders().listsFor(dialect, 'platform').request.pick(headers)
      const names = [...headers.keys()].filter((name) => !stays.includes(name))
      expect(Object.keys(passed).sort()).toEqual(names.sort())
      expect(names.length).toBeGreaterThan(5)
    },
  )
})
