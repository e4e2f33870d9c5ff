import { describe, expect, test } from 'bun:test'
import type { ChatEvent } from '../chat-answer.ts'
import { cohereUpstreamCodec } from './index.ts'

const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const said = (type: string, message: object, index = 0) =>
  event(type, { index, delta: { message } })
const made = (index: number, type: string, tool_calls: object) => said(type, { tool_calls }, index)
const written = (index: number, text: string) =>
  made(index, 'tool-call-delta', { function: { arguments: text } })
const begun = (index: number, id: string, text = '') =>
  made(index, 'tool-call-start', { id, type: 'function', function: { name: 'f', arguments: text } })
const end = (finish_reason: string, members: object = {}) =>
  event('message-end', { delta: { finish_reason, ...members } })
const USAGE = {
  billed_units: { input_tokens: 12, output_tokens: 5 },
  tokens: { input_tokens: 507, output_tokens: 10 },
  cached_tokens: 448,
}
const STREAM = [
  event('message-start', { id: 'r1', delta: { message: { role: 'assistant', content: [] } } }),
  said('content-start', { content: { type: 'thinking', thinking: '' } }),
  said('content-delta', { content: { thinking: 'hm' } }),
  event('content-end', { index: 0 }),
  said('tool-plan-delta', { tool_plan: 'Two ' }),
  said('tool-plan-delta', { tool_plan: 'calls.' }),
  begun(0, 'f_1'),
  written(0, '{"city":'),
  written(0, '"Grüße 👋"}'),
  event('tool-call-end', { index: 0 }),
  begun(1, 'f_2'),
  written(1, 'nu'),
  written(1, 'll'),
  event('tool-call-end', { index: 1 }),
  event('citation-start', { index: 0, delta: { message: { citations: { start: 0, end: 1 } } } }),
  event('unheard-of'),
  said('content-start', { content: { type: 'text', text: '' } }, 1),
  said('content-delta', { content: { text: 'ok' } }, 1),
  event('content-end', { index: 1 }),
  end('TOOL_CALL', { usage: USAGE }),
].join('')
const EVENTS: ChatEvent[] = [
  { type: 'start', id: 'r1' },
  { type: 'reasoning-delta', text: 'hm' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'thinking' } },
  { type: 'reasoning-delta', text: 'Two ' },
  { type: 'reasoning-delta', text: 'calls.' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'tool_plan' } },
  { type: 'tool-call-start', index: 0, id: 'f_1', name: 'f' },
  { type: 'tool-call-delta', index: 0, arguments: '{"city":' },
  { type: 'tool-call-delta', index: 0, arguments: '"Grüße 👋"}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-start', index: 1, id: 'f_2', name: 'f' },
  { type: 'tool-call-end', index: 1 },
  { type: 'unread', name: 'answer.message.citations' },
  { type: 'text-delta', text: 'ok' },
  { type: 'text-end' },
  {
    type: 'usage',
    usage: { inputTokens: 12, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

function decode(...pieces: readonly (string | Uint8Array)[]) {
  const decoder = cohereUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((piece) => decoder.push(Buffer.from(piece))), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte; `null` arguments are left out', () => {
    const bytes = Buffer.from(STREAM)
    const whole = { events: EVENTS, isComplete: true }
    expect(decode(bytes)).toEqual(whole)
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(decode(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole)
    expect(decode(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test('without its last event was cut', () => {
    const cut = decode(STREAM.slice(0, STREAM.indexOf('event: message-end')))
    expect(cut.isComplete).toBe(false)
    expect(cut.events.some((shown) => shown.type === 'finish')).toBe(false)
  })

  test.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['ERROR_TOXIC', 'content_filter'],
    ['UNHEARD_OF', 'stop'],
  ] as const)('with the end %s has the finish reason %s', (finishReason, reason) => {
    expect(decode(end(finishReason))).toEqual({
      events: [{ type: 'finish', reason }],
      isComplete: true,
    })
  })

  test.each([
    ['ERROR', end('ERROR', { error: 'it broke' }), 'it broke'],
    ['TIMEOUT', end('TIMEOUT'), 'The upstream ended its answer with TIMEOUT.'],
    ['an error event', event('error', { message: 'no' }), 'no'],
    ['an error without a type', 'data: {"message":"overloaded"}\n\n', 'overloaded'],
  ])('with the end %s is a failure', (_, failure, message) => {
    const { events, isComplete } = decode(failure)
    expect(isComplete).toBe(false)
    expect(events.at(-1)).toMatchObject({ type: 'error', message })
  })

  test('closes open blocks, and keeps arguments that only begin like `null`', () => {
    const { events } = decode(begun(3, 'f_1', '"n'), begun(4, 'f_2', 'nu'), end('COMPLETE'))
    expect(events).toEqual([
      { type: 'tool-call-start', index: 0, id: 'f_1', name: 'f' },
      { type: 'tool-call-delta', index: 0, arguments: '"n' },
      { type: 'tool-call-start', index: 1, id: 'f_2', name: 'f' },
      { type: 'tool-call-end', index: 0 },
      { type: 'tool-call-delta', index: 1, arguments: 'nu' },
      { type: 'tool-call-end', index: 1 },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('has log probabilities as OpenAI has them: of several tokens, their product', () => {
    const logprobs = { text: 'é', token_ids: [1, 2], logprobs: [-1, -0.5] }
    const text = event('content-delta', {
      delta: { message: { content: { text: 'é' } } },
      logprobs,
    })
    const content = [{ token: 'é', logprob: -1.5, bytes: [195, 169], top_logprobs: [] }]
    expect(decode(text).events).toEqual([
      { type: 'text-delta', text: 'é', logprobs: { content, refusal: null } },
    ])
  })
})

describe('a whole answer', () => {
  test('keeps plan, thinking, text, calls and usage', () => {
    expect(
      cohereUpstreamCodec.decodeAnswer({
        id: 'r1',
        finish_reason: 'TOOL_CALL',
        message: {
          role: 'assistant',
          tool_plan: 'Two.',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'ok' },
          ],
          tool_calls: [
            { id: 'f_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'f_2', type: 'function', function: { name: 'f', arguments: 'null' } },
          ],
        },
        usage: { billed_units: { input_tokens: 3, output_tokens: 4 } },
      }),
    ).toEqual({
      id: 'r1',
      content: [
        { type: 'reasoning', text: 'Two.', seal: { type: 'signature', value: 'tool_plan' } },
        { type: 'reasoning', text: 'hm', seal: { type: 'signature', value: 'thinking' } },
        { type: 'text', text: 'ok' },
        { type: 'tool-call', id: 'f_1', name: 'f', arguments: '{"a":1}' },
        { type: 'tool-call', id: 'f_2', name: 'f', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 },
    })
  })

  test('is read without optional members, and is an error without a message or after a failure', () => {
    expect(cohereUpstreamCodec.decodeAnswer({ message: {} })).toEqual({
      content: [],
      finishReason: 'stop',
      usage: null,
    })
    expect(() => cohereUpstreamCodec.decodeAnswer({})).toThrow('without a message')
    expect(() =>
      cohereUpstreamCodec.decodeAnswer({ message: {}, finish_reason: 'TIMEOUT' }),
    ).toThrow('TIMEOUT')
  })
})
