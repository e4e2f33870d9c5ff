/** Stage 7: one row and one released slot per call, with its usage and cost. */
import { describe, expect, test } from 'bun:test'
import type { CallRecord } from '../../src/core/call.ts'
import { NOTHING_SENT } from '../../src/core/cost.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { CallObserver, Refusal } from '../../src/gateway/call-observer.ts'
import { CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { CALLER, InProcessGateway } from '../support/in-process-gateway.ts'
import {
  CUT,
  json,
  pause,
  piece,
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

const UNKNOWN = { nanoUsd: null, status: 'unknown', source: null } as const
const answer = (usage: unknown) =>
  json(200, { id: 'c', choices: [{ message: { content: 'twenty-four bytes of it.' } }], usage })
const guessed = (inputTokens: number, outputTokens: number) => ({
  usage: { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 },
  cost: {
    nanoUsd: inputTokens + 10 * outputTokens,
    status: 'estimated' as const,
    source: 'scripted',
  },
})
const MOST = Number.MAX_SAFE_INTEGER
const streaming = { body: chatBody({ stream: true, stream_options: { include_usage: true } }) }

describe('usage', () => {
  const reported = { prompt_tokens: 11, completion_tokens: 7 }
  const plain = { inputTokens: 11, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 }
  runRows([
    {
      name: 'is that of the provider’s report',
      upstream: [answer(reported)],
      seen: { status: 200 },
      sent: [{}],
      settled: { usage: plain, cost: { nanoUsd: 81, status: 'exact', source: 'scripted' } },
      spent: { tokens: 18, countsForQuota: true },
    },
    {
      name: 'is that of the provider’s report, even with a minus zero',
      upstream: [
        json(200, '{"id":"c","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":-0}}'),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { usage: { ...plain, outputTokens: 0 } },
      spent: { tokens: 11 },
    },
    ...(
      [
        ['nothing', undefined],
        ['null', null],
        ['text', 'many'],
        ['a list', [11, 7]],
        ['less than nothing', { prompt_tokens: -11, completion_tokens: -7 }],
        ['numbers as text', { prompt_tokens: '11', completion_tokens: '7' }],
        ['half a token', { prompt_tokens: 11, completion_tokens: 7.5 }],
        ['more than any number', { prompt_tokens: 1e308, completion_tokens: 7 }],
        ['an empty report', {}],
        ['nothing read and nothing written', { prompt_tokens: 0, completion_tokens: 0 }],
      ] as const
    ).map(([name, usage]) => ({
      name: `is estimated where it reported ${name}: whoever runs a model chooses what it says`,
      upstream: [answer(usage)],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' as const, ...guessed(16, 6) },
      spent: { tokens: 22 },
    })),
    ...[
      { prompt_tokens: 1e15, completion_tokens: 7 },
      { prompt_tokens: 0, completion_tokens: 0 },
      { prompt_tokens: -1, completion_tokens: 7 },
    ].map((usage) => ({
      name: `is estimated of a stream whose server reports ${JSON.stringify(usage)}`,
      request: streaming,
      upstream: [
        stream([
          'data: {"choices":[{"delta":{"content":"twenty-four bytes of it."}}]}\n\n',
          `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
          'data: [DONE]\n\n',
        ]),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' as const, ...guessed(30, 6) },
      spent: { tokens: 36 },
    })),
    {
      name: 'is estimated of an answer however it is nested, by what the model wrote in it',
      upstream: [
        json(
          200,
          `{"id":"c","choices":[{"message":{"content":"twenty-four bytes of it.","x":${'['.repeat(200)}${']'.repeat(200)}}}]}`,
        ),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded', ...guessed(16, 6) },
    },
    {
      name: 'is estimated if an owned model reports more tokens than any model reads',
      upstream: [answer({ prompt_tokens: MOST, completion_tokens: 7 })],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded', ...guessed(16, 6) },
      spent: { tokens: 22 },
    },
    {
      name: 'is estimated if its counts add up to an impossible sum',
      gateway: { gates: { [GATE]: ['anthropic/claude-opus-5'] } },
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9 }) },
      upstream: [
        json(200, {
          type: 'message',
          content: [],
          usage: { input_tokens: MOST, cache_read_input_tokens: MOST, output_tokens: 1 },
        }),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded', ...guessed(20, 0) },
      spent: { tokens: 20 },
    },
    {
      name: 'is estimated if its written counts add up to an impossible sum',
      gateway: { gates: { [GATE]: ['gemini/gemini-3-pro'] } },
      upstream: [
        json(200, {
          candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: MOST, thoughtsTokenCount: 2 },
        }),
      ],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded', ...guessed(16, 2) },
      spent: { tokens: 18 },
    },
    {
      name: 'of a call that reached no upstream is none, and costs exactly nothing',
      gateway: { gates: { [GATE]: [TARGET, 'groq/unpriced'] } },
      upstream: [UNREACHABLE, UNREACHABLE],
      seen: { status: 502 },
      sent: [{}, {}],
      settled: { outcome: 'failed', usage: null, attempts: 2, cost: NOTHING_SENT },
      spent: { tokens: 0, cost: NOTHING_SENT },
    },
    {
      name: 'of a call that an upstream failed at is not known, nor its cost',
      upstream: [UNREACHABLE, json(500, { error: { message: 'broken' } })],
      gateway: { gates: { [GATE]: [TARGET, 'groq/unpriced'] } },
      seen: { status: 502 },
      sent: [{}, {}],
      settled: { outcome: 'failed', usage: null, cost: UNKNOWN },
      spent: { tokens: 0 },
    },
    {
      name: 'has no known cost without a known price',
      gateway: { hasNoPrices: true },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: { usage: CHAT_USAGE, cost: undefined as never },
      spent: { cost: UNKNOWN, tokens: 18 },
    },
  ])
})

describe('thinking that the vendor counts beside its answer', () => {
  // https://docs.x.ai/docs/guides/reasoning
  const usage = {
    ...{ prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 },
    completion_tokens_details: { reasoning_tokens: 94 },
  }
  const chunk = { id: 'c', choices: [{ index: 0, delta: { content: '101' } }] }
  const events = [chunk, { ...chunk, choices: [], usage }].map(
    (event) => `data: ${JSON.stringify(event)}\n\n`,
  )

  test.each([
    ['as a whole', false, answer(usage)],
    ['as a stream', true, stream([...events, 'data: [DONE]\n\n'])],
  ])('is paid for %s', async (_, isStream, upstream) => {
    const gates = { [GATE]: ['xai/grok-4'] }
    const gateway = new InProcessGateway({ gates, upstream: [upstream] })
    await gateway.ask({ path: CHAT, body: chatBody(isStream ? { stream: true } : {}) })
    expect(gateway.limits.tickets[0]?.spent[0]).toMatchObject({
      tokens: 135,
      cost: { nanoUsd: 32 + 10 * 103, status: 'exact' },
    })
    await gateway.assertNothingIsLeft()
  })
})

describe('a conversation that the vendor sums up before it answers', () => {
  const compaction = { type: 'compaction', input_tokens: 1_000, output_tokens: 200 }
  const compacted = (usage: object) =>
    json(200, {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude-opus-4-6' },
      content: [{ type: 'compaction', content: 'all of it' }],
      stop_reason: 'compaction',
      usage: { ...usage, iterations: [compaction] },
    })
  const total = { inputTokens: 1_000, outputTokens: 200, cachedInputTokens: 0, reasoningTokens: 0 }

  test.each([
    ['the same dialect', '/v1/messages', { model: GATE, max_tokens: 9 }],
    ['another one', CHAT, { gate_id: GATE }],
  ])('is counted for a caller in %s', async (_, path, members) => {
    const gateway = new InProcessGateway({
      gates: { [GATE]: ['anthropic/claude-opus-4-6'] },
      upstream: [compacted({ input_tokens: 0, output_tokens: 0 })],
    })
    const body = { ...members, messages: [{ role: 'user', content: 'Hello' }] }
    await gateway.ask({ path, body })
    expect(gateway.ledger.records[0]).toMatchObject({ usage: total })
    expect(gateway.limits.tickets[0]?.spent[0]).toMatchObject({ tokens: 1_200 })
    await gateway.assertNothingIsLeft()
  })
})

describe('times', () => {
  test.each([3_600_000, -3_600_000, 365 * 86_400_000])(
    'keep their lengths and their beginning, even if the clock is set by %d ms in between',
    async (jumpMs) => {
      const gateway = new InProcessGateway({
        gates: { [GATE]: [TARGET, 'groq/other'] },
        upstream: [
          [pause(100), CUT],
          [pause(200), ...answer({ prompt_tokens: 1, completion_tokens: 1 })],
        ],
      })
      const begunAt = gateway.clock.now()
      gateway.clock.after(50, () => gateway.clock.jump(jumpMs))
      gateway.clock.after(250, () => gateway.clock.jump(-2 * jumpMs))
      await gateway.ask({ path: CHAT, body: chatBody() })
      expect(gateway.ledger.records).toMatchObject([
        {
          ...{ startedAt: begunAt, firstByteMs: 300, durationMs: 300 },
          attemptDetails: [
            { target: TARGET, afterMs: 0, durationMs: 100 },
            { target: 'groq/other', afterMs: 100, durationMs: 200 },
          ],
        },
      ])
      gateway.clock.jump(jumpMs)
      await gateway.assertNothingIsLeft()
    },
  )

  runRows([
    {
      name: 'count from the request: the first byte, the end, each attempt',
      gateway: { gates: { [GATE]: [TARGET, 'groq/other'] } },
      request: streaming,
      upstream: [
        [pause(100), CUT],
        [
          pause(30),
          ...stream(CHAT_STREAM_WITH_USAGE.slice(0, 1), {
            ending: [pause(500), ...CHAT_STREAM_WITH_USAGE.slice(1).map(piece)],
          }),
        ],
      ],
      seen: { status: 200 },
      sent: [{ atMs: 0 }, { atMs: 100 }],
      settled: {
        firstByteMs: 130,
        durationMs: 630,
        attemptDetails: [
          { target: TARGET, status: null, afterMs: 0, durationMs: 100 },
          { target: 'groq/other', status: 200, afterMs: 100, durationMs: 530 },
        ],
      },
      check: ({ clock, ledger: { records }, limits: { tickets } }) => {
        expect(records[0]?.startedAt).toBe(clock.now() - 630)
        expect(tickets[0]?.spent[0]?.endedAtMs).toBe(clock.elapsed())
      },
    },
    {
      name: 'of one attempt that failed are kept too',
      upstream: [[pause(40), ...json(404, {})]],
      seen: { status: 404 },
      sent: [{}],
      settled: {
        durationMs: 40,
        firstByteMs: null,
        attemptDetails: [{ target: TARGET, status: 404, afterMs: 0, durationMs: 40 }],
      },
    },
  ])
})

describe('once', () => {
  test('the place is given back after the call is recorded, and before its answer goes out', async () => {
    const order: string[] = []
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      upstream: [CHAT_ANSWER],
      limits: { onSettled: () => void order.push('place free') },
      ledger: {
        record: async () => {
          order.push('writing')
          await Promise.resolve()
          order.push('written')
        },
      },
    })
    await gateway.ask({ path: CHAT, body: chatBody() }).then(() => order.push('answered'))
    expect(order).toEqual(['writing', 'written', 'place free', 'answered'])
    await gateway.assertNothingIsLeft()
  })

  test('each of many calls at once has one row and gives one place back, whatever its end', async () => {
    const scripts = {
      succeeded: () => CHAT_ANSWER,
      refused: () => json(400, {}),
      unreachable: () => UNREACHABLE,
      silent: () => [SILENCE],
      cut: () => stream(CHAT_STREAM_WITH_USAGE.slice(0, 2), { ending: [CUT] }),
      streamed: () => stream(CHAT_STREAM_WITH_USAGE),
    }
    const kinds = Object.keys(scripts) as (keyof typeof scripts)[]
    const gateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      timeouts: { firstByteMs: 500 },
    })
    const calls = Array.from(
      { length: 60 },
      (_, index) => kinds[index % kinds.length] ?? 'succeeded',
    )
    gateway.upstream.script(
      ...calls.map((kind) => [pause(calls.indexOf(kind)), ...scripts[kind]()]),
    )
    const begun = calls.map((kind, index) =>
      gateway.begin(
        {
          path: CHAT,
          ...(kind === 'cut' || kind === 'streamed' ? streaming : { body: chatBody() }),
        },
        index % 4 === 0 ? { leavesAfterMs: index % 8 } : {},
      ),
    )
    await gateway.clock.finish(Promise.all(begun.map(({ seen }) => seen)))
    expect(gateway.ledger.records).toHaveLength(calls.length)
    expect(gateway.limits.tickets).toHaveLength(calls.length)
    await gateway.assertNothingIsLeft()
  })
})

describe('an observer', () => {
  function watch(log: string[]): CallObserver & { records: CallRecord[]; refusals: Refusal[] } {
    const records: CallRecord[] = []
    const refusals: Refusal[] = []
    return {
      records,
      refusals,
      begin() {
        log.push('begin')
        return undefined
      },
      finish(record, attempts) {
        log.push(`finish ${record.outcome} ${attempts.length}`)
        records.push(record)
      },
      refuse(refusal) {
        log.push(`refuse ${refusal.kind}`)
        refusals.push(refusal)
      },
    }
  }

  const cases: readonly (readonly [string, Parameters<typeof runRow>[0], string])[] = [
    [
      'of an answer',
      { upstream: [CHAT_ANSWER], seen: { status: 200 }, sent: [{}], settled: {} },
      'finish succeeded 1',
    ],
    [
      'of a refusal by the upstream',
      { upstream: [json(400, {})], seen: { status: 400 }, sent: [{}], settled: {} },
      'finish failed 1',
    ],
    [
      'of a client that left',
      {
        upstream: [[SILENCE]],
        client: { leavesAfterMs: 1 },
        seen: { status: 502, ending: 'left' },
        sent: [{}],
        settled: {},
      },
      'finish cancelled 1',
    ],
    [
      'of an unknown gate, after admission',
      {
        request: { body: chatBody({ model: 'nobody' }) },
        seen: { status: 404 },
        settled: {},
      },
      'finish failed 0',
    ],
    [
      'of an unknown key',
      {
        request: { headers: { authorization: 'Bearer x' } },
        seen: { status: 401 },
        settled: null,
      },
      'refuse unauthorized',
    ],
    [
      'of an invalid body',
      { request: { body: '[]' }, seen: { status: 400 }, settled: null },
      'refuse invalid_request',
    ],
  ]
  test.each(cases)('hears once %s', async (_, row, told) => {
    const log: string[] = []
    await runRow({ ...row, gateway: { observer: watch(log) } })
    expect(log).toEqual(['begin', told])
  })

  test('hears of a refused caller, if it is known, with the reason and the duration', async () => {
    const watching = watch([])
    const limited = new GatewayError('rate_limited', 'Too many.')
    const gateway: InProcessGateway = new InProcessGateway({
      gates: { [GATE]: [TARGET] },
      observer: watching,
      limits: {
        admit: () =>
          new Promise((_, reject) => {
            gateway.clock.after(25, () => reject(limited))
          }),
      },
    })
    const seen = await gateway.ask({ path: CHAT, body: chatBody() })
    await gateway.ask({ path: CHAT, headers: { authorization: null } })
    expect(watching.refusals).toEqual([
      {
        id: seen.headers['x-request-id'] as never,
        dialect: 'openai-chat',
        keyId: CALLER.keyId,
        kind: 'rate_limited',
        refusalCode: 'rate_limit_exceeded',
        status: 429,
        startedAt: gateway.clock.now() - 25,
        durationMs: 25,
      },
      expect.objectContaining({ keyId: null, kind: 'unauthorized', status: 401, durationMs: 0 }),
    ])
    await gateway.assertNothingIsLeft()
  })

  test('sees the same record as the ledger', async () => {
    const watching = watch([])
    await runRow({
      gateway: { observer: watching },
      upstream: [CHAT_ANSWER],
      seen: { status: 200 },
      sent: [{}],
      settled: {},
      check: ({ ledger: { records } }) => expect(watching.records).toEqual([...records]),
    })
  })
})

describe('an internal failure', () => {
  const broken = new Error('planted-detail')
  const row = {
    seen: {
      status: 500,
      json: {
        error: { code: 'internal_error', message: 'The gateway failed to handle this request.' },
      },
      forbids: ['detail'],
    },
    failures: [{ kind: 'internal_error' as const, cause: broken }],
  }
  runRows([
    {
      name: 'after the call was admitted is settled, reported to the operator, and hidden from the caller',
      gateway: {
        limits: {
          reserveQuota: () => {
            throw broken
          },
        },
      },
      ...row,
      settled: { outcome: 'failed', status: 500, errorKind: 'internal_error', attempts: 0 },
      spent: { tokens: 0 },
    },
    {
      name: 'before that is reported to the operator, and has no row',
      gateway: {
        limits: {
          whenReady: () => {
            throw broken
          },
        },
      },
      ...row,
      settled: null,
    },
  ])
})
