/**
 * Answers that an upstream worked on and nobody received, because the gateway ended the call: how
 * such calls are counted.
 */
import { describe, expect, spyOn, test } from 'bun:test'
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
  UNREACHABLE,
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

const JSON_HEAD = head(200, { 'content-type': 'application/json' })
const timed = (timeoutMs: number, members: object = {}) => ({
  gates: { [GATE]: { targets: [{ model: TARGET }], timeoutMs, ...members } },
})
const tokens = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 0,
  reasoningTokens: 0,
})

describe('an answer that the gate’s time has cut off is paid for', () => {
  const timedOut = { outcome: 'failed', status: 504, errorKind: 'upstream_timeout' } as const
  runRows([
    {
      name: 'before its head',
      gateway: timed(900),
      upstream: [[SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'total_timeout' }],
      settled: {
        ...timedOut,
        usage: tokens(16, 0),
        cost: { nanoUsd: 16, status: 'estimated', source: 'scripted' },
      },
      spent: { tokens: 16 },
    },
    {
      name: 'in the middle of a whole answer',
      gateway: timed(900),
      upstream: [[JSON_HEAD, piece('{"choices":['), SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'total_timeout' }],
      settled: { ...timedOut, usage: tokens(16, 0) },
      spent: { tokens: 16 },
    },
    {
      name: 'once, where a retry was under way',
      gateway: timed(900, { maxRetries: 1 }),
      upstream: [json(429, {}), [SILENCE]],
      seen: { status: 504 },
      sent: [{}, { state: 'total_timeout' }],
      settled: { ...timedOut, attempts: 2, usage: tokens(16, 0) },
      spent: { tokens: 16 },
    },
    {
      name: 'but not where the upstream was never reached',
      gateway: timed(900),
      upstream: [[...UNREACHABLE]],
      seen: { status: 502 },
      sent: [{}],
      settled: { outcome: 'failed', usage: null },
      spent: { tokens: 0 },
    },
    {
      name: 'but not where the upstream itself fell silent',
      gateway: { timeouts: { firstByteMs: 500 } },
      upstream: [[SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'first_byte_timeout' }],
      settled: { ...timedOut, usage: null },
      spent: { tokens: 0 },
    },
  ])
})

describe('an answer whose key was deleted meanwhile is paid for', () => {
  test.each([
    ['before its head', [SILENCE]],
    ['in its middle', [JSON_HEAD, piece('{"choices":['), SILENCE]],
  ] as readonly (readonly [string, Script])[])('%s', async (_, script) => {
    const gateway = new InProcessGateway({ gates: { [GATE]: [TARGET] }, upstream: [script] })
    const { seen } = gateway.begin({ path: CHAT, body: chatBody() })
    await gateway.clock.advance(500)
    gateway.deleteKey()
    expect((await gateway.clock.finish(seen)).status).toBe(401)
    const [record] = gateway.ledger.records
    expect(record).toMatchObject({ errorKind: 'unauthorized', usage: { inputTokens: 16 } })
    expect(record?.cost?.status).toBe('estimated')
    await gateway.assertNothingIsLeft()
  })
})

describe('whatever a model wrote in the meantime is estimated by the time that it had', () => {
  const left = { status: 502, ending: 'left' } as const
  const cancelled = { outcome: 'cancelled', status: 499 } as const
  const used = (inputTokens: number, outputTokens: number) => ({
    usage: tokens(inputTokens, outputTokens),
    cost: {
      nanoUsd: inputTokens + 10 * outputTokens,
      status: 'estimated' as const,
      source: 'scripted',
    },
  })
  const REASONER = 'openai/o4-mini'

  runRows([
    {
      name: 'of a whole answer that its client did not wait for',
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, ...used(16, 500) },
      spent: { tokens: 516 },
    },
    {
      name: 'of one that the gate’s time has cut off',
      gateway: timed(3_000),
      upstream: [[JSON_HEAD, SILENCE]],
      seen: { status: 504 },
      sent: [{ state: 'total_timeout' }],
      settled: { outcome: 'failed', ...used(16, 100) },
    },
    {
      name: 'up to the cap of the request, for each of its answers',
      request: { body: chatBody({ max_tokens: 20, n: 2 }) },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, ...used(22, 40) },
    },
    {
      name: 'but not up to a cap by a name that its dialect does not have',
      request: { body: chatBody({ max_output_tokens: 1 }) },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, ...used(22, 500) },
    },
    {
      name: 'of a stream before its first event, from a model that reasons',
      gateway: { gates: { [GATE]: [REASONER] } },
      request: { body: chatBody({ stream: true }) },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, ...used(20, 500) },
    },
    {
      name: 'of a stream that began without its target, from a model that reasons',
      gateway: { gates: { [GATE]: [REASONER] }, commitAfterMs: 2_000 },
      request: { body: chatBody({ stream: true }) },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: { status: 200, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, ...used(20, 500) },
    },
    {
      name: 'but not of a stream from a model that does not: it may be waiting in a queue',
      request: { body: chatBody({ stream: true }) },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, ...used(20, 0) },
    },
    {
      name: 'and not of vectors',
      gateway: { gates: { [GATE]: ['openai/text-embedding-3-large'] } },
      request: { path: '/v1/embeddings', body: { model: GATE, input: ['hi'] } },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: left,
      sent: [{ state: 'cancelled' }],
      settled: { ...cancelled, usage: tokens(9, 0) },
    },
    {
      name: 'of a target that lost to a hedge',
      gateway: {
        gates: {
          [GATE]: { targets: [{ model: TARGET }, { model: 'groq/other' }], hedgeAfterMs: 10_000 },
        },
      },
      upstream: [[SILENCE], [pause(1_000), ...CHAT_ANSWER]],
      seen: { status: 200 },
      sent: [{ state: 'cancelled' }, { state: 'whole' }],
      settled: {
        outcome: 'succeeded',
        usage: { ...CHAT_USAGE, inputTokens: 11 + 16, outputTokens: 7 + 500 },
        cost: { nanoUsd: 81 + 16 + 5_000, status: 'estimated', source: 'scripted+hedge' },
      },
    },
  ])
})

describe('counting tokens is free', () => {
  test('whoever leaves before the count', () =>
    runRow({
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/messages/count_tokens', body: chatBody() },
      upstream: [[SILENCE]],
      client: { leavesAfterMs: 11_000 },
      seen: { status: 502, ending: 'left' },
      sent: [{ state: 'cancelled' }],
      settled: { outcome: 'cancelled', usage: null },
      spent: { tokens: 0 },
    }))
})

describe('a model that the catalog does not know to reason', () => {
  const streaming = chatBody({ stream: true, stream_options: { include_usage: true } })
  const reporting = (reasoning: number) =>
    json(200, {
      id: 'c',
      choices: [{ message: { content: 'x' } }],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 9,
        completion_tokens_details: { reasoning_tokens: reasoning },
      },
    })
  const silent: Script = [
    head(200, { 'content-type': 'text/event-stream' }),
    piece('data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n'),
    SILENCE,
  ]

  test.each([
    ['has its silence counted once it has reported reasoning', 7, 250],
    ['is only silent as long as it has not', 0, 0],
  ])('%s', async (_, reasoning, outputTokens) => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [reporting(reasoning), silent],
    })
    await gateway.ask({ path: CHAT, body: chatBody() })
    await gateway.ask({ path: CHAT, body: streaming }, { leavesAfterMs: 6_000 })
    expect(gateway.ledger.records[1]).toMatchObject({
      outcome: 'cancelled',
      usage: tokens(30, outputTokens),
    })
    await gateway.assertNothingIsLeft()
  })
})

test('an answer too large to translate is paid for: the limit is ours, and the vendor charges for it', () =>
  runRow({
    gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
    upstream: [[pause(3_000), JSON_HEAD, piece(`{"x":"${'x'.repeat(4 * 1024 * 1024)}"}`)]],
    seen: { status: 502, contains: ['too large to translate'] },
    sent: [{ state: 'closed' }],
    settled: { outcome: 'failed', status: 502, usage: tokens(16, 100) },
    spent: { tokens: 116 },
  }))

describe('a stream with an event larger than the gateway takes is paid for, for the same reason', () => {
  const large = Array<string>(17).fill('x'.repeat(1024 * 1024))
  const request = { body: chatBody({ stream: true }) }
  runRows([
    {
      name: 'with what was relayed before it',
      request,
      upstream: [
        [
          head(200, { 'content-type': 'text/event-stream' }),
          piece(`data: {"choices":[{"delta":{"content":"${'y'.repeat(40)}"}}]}\n\n`),
          ...large.map((part) => piece(part)),
        ],
      ],
      seen: { status: 200, ending: 'cut', contains: ['sent an event above the size limit'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error', usage: tokens(20, 10) },
      spent: { tokens: 30 },
    },
    {
      name: 'with its question, where it is the first',
      request,
      upstream: [
        [head(200, { 'content-type': 'text/event-stream' }), ...large.map((part) => piece(part))],
      ],
      seen: { status: 502, contains: ['sent an event above the size limit'] },
      sent: [{ state: 'closed' }],
      settled: { outcome: 'failed', errorKind: 'upstream_error', usage: tokens(20, 0) },
      spent: { tokens: 20 },
    },
  ])
})

describe('an upstream that breaks behind a client', () => {
  const text = 'y'.repeat(40)
  const large = 'x'.repeat(64 * 1024)
  const events = [
    `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`,
    `: ${large}\n\n`,
    `: ${large}\n\n`,
  ]

  test.each([
    ['that took nothing for long is paid for what it wrote, and not blamed', 6_000, 10, 0],
    ['that kept up is paid for nothing, and blamed', 10, 0, 1],
  ])('%s', async (_, msForEachPiece, outputTokens, failures) => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [stream(events, { ending: [CUT] })],
      timeouts: { totalMs: 600_000 },
    })
    const noteFailed = spyOn(gateway.breakers, 'noteFailed')
    const seen = await gateway.ask(
      { path: CHAT, body: chatBody({ stream: true }) },
      { msForEachPiece },
    )
    expect(seen).toMatchObject({ status: 200, ending: 'cut' })
    expect(gateway.ledger.records).toMatchObject([
      {
        outcome: 'failed',
        errorKind: 'upstream_error',
        usage: outputTokens === 0 ? null : { outputTokens },
      },
    ])
    expect(noteFailed).toHaveBeenCalledTimes(failures)
    await gateway.assertNothingIsLeft()
  })
})
