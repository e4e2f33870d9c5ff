/** Anthropic Messages as our clients speak it: what they ask is understood, what they read is what their SDK expects. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../core/errors.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { AnswerFacts } from '../codec.ts'
import { writeSeal } from '../seal-carrier.ts'
import { anthropicServerCodec } from './server-codec.ts'

const facts: AnswerFacts = {
  callId: 'req_1',
  target: 'p/m',
  gateId: 'g',
  startedAtMs: 0,
  sealOrigin: 'p#1',
}
const decode = (members: JsonRecord) =>
  anthropicServerCodec.decodeRequest({ model: 'g', max_tokens: 9, messages: [], ...members })

describe('a request', () => {
  test('has its settings in our terms, and keeps what is unknown', () => {
    expect(
      decode({
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
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
      ignored: ['tools[1]'],
    })
  })

  test('has results of tools before what the user says beside them', () => {
    const { messages } = decode({
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }] },
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
      { role: 'assistant', content: [{ type: 'tool-call', id: 't1', name: 'f', arguments: '{"a":1}' }] },
      { role: 'tool', callId: 't1', content: [{ type: 'text', text: 'broken' }], isError: true },
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
    ])
  })

  test('gives a seal of ours back to whom it belongs, and a foreign one to its dialect', () => {
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
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }],
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
  ] satisfies [string, JsonRecord][])('that cannot be read names %s', (param, members) => {
    try {
      decode(members)
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(GatewayError)
      expect((thrown as GatewayError).param).toBe(param)
      return
    }
    throw new Error('it was taken')
  })

  test('whatever it is, is read or refused with a name', () => {
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
  { type: 'usage', usage: { inputTokens: 9, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 } },
  { type: 'finish', reason: 'tool_calls' },
]

test('a stream has the events, indexes and order that the SDK accumulates', () => {
  const request = decode({ stream: true })
  const encoder = anthropicServerCodec.createEventEncoder(request, facts)
  const text = EVENTS.map((event) => encoder.push(event)).join('') + encoder.end()
  const events = text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [name, data] = event.split('\n')
      const json = JSON.parse(data?.slice('data: '.length) ?? '') as { type: string; index?: number }
      expect(name).toBe(`event: ${json.type}`)
      return json
    })
  expect(events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
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
  expect(events[0]).toMatchObject({ message: { id: 'u1', role: 'assistant', model: 'm-1', content: [] } })
  expect(events.at(-2)).toMatchObject({
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 5 },
  })
})

test('an answer whose tool arguments are no object is a failure, not an answer', () => {
  const encode = (written: string) => () =>
    anthropicServerCodec.encodeAnswer(
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
