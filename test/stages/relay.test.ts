/** Stage 6: which bytes pass, at which pace, and that no answer ends before its row is written. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import {
  CHAT_JSON,
  CHAT_STREAM,
  CHAT_STREAM_WITH_USAGE,
  MESSAGES_STREAM,
  RESPONSES_STREAM,
} from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CUT,
  head,
  json,
  pause,
  piece,
  type Script,
  SILENCE,
  stream,
} from '../support/scripted-upstream.ts'
import {
  CHAT,
  CHAT_ANSWER,
  CHAT_USAGE,
  chatBody,
  GATE,
  runRow,
  runRows,
  TARGET,
} from '../support/stage-rows.ts'

const FAILED_RESPONSE =
  '{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error","message":"Broke"},"output":[]}'
const KEEP_ALIVE = ': keep-alive\n\n'
const [FIRST = '', SECOND = '', ...REST] = CHAT_STREAM_WITH_USAGE
const streaming = { body: chatBody({ stream: true, stream_options: { include_usage: true } }) }
const succeeded = { outcome: 'succeeded', status: 200, errorKind: null } as const
const events = (...parts: readonly (string | Script[number])[]): Script =>
  stream([], { ending: parts.map((part) => (typeof part === 'string' ? piece(part) : part)) })

describe('usage that the gateway alone asked for', () => {
  test('is requested, counted and hidden', () =>
    runRow({
      request: { body: chatBody({ stream: true }) },
      upstream: [stream(CHAT_STREAM_WITH_USAGE)],
      seen: { status: 200, text: CHAT_STREAM.join('') },
      sent: [{ json: { stream_options: { include_usage: true } } }],
      settled: { ...succeeded, usage: CHAT_USAGE },
    }))

  test('is shown if the client asked for it too', () =>
    runRow({
      request: streaming,
      upstream: [stream(CHAT_STREAM_WITH_USAGE)],
      seen: { status: 200, text: CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{}],
      settled: { ...succeeded, usage: CHAT_USAGE },
    }))

  test('is estimated if it never comes, and marked as such', () =>
    runRow({
      request: streaming,
      upstream: [stream(CHAT_STREAM)],
      seen: { status: 200, text: CHAT_STREAM.join('') },
      sent: [{}],
      settled: {
        ...succeeded,
        usage: { inputTokens: 30, outputTokens: 3, cachedInputTokens: 0, reasoningTokens: 0 },
        cost: { nanoUsd: 60, status: 'estimated', source: 'scripted' },
      },
      spent: { tokens: 33 },
    }))
})

describe('usage reported before the text that it should count', () => {
  const ONLY_INPUT = '"usage":{"prompt_tokens":11,"completion_tokens":0}'
  const early = (choices: object[]) =>
    `data: {"id":"c","choices":${JSON.stringify(choices)},${ONLY_INPUT}}\n\n`
  const say = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`
  const FORTY_BYTES = 'four score and seven years ago, our fath'
  const ENDING = [
    'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    'data: [DONE]\n\n',
  ]
  const usage = { inputTokens: 11, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0 }
  const estimated = { nanoUsd: 111, status: 'estimated', source: 'scripted' } as const
  const messages = [
    ...MESSAGES_STREAM.slice(0, 1),
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${FORTY_BYTES}"}}\n\n`,
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ]
  const anthropic = { gates: { [GATE]: ['anthropic/claude-opus-5'] } }

  runRows([
    {
      name: 'has that text added, as an estimate',
      request: streaming,
      upstream: [stream([early([]), say(FORTY_BYTES), ...ENDING])],
      seen: { status: 200 },
      sent: [{}],
      settled: { ...succeeded, usage, cost: estimated },
      spent: { tokens: 21 },
    },
    {
      name: 'for a caller of another dialect too',
      request: {
        path: '/v3/chat',
        body: { gate_id: GATE, messages: [{ role: 'user', content: 'hi' }], stream: true },
      },
      upstream: [stream([early([]), say(FORTY_BYTES), ...ENDING])],
      seen: { status: 200 },
      sent: [{}],
      settled: { ...succeeded, usage, cost: estimated },
      spent: { tokens: 21 },
    },
    ...[
      { name: 'of Messages', path: '/v1/messages' },
      { name: 'of Messages, translated', path: CHAT },
    ].map(({ name, path }) => ({
      name,
      gateway: anthropic,
      request: { path, body: chatBody({ stream: true, max_tokens: 100 }) },
      upstream: [stream(messages)],
      seen: { status: 200 },
      sent: [{}],
      settled: {
        ...succeeded,
        usage: expect.objectContaining({ outputTokens: 11 }) as never,
        cost: expect.objectContaining({ status: 'estimated' }) as never,
      },
      spent: { tokens: 22 },
    })),
    {
      name: 'is exact where every chunk reports what there is by then',
      request: streaming,
      upstream: [
        stream([
          early([]),
          `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${FORTY_BYTES}"}}],"usage":{"prompt_tokens":11,"completion_tokens":10}}\n\n`,
          ...ENDING,
        ]),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { ...succeeded, usage, cost: { ...estimated, status: 'exact' } },
      spent: { tokens: 21 },
    },
  ])
})

describe('headers', () => {
  const hop = {
    'x-should-retry': 'kept',
    'set-cookie': 'a=1',
    'x-api-key': 'k',
    'x-request-id': 'theirs',
    'x-gatehouse-target': 'theirs',
    'x-gatehouse-ignored': 'theirs',
    'x-ratelimit-remaining-requests': '9999',
    connection: 'x-hop',
    'x-hop': '1',
    'openai-organization': 'org',
  }
  const passed = {
    'x-should-retry': 'kept',
    'set-cookie': null,
    'x-api-key': null,
    'x-request-id': expect.stringMatching(/^req_/),
    'x-gatehouse-target': TARGET,
    'x-gatehouse-ignored': null,
    'x-ratelimit-remaining-requests': '41',
    connection: null,
    'x-hop': null,
    'openai-organization': null,
  }
  runRows([
    {
      name: 'of a whole answer: the upstream’s pass but for what is ours, its own or opens something',
      upstream: [json(200, CHAT_JSON, hop)],
      seen: { status: 200, headers: passed },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'of a stream',
      request: streaming,
      upstream: [stream(CHAT_STREAM_WITH_USAGE, { headers: hop })],
      seen: {
        status: 200,
        headers: { ...passed, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
      },
      sent: [{}],
      settled: succeeded,
    },
    {
      name: 'of a refusal: only those that say when to come back',
      upstream: [
        json(
          429,
          { error: { message: 'later' } },
          { ...hop, 'retry-after': '9', 'x-should-retry': 'true' },
        ),
      ],
      seen: {
        status: 429,
        headers: {
          ...passed,
          'x-upstream': null,
          'x-gatehouse-target': null,
          'retry-after': '9',
          'x-should-retry': 'true',
        },
      },
      sent: [{}],
      settled: { outcome: 'failed', status: 429 },
    },
    {
      name: 'another 2xx keeps its status',
      upstream: [json(201, CHAT_JSON)],
      seen: { status: 201, text: CHAT_JSON },
      sent: [{}],
      settled: { outcome: 'succeeded', status: 201 },
    },
  ])
})

describe('a silent upstream', () => {
  runRows([
    {
      name: 'is covered by comments, one for each interval, and the stream goes on',
      gateway: { keepAliveMs: 1_000 },
      request: streaming,
      upstream: [events(FIRST, pause(3_500), SECOND, ...REST)],
      seen: {
        status: 200,
        text: FIRST + KEEP_ALIVE.repeat(3) + SECOND + REST.join(''),
      },
      sent: [{ state: 'whole' }],
      settled: { ...succeeded, durationMs: 3_500, firstByteMs: 0, usage: CHAT_USAGE },
      tookMs: 3_500,
    },
    {
      name: 'counts from its newest bytes',
      gateway: { keepAliveMs: 1_000 },
      request: streaming,
      upstream: [events(FIRST, pause(900), SECOND, pause(900), ...REST)],
      seen: { status: 200, text: CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{}],
      settled: { ...succeeded, durationMs: 1_800 },
    },
    {
      name: 'is not covered before its first event: there is no status yet',
      gateway: { keepAliveMs: 1_000 },
      request: streaming,
      upstream: [[pause(3_500), ...stream(CHAT_STREAM_WITH_USAGE)]],
      seen: { status: 200, text: CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{}],
      settled: { ...succeeded, firstByteMs: 3_500 },
    },
    {
      name: 'is given up after its own limit, comments or not',
      gateway: { keepAliveMs: 4_000 },
      request: streaming,
      upstream: [events(FIRST, SILENCE)],
      seen: { status: 200, ending: 'cut', contains: [FIRST + KEEP_ALIVE.repeat(2)] },
      sent: [{ state: 'idle_timeout' }],
      settled: { outcome: 'failed', errorKind: 'upstream_timeout', durationMs: 10_000 },
      tookMs: 10_250,
    },
    {
      name: 'that does not close after its last event is waited for a second, and the answer is whole',
      request: streaming,
      upstream: [stream(CHAT_STREAM_WITH_USAGE, { ending: [SILENCE] })],
      seen: { status: 200, text: CHAT_STREAM_WITH_USAGE.join('') },
      sent: [{ state: 'idle_timeout' }],
      settled: { ...succeeded, durationMs: 0 },
      tookMs: 1_000,
    },
    {
      name: 'that sends more after its last event has that passed on',
      request: streaming,
      upstream: [stream(CHAT_STREAM_WITH_USAGE, { ending: [pause(10), piece(': cost=1\n\n')] })],
      seen: { status: 200, text: `${CHAT_STREAM_WITH_USAGE.join('')}: cost=1\n\n` },
      sent: [{ state: 'whole' }],
      settled: succeeded,
    },
  ])
})

describe('a failure in the upstream’s own stream', () => {
  const ERROR = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n'
  runRows([
    {
      name: 'passes through once, and the call has failed',
      request: streaming,
      upstream: [events(FIRST, ERROR)],
      seen: { status: 200, ending: 'cut', text: FIRST + ERROR },
      sent: [{}],
      settled: { outcome: 'failed', status: 200, errorKind: 'upstream_error' },
    },
    {
      name: 'and closes as usual: the answer ends as it did',
      request: streaming,
      upstream: [events(FIRST, ERROR, 'data: [DONE]\n\n')],
      seen: { status: 200, text: `${FIRST + ERROR}data: [DONE]\n\n` },
      sent: [{ state: 'whole' }],
      settled: { outcome: 'failed', status: 200, errorKind: 'upstream_error' },
    },
    {
      name: 'and stays open until the gate’s time is over: it is not billed from a guess',
      gateway: { gates: { [GATE]: { targets: [{ model: TARGET }], timeoutMs: 900 } } },
      request: streaming,
      upstream: [events(FIRST, SECOND, ERROR, SILENCE)],
      seen: { status: 200, ending: 'cut', text: FIRST + SECOND + ERROR },
      sent: [{ state: 'total_timeout' }],
      settled: { outcome: 'failed', status: 200, usage: null },
    },
    {
      name: 'in a whole answer of Responses, which passes unchanged and is not billed from a guess',
      gateway: { gates: { [GATE]: ['openai/gpt-5'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'x' } },
      upstream: [json(200, FAILED_RESPONSE)],
      seen: { status: 200, text: FAILED_RESPONSE },
      sent: [{ state: 'whole' }],
      settled: { outcome: 'failed', status: 200, errorKind: 'upstream_error', usage: null },
    },
    {
      name: 'in its last event of Responses',
      gateway: { gates: { [GATE]: ['openai/gpt-5'] } },
      request: { path: '/v1/responses', body: { model: GATE, input: 'x', stream: true } },
      upstream: [
        events(
          RESPONSES_STREAM[0] ?? '',
          'event: response.failed\ndata: {"type":"response.failed","response":{"usage":{"input_tokens":5,"output_tokens":1}}}\n\n',
        ),
      ],
      seen: { status: 200, contains: ['response.failed'] },
      sent: [{}],
      settled: {
        outcome: 'failed',
        errorKind: 'upstream_error',
        usage: { inputTokens: 5, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
      },
    },
    {
      name: 'is translated for a caller of another dialect',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: streaming,
      upstream: [
        stream([
          ...MESSAGES_STREAM.slice(0, 3),
          'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
        ]),
      ],
      seen: { status: 200, ending: 'cut', contains: ['"upstream_error"', 'busy'] },
      sent: [{}],
      settled: { outcome: 'failed', status: 200, errorKind: 'upstream_error' },
    },
  ])
})

describe('nothing ends before it is recorded', () => {
  function held(script: Script, body: object) {
    const writing = Promise.withResolvers<void>()
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [script],
      ledger: { record: () => writing.promise },
    })
    let isOver = false
    const call = gateway.begin({ path: CHAT, body })
    const seen = call.seen.then((answer) => {
      isOver = true
      return answer
    })
    return { gateway, writing, seen, isOver: () => isOver }
  }

  test('a whole answer waits for the ledger, and so does the place', async () => {
    const { gateway, writing, seen, isOver } = held(CHAT_ANSWER, chatBody())
    await gateway.clock.advance(5_000)
    expect({ isOver: isOver(), spent: gateway.limits.tickets[0]?.spent }).toEqual({
      isOver: false,
      spent: [],
    })
    writing.resolve()
    expect((await gateway.clock.finish(seen)).text).toBe(CHAT_JSON)
    await gateway.assertNothingIsLeft()
  })

  test('a stream goes out but for its last event', async () => {
    const { gateway, writing, seen, isOver } = held(stream(CHAT_STREAM_WITH_USAGE), streaming.body)
    await gateway.clock.advance(5_000)
    expect({ isOver: isOver(), spent: gateway.limits.tickets[0]?.spent }).toEqual({
      isOver: false,
      spent: [],
    })
    writing.resolve()
    const { pieces, text } = await gateway.clock.finish(seen)
    expect(text).toBe(CHAT_STREAM_WITH_USAGE.join(''))
    expect(pieces.at(-1)).toBe(CHAT_STREAM_WITH_USAGE.at(-1) ?? '')
    await gateway.assertNothingIsLeft()
  })

  const full = () =>
    Promise.reject(new GatewayError('unavailable', 'The journal cannot be written.'))
  const ledger = { record: full }
  runRows([
    {
      name: 'a whole answer that cannot be recorded is not sent',
      gateway: { ledger },
      upstream: [CHAT_ANSWER],
      seen: { status: 503, json: { error: { code: 'unavailable' } }, forbids: ['choices'] },
      sent: [{}],
      settled: { outcome: 'succeeded', usage: CHAT_USAGE },
    },
    {
      name: 'a stream that cannot be recorded breaks before its last event',
      gateway: { ledger },
      request: streaming,
      upstream: [stream(CHAT_STREAM_WITH_USAGE)],
      seen: { status: 200, ending: 'cut', contains: ['The journal cannot be written.'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'succeeded' },
      check: ({ breakers }) =>
        expect(breakers.seenOf(`acct_caller\n${TARGET}`)?.failuresInARow).toBe(0),
    },
    {
      name: 'a refusal that cannot be recorded is an internal failure',
      gateway: { ledger },
      upstream: [json(400, { error: { message: 'no' } })],
      seen: { status: 503, json: { error: { code: 'unavailable' } } },
      sent: [{}],
      settled: { outcome: 'failed', status: 400 },
    },
    {
      name: 'a broken stream ends as broken, whether it can be recorded or not',
      gateway: { ledger },
      request: streaming,
      upstream: [stream([FIRST], { ending: [CUT] })],
      seen: { status: 200, ending: 'cut', contains: ['upstream_error'], forbids: ['journal'] },
      sent: [{}],
      settled: { outcome: 'failed', errorKind: 'upstream_error' },
    },
  ])
})

describe('an answer too large to hold', () => {
  const LIMIT = 4 * 1024 * 1024
  const type = { 'content-type': 'application/json' }
  const text = `{"x":"${'x'.repeat(LIMIT)}"}`
  const COUNTED = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2},"x":"'
  const pieces = [text.slice(0, LIMIT), text.slice(LIMIT, LIMIT + 4), text.slice(LIMIT + 4)]
  const counted = [
    `{"x":"${'x'.repeat(LIMIT)}`,
    '","us',
    'age":{"prompt_tokens":11,"completion_',
    'tokens":7}',
    ',"y":[1]}',
  ]
  const ESTIMATED = {
    inputTokens: 16,
    outputTokens: 1_536,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  }
  const VECTOR = Array(3_072).fill('-0.0123456789012345678901').join()
  const vectors = [
    '{"object":"list","data":[',
    ...Array(64).fill(`{"object":"embedding","index":0,"embedding":[${VECTOR}]},`),
    '{}],"model":"m","usage":{"prompt_tokens":512,"total_tokens":512}}',
  ]

  runRows([
    {
      name: 'flows through to the byte; its usage is estimated without a report',
      upstream: [[head(200, type), ...pieces.map(piece)]],
      seen: { status: 200, text },
      sent: [{ state: 'whole' }],
      settled: { ...succeeded, usage: ESTIMATED },
      spent: { tokens: 1_552 },
    },
    {
      name: 'is counted, whichever piece its usage comes in',
      upstream: [[head(200, type), ...counted.map(piece)]],
      seen: { status: 200, text: counted.join('') },
      sent: [{ state: 'whole' }],
      settled: {
        ...succeeded,
        usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
        cost: { nanoUsd: 81, status: 'exact', source: 'scripted' },
      },
      spent: { tokens: 18 },
    },
    {
      name: 'of embeddings is counted',
      gateway: { gates: { [GATE]: ['openai/text-embedding-3-large'] } },
      request: { path: '/v1/embeddings', body: { model: GATE, input: ['a'] } },
      upstream: [[head(200, type), ...vectors.map(piece)]],
      seen: { status: 200, text: vectors.join('') },
      sent: [{ state: 'whole' }],
      settled: {
        ...succeeded,
        usage: { inputTokens: 512, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
      },
      spent: { tokens: 512 },
    },
    {
      name: 'that breaks counts its reported usage',
      upstream: [[head(200, type), ...counted.map(piece), CUT]],
      seen: { status: 200, ending: 'cut' },
      sent: [{ state: 'connection_lost' }],
      settled: { outcome: 'failed', usage: expect.objectContaining({ inputTokens: 11 }) as never },
      spent: { tokens: 18 },
    },
    {
      name: 'of embeddings, which are all numbers, is translated',
      gateway: { gates: { [GATE]: ['gemini/gemini-embedding-001'] } },
      request: { path: '/v1/embeddings', body: { model: GATE, input: Array(64).fill('a') } },
      upstream: [
        [
          head(200, type),
          piece(`{"embeddings":[${Array(64).fill(`{"values":[${VECTOR}]}`).join()}],`),
          piece('"usageMetadata":{"promptTokenCount":64}}'),
        ],
      ],
      seen: { status: 200 },
      sent: [{ state: 'whole' }],
      settled: {
        ...succeeded,
        usage: { inputTokens: 64, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
      },
      check: (_, seen) => expect(JSON.parse(seen.text).data).toHaveLength(64),
    },
    {
      name: 'with its length too',
      upstream: [
        [head(200, { ...type, 'content-length': String(text.length) }), ...pieces.map(piece)],
      ],
      seen: { status: 200, text },
      sent: [{ state: 'whole' }],
      settled: { ...succeeded, usage: ESTIMATED },
    },
    {
      name: 'that breaks is cut, and keeps its last piece back',
      upstream: [[head(200, type), ...pieces.map(piece), CUT]],
      seen: { status: 200, ending: 'cut', text: pieces.slice(0, 2).join('') },
      sent: [{ state: 'connection_lost' }],
      settled: { outcome: 'failed', status: 200, errorKind: 'upstream_error', usage: null },
    },
    {
      name: 'is not translated',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      upstream: [[head(200, type), ...pieces.map(piece)]],
      seen: { status: 502, contains: ['too large to translate'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', status: 502, errorKind: 'upstream_error' },
    },
    {
      name: 'by one byte less is held and counted',
      upstream: [[head(200, type), piece(`${COUNTED}${'x'.repeat(LIMIT - COUNTED.length - 2)}"}`)]],
      seen: { status: 200 },
      sent: [{ state: 'whole' }],
      settled: {
        ...succeeded,
        usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
      },
      check: (_, seen) => expect(seen.text).toHaveLength(LIMIT),
    },
  ])
})

test('a slow client slows the upstream: the gateway reads no more than the client', async () => {
  const many = Array.from(
    { length: 200 },
    (_, index) => `data: {"choices":[{"index":${index}}]}\n\n${': '.padEnd(16_384, 'x')}\n\n`,
  )
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    upstream: [stream([...many, 'data: [DONE]\n\n'])],
    timeouts: { totalMs: 600_000 },
  })
  const call = gateway.begin({ path: CHAT, ...streaming }, { msForEachPiece: 1_000 })
  await gateway.clock.advance(3_500)
  expect(gateway.upstream.sent[0]?.taken).toBeLessThan(100)
  expect(gateway.ledger.records).toEqual([])
  const seen = await gateway.clock.finish(call.seen)
  expect(seen.text).toBe(`${many.join('')}data: [DONE]\n\n`)
  await gateway.assertNothingIsLeft()
})
