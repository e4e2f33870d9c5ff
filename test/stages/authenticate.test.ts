/** Stage 1: which callers are admitted, and that a refused caller causes nothing else. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import type { Freshness } from '../../src/gateway/ports.ts'
import { readErrorCode } from '../support/envelopes.ts'
import { CALLER, CALLER_KEY } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, chatBody, GATE, runRow, runRows, TARGET } from '../support/stage-rows.ts'

const MISSING = 'Missing API key: send it in the header `Authorization: Bearer <API_KEY>`.'
const MALFORMED = 'Malformed Authorization header: it must read `Bearer <API_KEY>`.'
const INVALID = 'Invalid API key.'
const FOREIGN =
  "Invalid API key. It does not have the form of this gateway's keys: a provider's own key is not accepted here."

const INVALID_TOKEN =
  'Invalid access token: the token is unknown to this gateway, was deleted or replaced, or has expired.'
const MALFORMED_TOKEN =
  'Invalid access token: tokens have the form `at-svc-` and 64 hexadecimal characters in lower case. Was the whole token copied?'
const HEX = '0123456789abcdef'.repeat(4)

describe('refused with 401 before anything else is looked at', () => {
  const refusals: readonly (readonly [string, Record<string, string | null>, string])[] = [
    ['no key', { authorization: null }, MISSING],
    ['an empty header', { authorization: '' }, MALFORMED],
    ['a scheme alone', { authorization: 'Bearer' }, MALFORMED],
    ['another scheme', { authorization: `Basic ${CALLER_KEY}` }, MALFORMED],
    ['two credentials', { authorization: `Bearer ${CALLER_KEY}, Bearer x` }, MALFORMED],
    ['an unknown key', { authorization: `Bearer sk-svc-${'0'.repeat(64)}` }, INVALID],
    ['a key in no form that we make', { authorization: 'Bearer sk-proj-abc' }, FOREIGN],
    [
      'a legacy key that was not imported',
      { authorization: 'Bearer svc_0123456789abcdef' },
      INVALID,
    ],
    [
      'a key in the header of another dialect',
      { authorization: null, 'x-api-key': CALLER_KEY },
      MISSING,
    ],
    ['an unknown access token', { authorization: `Bearer at-svc-${HEX}` }, INVALID_TOKEN],
    [
      'a truncated access token',
      { authorization: `Bearer at-svc-${HEX.slice(1)}` },
      MALFORMED_TOKEN,
    ],
    [
      'an access token in upper case',
      { authorization: `Bearer AT-SVC-${HEX.toUpperCase()}` },
      MALFORMED_TOKEN,
    ],
    [
      'an access token with upper-case digits',
      { authorization: `Bearer at-svc-${HEX.toUpperCase()}` },
      MALFORMED_TOKEN,
    ],
    ['the hash of a key', { authorization: `Bearer ${'a'.repeat(64)}` }, FOREIGN],
  ]
  runRows(
    refusals.map(([name, headers, message]) => ({
      name,
      // The body is invalid too, because authentication comes first.
      request: { headers: { ...headers, 'content-type': 'text/plain' }, body: 'no JSON' },
      seen: {
        status: 401,
        json: {
          error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
        },
        headers: {
          'www-authenticate': 'Bearer',
          'cache-control': 'no-store',
          'x-gatehouse-target': null,
        },
        forbids: [CALLER_KEY, 'sk-', HEX.slice(1, 20)],
      },
      settled: null,
      check: ({ touched }) => expect(touched).toEqual([]),
    })),
  )

  test.each([
    ['/v1/responses', 'nested', 'invalid_api_key'],
    ['/v1/embeddings', 'nested', 'invalid_api_key'],
    ['/v1/messages', 'messages', 'authentication_error'],
    ['/v1/messages/count_tokens', 'messages', 'authentication_error'],
    ['/v3/chat', 'flat', 'unauthorized'],
    ['/alt/v1/fim/completions', 'alt', 'unauthorized'],
    ['/alt/v1/chat/completions', 'alt', 'unauthorized'],
  ] as const)('%s gets the refusal in its own envelope', (path, envelope, code) =>
    runRow({
      request: { path, headers: { authorization: null } },
      seen: { status: 401 },
      settled: null,
      check: (_, { text }) => expect(readErrorCode(envelope, text)).toBe(code),
    }),
  )
})

describe('let in', () => {
  const keys: readonly (readonly [string, Record<string, string | null>])[] = [
    ['by the usual header', { authorization: `Bearer ${CALLER_KEY}` }],
    ['in any case of the scheme', { authorization: `bEARER ${CALLER_KEY}` }],
    ['with more spaces than needed', { authorization: `Bearer   ${CALLER_KEY}  ` }],
  ]
  runRows(
    keys.map(([name, headers]) => ({
      name,
      request: { headers },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
      check: ({ touched, limits }) => {
        expect(touched).toEqual([CALLER.keyId])
        expect(limits.tickets[0]?.caller).toBe(CALLER)
      },
    })),
  )

  const messages = json(200, {
    type: 'message',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  runRows(
    [
      {
        name: 'by the dialect’s own header',
        headers: { authorization: null, 'x-api-key': CALLER_KEY },
      },
      {
        name: 'by the usual header, which counts if both are there',
        headers: { 'x-api-key': `sk-svc-${'0'.repeat(64)}` },
      },
    ].map(({ name, headers }) => ({
      name,
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/messages', headers, body: chatBody({ max_tokens: 9 }) },
      upstream: [messages],
      seen: { status: 200, headers: { 'request-id': expect.stringMatching(/^req_/) } },
      sent: [{ headers: { 'x-api-key': 'planted-anthropic-0123456789abcdef' } }],
      settled: { outcome: 'succeeded' as const },
    })),
  )
})

describe('a node that may be out of date', () => {
  const away = new GatewayError('unavailable', 'This node cannot say.', {
    headers: { 'retry-after': '1' },
  })
  const freshness = (members: Partial<Freshness>): Freshness => ({
    isFresh: () => true,
    refresh: () => Promise.reject(new Error('nobody had to refresh')),
    assertKnown: () => {},
    ...members,
  })

  test('catches up before it looks a key up', async () => {
    const order: string[] = []
    await runRow({
      gateway: {
        freshness: freshness({
          isFresh: () => false,
          refresh: async () => {
            await Promise.resolve()
            order.push('refreshed')
          },
          assertKnown: (accountId) => void order.push(`looked up ${accountId}`),
        }),
      },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded', target: TARGET },
    })
    expect(order).toEqual(['refreshed', `looked up ${CALLER.accountId}`])
  })

  runRows([
    {
      name: 'that cannot catch up refuses',
      gateway: {
        freshness: freshness({ isFresh: () => false, refresh: () => Promise.reject(away) }),
      },
      seen: {
        status: 503,
        headers: { 'retry-after': '1' },
        json: { error: { code: 'unavailable', message: 'This node cannot say.' } },
      },
      settled: null,
      check: ({ touched }) => expect(touched).toEqual([]),
    },
    {
      name: 'that could not read the account’s changes refuses a known key',
      gateway: {
        freshness: freshness({
          assertKnown: (accountId) => {
            if (accountId !== undefined) throw away
          },
        }),
      },
      seen: { status: 503 },
      settled: null,
      check: ({ touched }) => expect(touched).toEqual([]),
    },
    {
      name: 'that could not read changes gives that reason for an unknown key, instead of 401',
      gateway: {
        freshness: freshness({
          assertKnown: (accountId) => {
            if (accountId === undefined) throw away
          },
        }),
      },
      request: { headers: { authorization: `Bearer sk-svc-${'0'.repeat(64)}` } },
      seen: { status: 503 },
      settled: null,
    },
  ])
})
