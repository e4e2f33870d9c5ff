/**
 * From a target to the next: which failures move on, in which order, and which failure is reported.
 */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import {
  MESSAGES_JSON,
  MESSAGES_STREAM,
  MESSAGES_USAGE,
  RESPONSES_JSON,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import {
  CALLER,
  type InProcessGateway,
  plantedCredentialOf,
} from '../support/in-process-gateway.ts'
import {
  CUT,
  head,
  json,
  pause,
  piece,
  type Script,
  SILENCE,
  stream,
  UNREACHABLE,
} from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  CHAT_EVENTS,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRow,
  runRows,
  type StageRow,
} from '../support/stage-rows.ts'

const FIRST = 'openai/first'
const SECOND = 'groq/second'
const THIRD = 'xai/third'
const gates = (...targets: string[]) => ({ gates: { [GATE]: targets } })
const two = gates(FIRST, SECOND)
const withRequest = (usage: typeof CHAT_USAGE) => ({
  ...usage,
  inputTokens: usage.inputTokens + 16,
})
const refusal = (status: number, error: object = {}) =>
  json(status, {
    error: { message: `said ${status}`, type: 't', param: null, code: null, ...error },
  })
const told = (message: string) => ({ error: { message } })
const failuresOf = (gateway: InProcessGateway, target: string) =>
  gateway.breakers.seenOf(`${CALLER.accountId}\n${target}`)?.failuresInARow ?? 0

describe('moves on to the next target', () => {
  const failing: readonly (readonly [string, Script, number | null])[] = [
    ['an address that cannot be reached', UNREACHABLE, null],
    ['a connection that goes', [CUT], null],
    ['silence', [SILENCE], null],
    ['a body cut short', [head(200), piece('{'), CUT], 200],
    ['500', refusal(500), 500],
    ['529', refusal(529), 529],
    ['429', refusal(429), 429],
    ['a refused credential', refusal(401), 401],
    ['a forbidden one', refusal(403), 403],
    ['HTML', json(200, '<html>', { 'content-type': 'text/html' }), 200],
    ['an array', json(200, '[]'), 200],
    ['a redirect', refusal(302), 302],
  ]
  runRows(
    failing.map(([name, script, status]) => ({
      name,
      gateway: two,
      upstream: [script, CHAT_ANSWER],
      seen: {
        status: 200,
        headers: {
          'x-gatehouse-target': SECOND,
          'x-gatehouse-attempts': '2',
          'x-gatehouse-skipped': null,
        },
        forbids: ['said', '<html>'],
      },
      sent: [
        {
          url: 'https://openai.test/base/chat/completions',
          headers: { authorization: `Bearer ${plantedCredentialOf('openai')}` },
          json: { model: 'first' },
        },
        {
          url: 'https://groq.test/base/chat/completions',
          headers: { authorization: `Bearer ${plantedCredentialOf('groq')}` },
          json: { model: 'second' },
          state: 'whole',
        },
      ],
      settled: {
        outcome: 'succeeded',
        status: 200,
        errorKind: null,
        target: SECOND,
        attempts: 2,
        usage: script.includes(SILENCE) ? withRequest(CHAT_USAGE) : CHAT_USAGE,
        attemptDetails: [
          { target: FIRST, status },
          { target: SECOND, status: 200 },
        ] as never,
      },
      check: (gateway) => {
        expect(failuresOf(gateway, FIRST)).toBe(1)
        expect(failuresOf(gateway, SECOND)).toBe(0)
      },
    })),
  )

  test('after a 409 too, which does not count against the target', () =>
    runRow({
      gateway: two,
      upstream: [refusal(409), CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: { target: SECOND, attempts: 2 },
      check: (gateway) => expect(failuresOf(gateway, FIRST)).toBe(0),
    }))
})

describe('ends the call', () => {
  runRows(
    [400, 404, 413, 422].map((status) => ({
      name: `a client's own ${status}`,
      gateway: two,
      upstream: [refusal(status)],
      seen: { status, json: told(`said ${status}`), headers: { 'x-gatehouse-target': null } },
      sent: [{ state: 'whole' }],
      settled: {
        outcome: 'failed',
        status,
        errorKind: 'upstream_error',
        target: FIRST,
        attempts: 1,
      },
      check: (gateway) => expect(failuresOf(gateway, FIRST)).toBe(0),
    })),
  )

  runRows([
    {
      name: 'the last target: its failure is shown',
      gateway: two,
      upstream: [refusal(500), refusal(429)],
      seen: { status: 429, json: told('said 429') },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 429, target: SECOND, attempts: 2, usage: null },
      spent: { tokens: 0 },
    },
    {
      name: 'a client that leaves: no other target is tried',
      gateway: two,
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 700 },
      seen: { status: 502, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { outcome: 'cancelled', status: 499, target: FIRST, attempts: 1, durationMs: 700 },
      tookMs: 700,
      check: (gateway) => expect(failuresOf(gateway, FIRST)).toBe(0),
    },
    {
      name: 'a shutdown: no other target is tried',
      gateway: { ...two, timeouts: { totalMs: 60_000 } },
      upstream: [[pause(100), { type: 'fail', failure: 'shutdown' }]],
      seen: { status: 503, json: { error: { code: 'shutdown' } } },
      sent: [{ state: 'shutdown' }],
      settled: { outcome: 'failed', status: 503, errorKind: 'unavailable', attempts: 1 },
    },
  ])
})

describe('no handle for a connection', () => {
  const hasNone = { isOutOfHandles: () => true }
  const short = { ...two, ...hasNone }
  const refused = { status: 503, headers: { 'retry-after': '1', 'x-gatehouse-target': null } }
  const failed = { outcome: 'failed', status: 503, errorKind: 'unavailable', usage: null } as const
  runRows([
    {
      name: 'is our own shortage: no target is blamed, or asked again',
      gateway: { gates: { [GATE]: { targets: [{ model: FIRST }], maxRetries: 2 } }, ...hasNone },
      upstream: [UNREACHABLE],
      seen: { ...refused, json: { error: { type: 'server_error', code: 'out_of_handles' } } },
      sent: [{}],
      settled: { ...failed, target: FIRST, attempts: 1 },
      spent: { tokens: 0 },
      check: (gateway) => expect(failuresOf(gateway, FIRST)).toBe(0),
    },
    {
      name: 'is told in each dialect',
      gateway: short,
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9 }) },
      upstream: [UNREACHABLE, UNREACHABLE],
      seen: { ...refused, json: { type: 'error', error: { type: 'overloaded_error' } } },
      sent: [{}, {}],
      settled: { ...failed, target: SECOND, attempts: 2 },
    },
    {
      name: 'moves on to a target that has an open connection',
      gateway: short,
      upstream: [UNREACHABLE, CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': SECOND } },
      sent: [{}, {}],
      settled: { target: SECOND, attempts: 2 },
      check: (gateway) => expect(failuresOf(gateway, FIRST)).toBe(0),
    },
    {
      name: 'is not why an upstream did not answer',
      gateway: { ...gates(FIRST), ...hasNone },
      upstream: [[SILENCE]],
      seen: { status: 504 },
      sent: [{}],
      settled: { outcome: 'failed', status: 504, target: FIRST, attempts: 1 },
      check: (gateway) => expect(failuresOf(gateway, FIRST)).toBe(1),
    },
  ])
})

describe('the order', () => {
  test('each target is tried as often as the gate says before the next one', () =>
    runRow({
      gateway: {
        gates: { [GATE]: { targets: [{ model: FIRST }, { model: SECOND }], maxRetries: 1 } },
      },
      upstream: [UNREACHABLE, refusal(503), UNREACHABLE, CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-attempts': '4' } },
      sent: [
        { json: { model: 'first' }, atMs: 0 },
        { json: { model: 'first' } },
        { json: { model: 'second' } },
        { json: { model: 'second' } },
      ],
      settled: { attempts: 4, target: SECOND, outcome: 'succeeded' },
      check: ({ upstream: { sent } }) => {
        // No pause between targets.
        expect(sent[2]?.atMs).toBe(sent[1]?.atMs)
      },
    }))

  test('a refused credential is not tried again, whatever the gate says', () =>
    runRow({
      gateway: {
        gates: { [GATE]: { targets: [{ model: FIRST }, { model: SECOND }], maxRetries: 3 } },
      },
      upstream: [refusal(401), CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{ json: { model: 'first' } }, { json: { model: 'second' } }],
      settled: { attempts: 2 },
      tookMs: 0,
    }))

  test('targets without a credential are skipped, and count as no attempt', () =>
    runRow({
      gateway: { ...gates(FIRST, SECOND, THIRD), credentials: { openai: 'none', groq: 'none' } },
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': THIRD, 'x-gatehouse-attempts': '1' } },
      sent: [{ json: { model: 'third' } }],
      settled: { attempts: 1, target: THIRD, attemptDetails: undefined },
    }))

  test('one time limit of the gate spans all targets', () =>
    runRow({
      gateway: {
        gates: {
          [GATE]: {
            targets: [{ model: FIRST }, { model: SECOND }, { model: THIRD }],
            timeoutMs: 1_000,
          },
        },
      },
      upstream: [[pause(600), CUT], [SILENCE]],
      seen: {
        status: 504,
        headers: { 'x-gatehouse-skipped': null },
        json: { error: { message: expect.stringContaining(`(${SECOND})`) } },
      },
      sent: [
        { timeouts: { totalMs: 1_000 } as never },
        { timeouts: { totalMs: 400 } as never, state: 'total_timeout' },
      ],
      settled: {
        outcome: 'failed',
        errorKind: 'upstream_timeout',
        target: SECOND,
        attempts: 2,
        durationMs: 1_000,
      },
      tookMs: 1_000,
    }))
})

describe('a target that nobody is left to wait for is not asked, and has no part in the call', () => {
  const timed = {
    gates: { [GATE]: { targets: [{ model: FIRST }, { model: SECOND }], timeoutMs: 1_000 } },
    credentials: { openai: 'account' },
  } as const
  const unharmed = (gateway: InProcessGateway) => expect(failuresOf(gateway, SECOND)).toBe(0)

  test('as the gate’s time is over: it is not blamed, and the row is that of the one asked', () =>
    runRow({
      gateway: timed,
      upstream: [[SILENCE]],
      seen: { status: 504, json: { error: { message: expect.stringContaining(`(${FIRST})`) } } },
      sent: [{ state: 'total_timeout' }],
      settled: { errorKind: 'upstream_timeout', target: FIRST, credential: 'own', attempts: 1 },
      spent: { countsForQuota: false },
      check: unharmed,
    }))

  test('as the client has left while a refusal was read', () =>
    runRow({
      gateway: { ...timed, gates: two.gates },
      upstream: [[head(500, { 'content-type': 'application/json' }), SILENCE]],
      client: { leavesAfterMs: 300 },
      seen: { status: 502, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { outcome: 'cancelled', target: FIRST, credential: 'own', attempts: 1 },
      spent: { countsForQuota: false },
      check: unharmed,
    }))
})

describe('across dialects', () => {
  test('unknown members of the target are named, and the gateway’s own members are not', async () => {
    const members = { x_odd: 1, y_odd: 2, stream: true, stream_options: { include_usage: true } }
    const row = (target: string, script: Script, ignored: string | null): StageRow => ({
      name: target,
      gateway: gates(target),
      request: { body: chatBody(members) },
      upstream: [script],
      seen: { status: 200, headers: { 'x-gatehouse-ignored': ignored } },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    })
    await runRow(row('anthropic/claude-opus-5', stream(MESSAGES_STREAM), 'x_odd, y_odd'))
    await runRow(row(FIRST, CHAT_EVENTS, null))
  })

  const gateway = gates('anthropic/claude-opus-5', SECOND)
  const body = chatBody({ seed: 7 })

  test('the answer is that of its target: its headers, its usage, its dialect', async () => {
    await runRow({
      gateway,
      request: { body },
      upstream: [refusal(500), CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': SECOND, 'x-gatehouse-ignored': null } },
      sent: [
        { url: 'https://anthropic.test/base/v1/messages', headers: { authorization: null } },
        {
          url: 'https://groq.test/base/chat/completions',
          headers: { 'x-api-key': null },
          json: { seed: 7 },
        },
      ],
      settled: { target: SECOND, usage: CHAT_USAGE, attempts: 2 },
    })
    await runRow({
      gateway: gates(SECOND, 'anthropic/claude-opus-5'),
      request: { body },
      upstream: [refusal(500), json(200, MESSAGES_JSON)],
      seen: {
        status: 200,
        json: { object: 'chat.completion' },
        headers: { 'x-gatehouse-target': 'anthropic/claude-opus-5', 'x-gatehouse-ignored': 'seed' },
      },
      sent: [{ json: { seed: 7 } }, { headers: { 'x-api-key': plantedCredentialOf('anthropic') } }],
      settled: { target: 'anthropic/claude-opus-5', usage: MESSAGES_USAGE, attempts: 2 },
    })
  })

  test('a strict caller is refused by a target that cannot take every member, and no other is tried', () =>
    runRow({
      gateway,
      request: { body, headers: { 'x-gatehouse-strict': 'true' } },
      seen: { status: 400, json: { error: { param: 'seed', code: 'unsupported_parameter' } } },
      settled: { outcome: 'failed', status: 400, errorKind: 'invalid_request', attempts: 1 },
    }))
})

describe('the owner of the credential', () => {
  const rows: readonly StageRow[] = [
    {
      name: 'is the account if its credential answered, at no cost to the quota',
      gateway: { ...two, credentials: { groq: 'account' } },
      upstream: [refusal(500), CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: { target: SECOND, credential: 'own' },
      spent: { countsForQuota: false },
      check: ({ touched }) => expect(touched).toEqual([CALLER.keyId, 'groq']),
    },
    {
      name: 'is the platform if its credential answered',
      gateway: { ...two, credentials: { openai: 'account' } },
      upstream: [refusal(500), CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: { target: SECOND, credential: 'platform' },
      spent: { countsForQuota: true },
      check: ({ touched }) => expect(touched).toEqual([CALLER.keyId, 'openai']),
    },
    {
      name: 'is not replaced if the account’s own cannot be opened: the target is skipped',
      gateway: {
        ...two,
        credentials: { openai: new GatewayError('provider_auth_failed', 'It cannot be opened.') },
      },
      upstream: [CHAT_ANSWER],
      seen: { status: 200, headers: { 'x-gatehouse-target': SECOND } },
      sent: [{ json: { model: 'second' } }],
      settled: { target: SECOND, attempts: 1 },
    },
  ]
  runRows(rows)
})

describe('reasoning that another target sealed', () => {
  const foreign = refusal(400, { code: 'invalid_encrypted_content', message: 'not mine' })
  const row = {
    gateway: gates('openai/gpt-5', 'xai/grok', 'openrouter/other'),
    request: { path: '/v1/responses', body: { model: GATE, input: 'hi' } },
  }
  const mine = { gateway: gates('openai/gpt-5', 'azure-openai/gpt-5'), request: row.request }
  const healthy = (gateway: InProcessGateway) => expect(failuresOf(gateway, 'openai/gpt-5')).toBe(0)

  runRows([
    {
      name: 'skips the target, which is named and not blamed',
      ...mine,
      upstream: [foreign, json(200, RESPONSES_JSON)],
      seen: {
        status: 200,
        text: RESPONSES_JSON,
        headers: {
          'x-gatehouse-skipped': 'openai/gpt-5',
          'x-gatehouse-target': 'azure-openai/gpt-5',
          'x-gatehouse-attempts': '2',
        },
      },
      sent: [{}, {}],
      settled: { outcome: 'succeeded', attempts: 2, target: 'azure-openai/gpt-5' },
      check: healthy,
    },
    {
      name: 'skips it in a stream too',
      ...mine,
      request: { ...row.request, body: { model: GATE, input: 'hi', stream: true } },
      upstream: [foreign, stream(RESPONSES_STREAM)],
      seen: { status: 200, headers: { 'x-gatehouse-skipped': 'openai/gpt-5' } },
      sent: [{}, {}],
      settled: { outcome: 'succeeded', attempts: 2, stream: true },
      check: healthy,
    },
    {
      name: 'skips all targets: the first refusal is shown, and all are named',
      ...mine,
      upstream: [foreign, refusal(400, { code: 'invalid_encrypted_content', message: 'nor mine' })],
      seen: {
        status: 400,
        json: told('not mine'),
        headers: { 'x-gatehouse-skipped': 'openai/gpt-5, azure-openai/gpt-5' },
      },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 400, attempts: 2 },
    },
    {
      name: 'behind a failed target leaves that failure to be shown, as it hasNone may pass',
      ...mine,
      upstream: [refusal(503), foreign],
      seen: {
        status: 503,
        json: told('said 503'),
        headers: { 'x-gatehouse-skipped': 'azure-openai/gpt-5' },
      },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 503, attempts: 2 },
    },
    {
      name: 'before a failed target leaves that failure to be shown',
      ...mine,
      upstream: [foreign, refusal(503)],
      seen: {
        status: 503,
        json: told('said 503'),
        headers: { 'x-gatehouse-skipped': 'openai/gpt-5' },
      },
      sent: [{}, {}],
      settled: { outcome: 'failed', status: 503, attempts: 2 },
    },
    {
      name: 'is never tried again at the same target',
      gateway: {
        gates: {
          [GATE]: {
            targets: [{ model: 'openai/gpt-5' }, { model: 'azure-openai/gpt-5' }],
            maxRetries: 2,
          },
        },
      },
      request: row.request,
      upstream: [foreign, json(200, RESPONSES_JSON)],
      seen: { status: 200 },
      sent: [{}, {}],
      settled: { attempts: 2 },
      tookMs: 0,
    },
  ])
})

test('a stream that fails before its first event falls back unseen', () =>
  runRow({
    gateway: two,
    request: { path: CHAT, body: chatBody({ stream: true }) },
    upstream: [stream([], { ending: [pause(100), CUT] }), CHAT_EVENTS],
    seen: { status: 200, headers: { 'x-gatehouse-target': SECOND } },
    sent: [{ state: 'connection_lost' }, { state: 'whole' }],
    settled: { outcome: 'succeeded', attempts: 2, stream: true, firstByteMs: 100 },
  }))
