/**
 * Streams with silent targets: when the answer begins without them, how it continues, and how it
 * ends.
 */
import { describe, expect, test } from 'bun:test'
import {
  CHAT_STREAM,
  CHAT_STREAM_WITH_USAGE,
  FIM_STREAM,
  MESSAGES_STREAM,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { InProcessGateway, REVOKED_CALLS_MS } from '../support/in-process-gateway.ts'
import { json, pause, type Script, SILENCE, stream } from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRow,
  runRows,
  type StageRow,
  TARGET,
} from '../support/stage-rows.ts'

const KEEP_ALIVE = ': keep-alive\n\n'
const COMMIT_MS = 15_000
const FIRST = 'openai/first'
const SECOND = 'groq/second'
const streaming = { body: chatBody({ stream: true, stream_options: { include_usage: true } }) }
const answering = (ms: number, script: Script): Script => [pause(ms), ...script]
const EVENTS = stream(CHAT_STREAM_WITH_USAGE)
const refusal = (status: number, message = `said ${status}`): Script =>
  json(status, { error: { message, type: 't', param: null, code: null } })
const succeeded = { outcome: 'succeeded', status: 200, errorKind: null, usage: CHAT_USAGE } as const
/** Only a target that answers could have sent these headers. */
const unsaid = {
  'x-gatehouse-target': null,
  'x-gatehouse-attempts': null,
  'x-gatehouse-ignored': null,
  'x-gatehouse-upstream-request-id': null,
  'openai-version': null,
}
const committed = {
  ...unsaid,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
  'x-ratelimit-remaining-requests': '41',
}

const DIALECTS = [
  {
    path: CHAT,
    target: TARGET,
    body: { messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } },
    events: CHAT_STREAM_WITH_USAGE,
    told: [/^data: \{"error":\{"message":"said 429".*\}\}\n\ndata: \[DONE\]\n\n$/],
  },
  {
    path: '/v1/responses',
    target: 'openai/gpt-5',
    body: { input: 'hi' },
    events: RESPONSES_STREAM,
    told: [
      /^event: error\ndata: \{"type":"error","sequence_number":0,"message":"said 429"/,
      /event: response\.failed\ndata: .*"error":\{"code":"rate_limit_exceeded","message":"said 429"\}/,
      /data: \[DONE\]\n\n$/,
    ],
  },
  {
    path: '/v1/messages',
    target: 'anthropic/claude-opus-5',
    body: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 },
    events: MESSAGES_STREAM,
    told: [/^event: error\ndata: \{.*"message":"said 429".*\}\n\n$/],
  },
  {
    path: '/alt/v1/fim/completions',
    target: 'mistral/codestral-latest',
    body: { prompt: 'x' },
    events: FIM_STREAM,
    told: [/^data: \{"error":\{"type":"upstream_error",.*"message":"said 429"\}\}\n\n$/],
  },
  {
    path: '/alt/v1/chat/completions',
    target: 'mistral/mistral-large-latest',
    body: { messages: [{ role: 'user', content: 'hi' }] },
    events: CHAT_STREAM_WITH_USAGE,
    told: [/^data: \{"error":\{"type":"upstream_error",.*"message":"said 429"\}\}\n\n$/],
  },
  {
    path: '/v3/chat',
    target: TARGET,
    body: { messages: [{ role: 'user', content: 'hi' }] },
    events: undefined,
    told: [/^event: error\ndata: \{"error":"upstream_error","message":"said 429".*\}\n\n$/],
  },
] as const

describe.each(DIALECTS)('$path', ({ path, target, body, events, told }) => {
  const row = {
    gateway: { gates: { [GATE]: [target] } },
    request: { path, body: { model: GATE, stream: true, ...body } },
  }
  const own =
    path === '/v3/chat' ? { body: { gate_id: GATE, stream: true, ...body }, path } : row.request

  test('a target that begins late continues the committed answer, to the byte', () =>
    runRow({
      ...row,
      request: own,
      upstream: [answering(COMMIT_MS + 4_000, stream(events ?? CHAT_STREAM_WITH_USAGE))],
      seen: {
        status: 200,
        headers: committed,
        ...(events === undefined
          ? { contains: [KEEP_ALIVE, 'event: chat.started', 'event: chat.completed'] }
          : { text: KEEP_ALIVE + events.join('') }),
      },
      sent: [{ state: 'whole' }],
      settled: { outcome: 'succeeded', status: 200, target, firstByteMs: COMMIT_MS + 4_000 },
    }))

  test('a later failure is shown in the stream, which is cut, and the row has the true status', async () => {
    let text = ''
    await runRow({
      ...row,
      request: own,
      upstream: [answering(COMMIT_MS + 1, refusal(429))],
      seen: { status: 200, headers: committed, ending: 'cut' },
      sent: [{}],
      settled: {
        outcome: 'failed',
        status: 429,
        errorKind: 'upstream_error',
        target,
        firstByteMs: null,
      },
      spent: { tokens: 0 },
      check: (_, seen) => {
        text = seen.text
      },
    })
    expect(text).toStartWith(KEEP_ALIVE)
    const failure = text.slice(KEEP_ALIVE.length)
    for (const part of told) expect(failure).toMatch(part)
  })

  test('an earlier failure has its own status', () =>
    runRow({
      ...row,
      request: own,
      upstream: [answering(COMMIT_MS - 1, refusal(429))],
      seen: {
        status: 429,
        headers: { 'content-type': 'application/json' },
        forbids: ['keep-alive'],
      },
      sent: [{}],
      settled: { outcome: 'failed', status: 429 },
    }))
})

describe('while it waits', () => {
  runRows([
    {
      name: 'there is a comment for each interval',
      gateway: { keepAliveMs: 1_000, commitAfterMs: 2_000 },
      request: streaming,
      upstream: [answering(4_500, EVENTS)],
      seen: {
        status: 200,
        headers: committed,
        text: KEEP_ALIVE.repeat(3) + CHAT_STREAM_WITH_USAGE.join(''),
      },
      sent: [{ state: 'whole' }],
      settled: { ...succeeded, durationMs: 4_500 },
    },
    {
      name: 'a target in time loses nothing of its head',
      gateway: { commitAfterMs: 2_000 },
      request: streaming,
      upstream: [
        answering(1_999, stream(CHAT_STREAM_WITH_USAGE, { headers: { 'openai-version': 'x' } })),
      ],
      seen: {
        status: 200,
        headers: {
          'x-gatehouse-target': TARGET,
          'x-gatehouse-attempts': '1',
          'openai-version': 'x',
        },
        text: CHAT_STREAM_WITH_USAGE.join(''),
      },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'a setting of 0 lets the first event decide, however late it is',
      gateway: { commitAfterMs: 0 },
      request: streaming,
      upstream: [answering(19_000, refusal(400))],
      seen: { status: 400 },
      sent: [{}],
      settled: { outcome: 'failed', status: 400 },
      tookMs: 19_000,
    },
    {
      name: 'a whole answer is waited for without a byte',
      upstream: [answering(19_000, json(500, { error: { message: 'no' } }))],
      seen: { status: 502 },
      sent: [{}],
      settled: { outcome: 'failed', status: 502 },
    },
    {
      name: 'a slow head counts as much as a slow first event',
      gateway: { commitAfterMs: 2_000 },
      request: streaming,
      upstream: [[...EVENTS.slice(0, 1), pause(2_500), ...EVENTS.slice(1)]],
      seen: { status: 200, headers: committed, text: KEEP_ALIVE + CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{ state: 'whole' }],
      settled: succeeded,
    },
  ])
})

describe('behind the committed beginning', () => {
  const two = (members: object = {}) => ({
    gates: { [GATE]: { targets: [FIRST, SECOND].map((model) => ({ model })), ...members } },
    commitAfterMs: 2_000,
  })
  const rows: readonly StageRow[] = [
    {
      name: 'the next target is tried, and answers',
      gateway: two(),
      request: streaming,
      upstream: [answering(3_000, refusal(503)), EVENTS],
      seen: { status: 200, headers: committed, text: KEEP_ALIVE + CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{ atMs: 0 }, { atMs: 3_000 }],
      settled: { ...succeeded, target: SECOND, attempts: 2, firstByteMs: 3_000 },
    },
    {
      name: 'the same target is tried again',
      gateway: two({ maxRetries: 1, targets: [{ model: FIRST }] }),
      request: streaming,
      upstream: [
        answering(3_000, json(503, { error: { message: 'x' } }, { 'retry-after': '1' })),
        EVENTS,
      ],
      seen: { status: 200, headers: committed, text: KEEP_ALIVE + CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{ atMs: 0 }, { atMs: 4_000 }],
      settled: { ...succeeded, target: FIRST, attempts: 2 },
    },
    {
      name: 'the winner of a hedge answers, and the loser is counted',
      gateway: two({ hedgeAfterMs: 2_500 }),
      request: streaming,
      upstream: [[SILENCE], answering(500, EVENTS)],
      seen: { status: 200, headers: committed, text: KEEP_ALIVE + CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{ state: 'cancelled' }, { atMs: 2_500, state: 'whole' }],
      settled: { outcome: 'succeeded', target: SECOND, attempts: 2 },
    },
    {
      name: 'the last failure is shown when all have failed, and each is in the row',
      gateway: two(),
      request: streaming,
      upstream: [answering(3_000, refusal(503)), refusal(400, 'the prompt is wrong')],
      seen: {
        status: 200,
        ending: 'cut',
        contains: ['the prompt is wrong'],
        forbids: ['said 503'],
      },
      sent: [{}, {}],
      settled: {
        ...{
          outcome: 'failed',
          status: 400,
          errorKind: 'upstream_error',
          target: SECOND,
          attempts: 2,
        },
        attemptDetails: [
          expect.objectContaining({ target: FIRST, status: 503 }),
          expect.objectContaining({ target: SECOND, status: 400 }),
        ] as never,
      },
    },
    {
      name: 'a target that never answers is given up in its own time, and shown as such',
      gateway: { commitAfterMs: 2_000, keepAliveMs: 60_000 },
      request: streaming,
      upstream: [[SILENCE]],
      seen: { status: 200, ending: 'cut', contains: [KEEP_ALIVE, '"code":"first_byte_timeout"'] },
      sent: [{ state: 'first_byte_timeout' }],
      settled: {
        outcome: 'failed',
        status: 504,
        errorKind: 'upstream_timeout',
        durationMs: 20_000,
      },
    },
    {
      name: 'a stream that breaks later breaks as any other',
      gateway: { commitAfterMs: 2_000 },
      request: streaming,
      upstream: [answering(3_000, stream(CHAT_STREAM.slice(0, 2)))],
      seen: {
        status: 200,
        ending: 'cut',
        contains: [KEEP_ALIVE + CHAT_STREAM.slice(0, 2).join('')],
      },
      sent: [{}],
      settled: { outcome: 'failed', status: 200, errorKind: 'upstream_error', firstByteMs: 3_000 },
    },
    {
      name: 'an error of several lines is one line of data',
      gateway: { commitAfterMs: 2_000 },
      request: streaming,
      upstream: [
        answering(
          3_000,
          json(400, '{\n  "error": {\r\n"message":"a", "type":"t", "param":null, "code":"c"}\n}'),
        ),
      ],
      seen: {
        ...{ status: 200, ending: 'cut' },
        contains: [
          '\n\ndata: {   "error": {  "message":"a", "type":"t", "param":null, "code":"c"} }\n\n',
        ],
      },
      sent: [{}],
      settled: { outcome: 'failed', status: 400 },
    },
    {
      name: 'a full context has the code that agents of Responses look for',
      gateway: { commitAfterMs: 2_000, gates: { [GATE]: ['openai/gpt-5'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'x', stream: true } },
      upstream: [
        answering(3_000, refusal(400, 'This model’s maximum context length is 9 tokens.')),
      ],
      seen: { status: 200, ending: 'cut', contains: ['"error":{"code":"context_length_exceeded"'] },
      sent: [{}],
      settled: { outcome: 'failed', status: 400 },
    },
    {
      name: 'a ledger that cannot be written is an error in the stream, and the settlement stays',
      gateway: {
        commitAfterMs: 2_000,
        ledger: { record: () => Promise.reject(new Error('full')) },
      },
      request: streaming,
      upstream: [answering(3_000, refusal(400))],
      seen: { status: 200, ending: 'cut', contains: ['internal_error'] },
      sent: [{}],
      settled: { outcome: 'failed', status: 400 },
      failures: [{ kind: 'internal_error' }],
    },
    {
      name: 'a translated answer is translated',
      gateway: { commitAfterMs: 2_000, gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: streaming,
      upstream: [answering(3_000, stream(MESSAGES_STREAM))],
      seen: { status: 200, headers: committed, contains: [`${KEEP_ALIVE}data: {`, 'data: [DONE]'] },
      sent: [{ state: 'whole' }],
      settled: { outcome: 'succeeded', target: 'anthropic/claude-opus-5' },
    },
  ]
  runRows(rows)
})

describe('a client that hangs up while it waits', () => {
  const cancelled = {
    outcome: 'cancelled',
    status: 499,
    errorKind: null,
    firstByteMs: null,
  } as const
  const waiting = { gateway: { commitAfterMs: 2_000, keepAliveMs: 1_000 }, request: streaming }
  runRows([
    {
      name: 'ends the exchange, and is settled as one that hung up before',
      ...waiting,
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 3_500 },
      seen: { status: 200, ending: 'left', text: KEEP_ALIVE.repeat(2) },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, durationMs: 3_500 },
      tookMs: 3_500,
    },
    {
      name: 'before it has read a byte of the beginning',
      ...waiting,
      upstream: [[SILENCE]],
      client: { leavesAfterEvents: 0 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: cancelled,
    },
    {
      name: 'in a pause before a retry',
      gateway: {
        ...waiting.gateway,
        gates: { [GATE]: { targets: [{ model: FIRST }], maxRetries: 1 } },
      },
      request: streaming,
      upstream: [answering(3_000, json(503, { error: { message: 'x' } }, { 'retry-after': '5' }))],
      client: { leavesAfterMs: 4_500 },
      seen: { status: 200, ending: 'left', text: KEEP_ALIVE.repeat(3) },
      sent: [{}],
      settled: cancelled,
      tookMs: 4_500,
    },
    {
      name: 'and takes its comments slowly is served nothing twice',
      ...waiting,
      upstream: [answering(9_000, EVENTS)],
      client: { msForEachPiece: 3_000 },
      seen: { status: 200, contains: [CHAT_STREAM_WITH_USAGE.join('')] },
      sent: [{ state: 'whole' }],
      settled: { outcome: 'succeeded' },
    },
  ])
})

test('a key deleted during the wait ends it, with an error in the stream', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    commitAfterMs: 1_000,
    upstream: [[SILENCE]],
  })
  const call = gateway.begin({ path: CHAT, ...streaming })
  await gateway.clock.advance(1_500)
  gateway.deleteKey()
  await gateway.clock.advance(REVOKED_CALLS_MS + 100)
  const seen = await gateway.clock.finish(call.seen)
  expect(seen).toMatchObject({ status: 200, ending: 'cut' })
  expect(seen.text).toContain('"code":"invalid_api_key"')
  expect(gateway.ledger.records).toMatchObject([
    { outcome: 'failed', status: 401, errorKind: 'unauthorized' },
  ])
  await gateway.assertNothingIsLeft()
})

test('a shutdown ends the wait, with an error in the stream', async () => {
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET, SECOND] },
    commitAfterMs: 1_000,
    upstream: [[SILENCE]],
  })
  const call = gateway.begin({ path: CHAT, ...streaming })
  await gateway.clock.advance(1_500)
  gateway.deadlines.expireAll()
  const seen = await gateway.clock.finish(call.seen)
  expect(seen).toMatchObject({ status: 200, ending: 'cut' })
  expect(seen.text).toContain('"type":"server_error"')
  expect(gateway.ledger.records).toMatchObject([
    { outcome: 'failed', status: 503, errorKind: 'unavailable' },
  ])
  await gateway.assertNothingIsLeft()
})

test('what the target did not take is named in a comment, since the headers have gone out', async () => {
  const gateway = new InProcessGateway({
    gates: { g: ['anthropic/claude-opus-5'] },
    upstream: [answering(COMMIT_MS + 1_000, stream(MESSAGES_STREAM))],
  })
  const messages = [{ role: 'user', content: 'hi' }]
  const seen = await gateway.ask({
    path: CHAT,
    body: { model: 'g', stream: true, seed: 1, messages },
  })
  expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
  expect(seen.text).toStartWith(`${KEEP_ALIVE}: x-gatehouse-ignored: seed\n\ndata: `)
})
