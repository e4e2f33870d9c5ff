import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseEvents } from '../../../test/support/server-sent-events.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ChatAnswer, ChatEvent, FinishReason } from '../chat-answer.ts'
import type { AnswerFacts } from '../codec.ts'
import { readToolId } from '../seal-carrier.ts'
import { gatehouseChatInboundCodec } from './index.ts'

const attempts = [
  { target: 'a/m', status: 503, ms: 12 },
  { target: 'b/n', status: 200, ms: 340 },
]
const facts: AnswerFacts = {
  callId: 'req_1',
  target: 'b/n',
  gateId: 'g',
  startedAtMs: 1_765_000_000_123,
  sealOrigin: 'b',
  outcome: () => ({ latencyMs: 400, attempts }),
}
const HEAD = { id: 'req_1', object: 'chat', created_at: 1_765_000_000, gate_id: 'g', model: 'b/n' }
const TAIL = { cost: { usd: null, status: 'unknown' }, latency_ms: 400, attempts }
const seal = { type: 'encrypted' as const, value: 'e' }

function encode(events: readonly ChatEvent[]) {
  const request = gatehouseChatInboundCodec.decodeRequest({ messages: [] })
  const encoder = gatehouseChatInboundCodec.createEventEncoder(request, facts)
  let shown = ''
  for (const event of events) shown += encoder.push(event)
  return {
    encoder,
    sent: parseEvents(shown + encoder.end()).map(({ event, data }) => ({
      event,
      data: JSON.parse(data),
    })),
  }
}

const ANSWER: ChatAnswer = {
  content: [
    { type: 'reasoning', text: 'hm', seal },
    { type: 'text', text: 'Grüße' },
    { type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":1}' },
    {
      type: 'tool-call',
      id: 'b',
      name: 'g',
      arguments: '{}',
      seal: { type: 'signature', value: 's' },
    },
  ],
  finishReason: 'tool_calls',
  usage: { inputTokens: 4, outputTokens: 3, cachedInputTokens: 2, reasoningTokens: 1 },
}
const EVENTS: ChatEvent[] = [
  { type: 'start', id: 'upstream', model: 'n-1' },
  { type: 'reasoning-delta', text: 'h' },
  { type: 'reasoning-delta', text: 'm' },
  { type: 'reasoning-end', seal },
  { type: 'text-delta', text: 'Grü' },
  { type: 'text-delta', text: 'ße' },
  { type: 'text-end' },
  { type: 'tool-call-start', index: 0, id: 'a', name: 'f' },
  { type: 'tool-call-delta', index: 0, arguments: '{"x"' },
  { type: 'tool-call-delta', index: 0, arguments: ':1}' },
  { type: 'tool-call-end', index: 0 },
  {
    type: 'tool-call-start',
    index: 1,
    id: 'b',
    name: 'g',
    seal: { type: 'signature', value: 's' },
  },
  { type: 'tool-call-end', index: 1 },
  {
    type: 'usage',
    usage: { inputTokens: 4, outputTokens: 3, cachedInputTokens: 2, reasoningTokens: 1 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

describe('an answer', () => {
  test('has exactly the members of the interface', () => {
    const whole = gatehouseChatInboundCodec.encodeAnswer(ANSWER, facts)
    const ids = (whole.tool_calls as { id: string }[]).map((call) => call.id)
    expect(whole).toEqual({
      ...HEAD,
      content: 'Grüße',
      reasoning: 'hm',
      tool_calls: [
        { id: ids[0] as string, name: 'f', arguments: '{"x":1}' },
        { id: ids[1] as string, name: 'g', arguments: '{}' },
      ],
      finish_reason: 'tool_calls',
      usage: { input_tokens: 4, output_tokens: 3, cached_input_tokens: 2, reasoning_tokens: 1 },
      ...TAIL,
    })
    expect(ids.map(readToolId)).toEqual([
      {
        id: 'a',
        sealed: { reasoning: [{ type: 'reasoning', text: 'hm', seal: { ...seal, origin: 'b' } }] },
      },
      { id: 'b', sealed: { seal: { type: 'signature', value: 's', origin: 'b' } } },
    ])
  })

  test('leaves out empty members, and has null for unreported usage', () => {
    const bare: ChatAnswer = { content: [], finishReason: 'stop', usage: null }
    expect(gatehouseChatInboundCodec.encodeAnswer(bare, facts)).toEqual({
      ...HEAD,
      content: '',
      finish_reason: 'stop',
      usage: null,
      ...TAIL,
    })
  })

  test.each([
    [
      { nanoUsd: 1_500_000, status: 'exact' },
      { usd: 0.0015, status: 'exact' },
    ],
    [
      { nanoUsd: 0, status: 'estimated' },
      { usd: 0, status: 'estimated' },
    ],
    [
      { nanoUsd: null, status: 'unknown' },
      { usd: null, status: 'unknown' },
    ],
    [undefined, { usd: null, status: 'unknown' }],
  ] as const)('with the cost %j includes it', (cost, shown) => {
    const encodeWith = (answer: ChatAnswer) =>
      gatehouseChatInboundCodec.encodeAnswer(answer, {
        ...facts,
        priceOf: () => (cost === undefined ? cost : { ...cost, source: null }),
      }).cost
    expect(encodeWith(ANSWER)).toEqual(shown)
    expect(encodeWith({ ...ANSWER, usage: null })).toEqual({ usd: null, status: 'unknown' })
  })

  test('with a refusal is marked as one', () => {
    const refusal: ChatAnswer = {
      content: [{ type: 'refusal', text: 'No.' }],
      finishReason: 'stop',
      usage: null,
    }
    expect(gatehouseChatInboundCodec.encodeAnswer(refusal, facts)).toMatchObject({
      content: 'No.',
      finish_reason: 'content_filter',
    })
  })
})

describe('a stream', () => {
  test('starts, sends deltas, and ends with the whole answer', () => {
    const { sent: told } = encode(EVENTS)
    const whole = gatehouseChatInboundCodec.encodeAnswer(ANSWER, facts)
    const [first, second] = whole.tool_calls as { id: string }[]
    expect(told).toEqual([
      { event: 'chat.started', data: HEAD },
      { event: 'chat.delta', data: { reasoning: 'h' } },
      { event: 'chat.delta', data: { reasoning: 'm' } },
      { event: 'chat.delta', data: { content: 'Grü' } },
      { event: 'chat.delta', data: { content: 'ße' } },
      {
        event: 'chat.delta',
        data: { tool_call: { index: 0, id: first?.id, name: 'f', arguments: '' } },
      },
      { event: 'chat.delta', data: { tool_call: { index: 0, arguments: '{"x"' } } },
      { event: 'chat.delta', data: { tool_call: { index: 0, arguments: ':1}' } } },
      {
        event: 'chat.delta',
        data: { tool_call: { index: 1, id: second?.id, name: 'g', arguments: '' } },
      },
      { event: 'chat.delta', data: { tool_call: { index: 1, arguments: '{}' } } },
      { event: 'chat.completed', data: whole },
    ])
  })

  test('starts properly, even if the upstream never sent a start', () => {
    expect(encode([{ type: 'finish', reason: 'stop' }]).sent.map(({ event }) => event)).toEqual([
      'chat.started',
      'chat.completed',
    ])
  })

  test('that breaks ends with an error in flat form', () => {
    const failure = new GatewayError('upstream_timeout', 'It fell silent.')
    expect(encode(EVENTS).encoder.encodeFailure(failure)).toBe(
      'event: error\ndata: {"error":"upstream_timeout","message":"It fell silent."}\n\n',
    )
  })

  const block = fc.oneof(
    fc.record({
      type: fc.constantFrom('text', 'reasoning'),
      pieces: fc.array(fc.string(), { minLength: 1 }),
    }),
    fc.record({ type: fc.constant('refusal'), pieces: fc.array(fc.string(), { minLength: 1 }) }),
    fc.record({ type: fc.constant('call'), pieces: fc.array(fc.string({ minLength: 1 })) }),
  )

  test('adds up: its deltas together are its last event', () => {
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 8 }),
        fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter'),
        (blocks, reason) => {
          let index = -1
          const events = blocks.flatMap(({ type, pieces }): ChatEvent[] => {
            const texts = (kind: 'text' | 'reasoning' | 'refusal') =>
              pieces.map((text) => ({ type: `${kind}-delta` as const, text }))
            if (type === 'text') return [...texts('text'), { type: 'text-end' }]
            if (type === 'reasoning')
              return [...texts('reasoning'), { type: 'reasoning-end', seal }]
            if (type === 'refusal') return texts('refusal')
            index += 1
            const at = index
            return [
              { type: 'tool-call-start', index: at, id: `c${at}`, name: 'f' },
              ...pieces.map((piece) => ({
                type: 'tool-call-delta' as const,
                index: at,
                arguments: piece,
              })),
              { type: 'tool-call-end', index: at },
            ]
          })
          const { sent: told } = encode([...events, { type: 'finish', reason }])
          let content = ''
          let reasoning = ''
          const calls: { id: string; name: string; arguments: string }[] = []
          for (const { event, data } of told) {
            if (event !== 'chat.delta') continue
            content += data.content ?? ''
            reasoning += data.reasoning ?? ''
            const { tool_call: call } = data
            if (call?.id !== undefined)
              calls[call.index] = { id: call.id, name: call.name, arguments: '' }
            const written = calls[call?.index]
            if (written !== undefined) written.arguments += call.arguments
          }
          expect(told.at(-1)).toMatchObject({
            event: 'chat.completed',
            data: {
              content,
              ...(reasoning === '' ? {} : { reasoning }),
              ...(calls.length === 0 ? {} : { tool_calls: calls }),
            },
          })
        },
      ),
    )
  })
})
