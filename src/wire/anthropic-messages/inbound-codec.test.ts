import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseEvents } from '../../../test/support/server-sent-events.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ChatAnswer, ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { AnswerFacts } from '../codec.ts'
import { writeSeal, writeToolId } from '../seal-carrier.ts'
import { anthropicInboundCodec } from './index.ts'

const facts: AnswerFacts = {
  callId: 'req_1',
  target: 'p/m',
  gateId: 'g',
  startedAtMs: 0,
  sealOrigin: 'p#1',
}
const decode = (members: JsonRecord) =>
  anthropicInboundCodec.decodeRequest({ model: 'g', max_tokens: 9, messages: [], ...members })

describe('a request', () => {
  test('is read into the common settings, and keeps unknown members', () => {
    expect(
      decode({
        system: [
          { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
        messages: [{ role: 'user', content: 'Hi' }],
        temperature: 0.5,
        top_k: 3,
        stop_sequences: ['x'],
        tools: [
          { name: 'f', input_schema: { type: 'object' } },
          { type: 'web_search_20250305', name: 'web_search' },
        ],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        thinking: { type: 'enabled', budget_tokens: 2048 },
        metadata: { user_id: 'u' },
        x_unheard: 1,
        stream: true,
      }),
    ).toEqual({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache: { ttl: '1h' } }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      maxOutputTokens: 9,
      temperature: 0.5,
      topK: 3,
      stop: ['x'],
      tools: [{ name: 'f', parameters: { type: 'object' } }],
      toolChoice: { type: 'required' },
      parallelToolCalls: false,
      reasoning: { budgetTokens: 2048 },
      user: 'u',
      stream: true,
      extra: { x_unheard: 1 },
      family: 'anthropic-messages',
      ignored: ['tools[].type=web_search_20250305'],
    })
  })

  test('has results of tools before the user’s own words', () => {
    const { messages } = decode({
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and?' },
            { type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'broken' },
          ],
        },
      ],
    })
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 't1', name: 'f', arguments: '{"a":1}' }],
      },
      { role: 'tool', callId: 't1', content: [{ type: 'text', text: 'broken' }], isError: true },
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
    ])
  })

  test('returns a wrapped seal to its origin, and a foreign one to its dialect', () => {
    const ours = writeSeal({ type: 'encrypted', value: 'v' }, 'p#1')
    const { messages } = decode({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: ours },
            { type: 'redacted_thinking', data: 'raw' },
          ],
        },
      ],
    })
    expect(messages[0]?.content).toEqual([
      { type: 'reasoning', text: 'hm', seal: { type: 'encrypted', value: 'v', origin: 'p#1' } },
      {
        type: 'reasoning',
        text: '',
        seal: { type: 'encrypted', value: 'raw', origin: 'anthropic-messages' },
      },
    ])
  })

  test.each([
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    [
      'messages[0].content[0].source.type',
      {
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
        ],
      },
    ],
    [
      'messages[0].content[0].tool_use_id',
      { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
    ],
    ['tools[0].name', { tools: [{ input_schema: {} }] }],
    ['tool_choice.type', { tool_choice: { type: 'some' } }],
    ['thinking.type', { thinking: { type: 'much' } }],
    ['stop_sequences[1]', { stop_sequences: ['a', 1] }],
  ] satisfies [string, JsonRecord][])(
    'with an unreadable member is refused by its name: %s',
    (param, members) => {
      try {
        decode(members)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
        expect((thrown as GatewayError).param).toBe(param)
        return
      }
      throw new Error('it was taken')
    },
  )

  test('is read or refused with a name, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('messages', 'system', 'tools', 'thinking'),
        (value, name) => {
          try {
            decode({ [name]: value } as JsonRecord)
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(GatewayError)
            expect((thrown as GatewayError).param).toStartWith(name)
          }
        },
      ),
    )
  })
})

const EVENTS: ChatEvent[] = [
  { type: 'start', id: 'u1', model: 'm-1' },
  { type: 'reasoning-delta', text: 'hm' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 's' } },
  { type: 'text-delta', text: 'Hi ' },
  { type: 'text-delta', text: 'there' },
  { type: 'text-end' },
  { type: 'tool-call-start', index: 0, id: 'a', name: 'f' },
  { type: 'tool-call-delta', index: 0, arguments: '{"a"' },
  { type: 'tool-call-delta', index: 0, arguments: ':1}' },
  { type: 'tool-call-end', index: 0 },
  {
    type: 'usage',
    usage: { inputTokens: 9, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

type SentEvent = JsonRecord & { readonly type: string; readonly index?: number }
function encode(events: readonly ChatEvent[]): SentEvent[] {
  const encoder = anthropicInboundCodec.createEventEncoder(decode({ stream: true }), facts)
  let text = ''
  for (const event of events) text += encoder.push(event)
  return parseEvents(text + encoder.end()).map(({ event, data }) => {
    const sent = JSON.parse(data) as SentEvent
    expect(event).toBe(sent.type)
    return sent
  })
}
const shapeOf = (events: readonly SentEvent[]) =>
  events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))
const NO_USAGE = {
  ...{
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
  },
  ...{ output_tokens: 0, output_tokens_details: null, server_tool_use: null, service_tier: null },
  ...{ inference_geo: null, speed: null },
}

describe('a stream', () => {
  test('has the events, indexes and order that the SDK accumulates', () => {
    const sent = encode(EVENTS)
    expect(shapeOf(sent)).toEqual([
      'message_start',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'message_delta',
      'message_stop',
    ])
    expect(sent[0]?.message).toEqual({
      ...{ id: 'u1', type: 'message', role: 'assistant', model: 'm-1', content: [] },
      ...{
        container: null,
        diagnostics: null,
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
      },
      usage: NO_USAGE,
    })
    expect(
      sent.filter(({ type }) => type === 'content_block_start').map((each) => each.content_block),
    ).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
    ])
    expect(
      sent.filter(({ type }) => type === 'content_block_delta').map((each) => each.delta),
    ).toEqual([
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: writeSeal({ type: 'signature', value: 's' }, 'p#1') },
      { type: 'text_delta', text: 'Hi ' },
      { type: 'text_delta', text: 'there' },
      { type: 'input_json_delta', partial_json: '{"a"' },
      { type: 'input_json_delta', partial_json: ':1}' },
    ])
    expect(sent.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: {
        ...NO_USAGE,
        ...{ input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 5 },
        output_tokens_details: { thinking_tokens: 1 },
      },
    })
    expect(sent.at(-1)).toEqual({ type: 'message_stop' })
  })

  test('keeps parallel calls apart when their pieces alternate', () => {
    const sent = encode([
      { type: 'text-delta', text: 'so' },
      { type: 'tool-call-start', index: 0, id: 'a', name: 'f' },
      { type: 'tool-call-start', index: 1, id: 'b', name: 'g' },
      { type: 'tool-call-delta', index: 1, arguments: '{}' },
      { type: 'tool-call-delta', index: 0, arguments: '[]' },
      { type: 'tool-call-end', index: 1 },
      { type: 'tool-call-end', index: 0 },
      { type: 'finish', reason: 'tool_calls' },
    ])
    expect(shapeOf(sent).slice(4, -2)).toEqual([
      'content_block_start 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_delta 1',
      'content_block_stop 2',
      'content_block_stop 1',
    ])
  })

  test('closes a block that the upstream left open when another begins, and at the end', () => {
    const sent = encode([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'Hi' },
      { type: 'refusal-delta', text: 'No' },
      { type: 'finish', reason: 'content_filter' },
    ])
    expect(shapeOf(sent)).toEqual([
      'message_start',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'message_delta',
      'message_stop',
    ])
    const unfinished = encode([{ type: 'text-delta', text: 'Hi' }])
    expect(shapeOf(unfinished).slice(-3)).toEqual([
      'content_block_stop 0',
      'message_delta',
      'message_stop',
    ])
    expect(unfinished.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
    })
  })

  test('starts properly, even if the upstream never sent a start', () => {
    for (const events of [
      [],
      [{ type: 'text-delta', text: 'Hi' }],
      [{ type: 'tool-call-start', index: 0, id: 'a', name: 'f' }],
      [{ type: 'reasoning-end', seal: { type: 'encrypted', value: 'e' } }],
    ] satisfies ChatEvent[][]) {
      const sent = encode(events)
      expect(sent[0]).toMatchObject({
        type: 'message_start',
        message: { id: 'msg_req_1', model: 'p/m' },
      })
      expect(sent.filter(({ type }) => type === 'message_start')).toHaveLength(1)
    }
  })

  test('has a separate block for sealed reasoning without text, and none for empty reasoning', () => {
    const sent = encode([
      { type: 'start' },
      { type: 'text-delta', text: 'Hi' },
      { type: 'reasoning-end', seal: { type: 'encrypted', value: 'e' } },
      { type: 'reasoning-end' },
      { type: 'text-delta', text: 'Bye' },
      { type: 'finish', reason: 'stop' },
    ])
    expect(shapeOf(sent).slice(3, -2)).toEqual([
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_stop 2',
    ])
    expect(sent[4]?.content_block).toEqual({
      type: 'redacted_thinking',
      data: writeSeal({ type: 'encrypted', value: 'e' }, 'p#1'),
    })
    const unsealed = encode([{ type: 'reasoning-delta', text: 'hm' }, { type: 'reasoning-end' }])
    expect(shapeOf(unsealed).slice(1, -2)).toEqual([
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_stop 0',
    ])
  })

  test('includes the stop sequence that ended it', () => {
    const sent = encode([{ type: 'start' }, { type: 'finish', reason: 'stop', stopSequence: 'x' }])
    expect(sent.at(-2)).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'x' },
    })
  })

  test('that breaks ends with an error in Anthropic’s format', () => {
    const encoder = anthropicInboundCodec.createEventEncoder(decode({}), facts)
    const failure = new GatewayError('upstream_timeout', 'It fell silent.')
    expect(encoder.encodeFailure(failure)).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"timeout_error","message":"It fell silent."}}\n\n',
    )
  })
})

describe('an answer', () => {
  const encodeAnswer = (answer: Partial<ChatAnswer>) =>
    anthropicInboundCodec.encodeAnswer(
      { content: [], finishReason: 'stop', usage: null, ...answer },
      facts,
    )

  test('has every member that the SDK requires, even without content', () => {
    expect(encodeAnswer({})).toEqual({
      ...{ id: 'msg_req_1', type: 'message', role: 'assistant', model: 'p/m', content: [] },
      ...{ container: null, diagnostics: null, stop_details: null },
      ...{ stop_reason: 'end_turn', stop_sequence: null },
      usage: NO_USAGE,
    })
  })

  test('has the blocks that the model wrote, in their order, with seals that come back', () => {
    const signature = { type: 'signature' as const, value: 's' }
    const encrypted = { type: 'encrypted' as const, value: 'e' }
    expect(
      encodeAnswer({
        ...{ id: 'u1', model: 'm-1', finishReason: 'stop', stopSequence: 'x' },
        content: [
          { type: 'reasoning', text: 'a', seal: signature },
          { type: 'reasoning', text: '', seal: encrypted },
          { type: 'reasoning', text: 'b' },
          { type: 'text', text: 'c' },
          { type: 'text', text: '' },
          { type: 'refusal', text: 'd' },
          { type: 'tool-call', id: 't', name: 'f', arguments: '{"a":1}', seal: signature },
        ],
        usage: { inputTokens: 3, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 1 },
      }),
    ).toMatchObject({
      ...{ id: 'u1', model: 'm-1', stop_reason: 'stop_sequence', stop_sequence: 'x' },
      content: [
        { type: 'thinking', thinking: 'a', signature: writeSeal(signature, 'p#1') },
        { type: 'redacted_thinking', data: writeSeal(encrypted, 'p#1') },
        { type: 'thinking', thinking: 'b', signature: '' },
        { type: 'text', text: 'c' },
        { type: 'text', text: 'd' },
        {
          type: 'tool_use',
          id: writeToolId('t', { seal: signature }, 'p#1'),
          name: 'f',
          input: { a: 1 },
        },
      ],
      // The cache count exceeds the input count, so the remaining input is 0 instead of negative.
      usage: { input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
    })
  })

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['content_filter', 'refusal'],
  ] as const)('with finish reason %s has stop_reason %s', (finishReason, stop_reason) => {
    expect(encodeAnswer({ finishReason })).toMatchObject({ stop_reason, stop_sequence: null })
  })
})

test('an answer with tool arguments that are not an object is a failure', () => {
  const encode = (written: string) => () =>
    anthropicInboundCodec.encodeAnswer(
      {
        content: [{ type: 'tool-call', id: 'a', name: 'f', arguments: written }],
        finishReason: 'tool_calls',
        usage: null,
      },
      facts,
    )
  expect(encode('{"a":1}')()).toMatchObject({ content: [{ type: 'tool_use', input: { a: 1 } }] })
  expect(encode('[1]')).toThrow('not a JSON object')
  expect(encode('{"a":')).toThrow('not a JSON object')
})

test('usage leaves what was read from the cache and put into it out of the input', () => {
  const usage = {
    ...{ inputTokens: 100, outputTokens: 5, cachedInputTokens: 60, reasoningTokens: 0 },
    cacheWriteTokens: 30,
  }
  const answer: ChatAnswer = { content: [], finishReason: 'stop', usage }
  const written = {
    input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 30,
  }
  expect(anthropicInboundCodec.encodeAnswer(answer, facts).usage).toMatchObject(written)
  const request = decode({})
  const first = anthropicInboundCodec
    .createEventEncoder(request, facts)
    .push({ type: 'start', usage })
  const [event] = parseEvents(first)
  expect(JSON.parse(event?.data ?? '').message.usage).toMatchObject(written)
})
