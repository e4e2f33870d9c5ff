import { describe, expect, test } from 'bun:test'
import { awsEvent } from '../../test/support/aws-event-stream.ts'
import type { DialectId } from '../core/dialects.ts'
import type { ChatAnswer, ChatEvent, FinishReason } from './chat-answer.ts'
import type { JsonRecord, JsonValue } from './chat-request.ts'
import { chatCodecOf } from './chat-upstreams.fixture.ts'

const event = (data: object) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
function decode(id: DialectId, ...chunks: readonly Uint8Array[]) {
  const decoder = chatCodecOf(id).createEventDecoder()
  const events = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

interface Upstream {
  readonly id: DialectId
  readonly whole: (reason: JsonValue, hasCall: boolean) => JsonRecord
  readonly stream: (reason: JsonValue, hasCall: boolean) => readonly Uint8Array[]
  /** The upstream's words and their meanings, without and with a call in the answer. */
  readonly reasons: readonly (readonly [JsonValue, FinishReason, FinishReason?])[]
  /** Words that mean that the answer failed. */
  readonly failures: readonly string[]
}

const chatCall = { id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }
const geminiParts = (hasCall: boolean) =>
  hasCall ? [{ functionCall: { name: 'f', id: 't', args: {} } }] : [{ text: 'a' }]
const geminiBody = (finishReason: JsonValue, hasCall: boolean) => ({
  candidates: [{ content: { parts: geminiParts(hasCall) }, finishReason }],
})
const CHAT_REASONS = [
  ['stop', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['of_a_later_version', 'stop'],
] as const
const chat = (id: DialectId): Upstream => ({
  id,
  whole: (finish_reason, hasCall) => ({
    choices: [
      { finish_reason, message: { content: 'a', ...(hasCall ? { tool_calls: [chatCall] } : {}) } },
    ],
  }),
  stream: (finish_reason, hasCall) => [
    event({
      choices: [{ delta: { content: 'a', ...(hasCall ? { tool_calls: [chatCall] } : {}) } }],
    }),
    event({ choices: [{ delta: {}, finish_reason }] }),
  ],
  reasons: CHAT_REASONS,
  failures: ['error'],
})
const UPSTREAMS: readonly Upstream[] = [
  chat('openai-chat'),
  chat('mistral-chat'),
  {
    id: 'anthropic-messages',
    whole: (stop_reason) => ({ content: [{ type: 'text', text: 'a' }], stop_reason }),
    stream: (stop_reason) => [
      event({ type: 'message_start', message: {} }),
      event({ type: 'message_delta', delta: { stop_reason } }),
      event({ type: 'message_stop' }),
    ],
    reasons: [
      ['end_turn', 'stop'],
      ['stop_sequence', 'stop'],
      ['pause_turn', 'stop'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['tool_use', 'tool_calls'],
      ['refusal', 'content_filter'],
      ['of_a_later_version', 'stop'],
    ],
    failures: [],
  },
  {
    id: 'gemini-generate-content',
    whole: geminiBody,
    stream: (reason, hasCall) => [event(geminiBody(reason, hasCall))],
    reasons: [
      ['STOP', 'stop', 'tool_calls'],
      ['MAX_TOKENS', 'length'],
      ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE'].map(
        (reason) => [reason, 'content_filter'] as const,
      ),
      ['IMAGE_SAFETY', 'content_filter'],
    ],
    failures: [
      ...[
        'MALFORMED_FUNCTION_CALL',
        'UNEXPECTED_TOOL_CALL',
        'TOO_MANY_TOOL_CALLS',
        'MALFORMED_RESPONSE',
        'OTHER',
        'MISSING_THOUGHT_SIGNATURE',
        'OF_A_LATER_VERSION',
      ],
    ],
  },
  {
    id: 'cohere-chat',
    whole: (finish_reason, hasCall) => ({
      ...{ finish_reason, message: { content: 'a', tool_calls: hasCall ? [chatCall] : [] } },
    }),
    stream: (finish_reason, hasCall) => [
      ...(hasCall
        ? [event({ type: 'tool-call-start', delta: { message: { tool_calls: chatCall } } })]
        : []),
      event({ type: 'message-end', delta: { finish_reason } }),
    ],
    reasons: [
      ['COMPLETE', 'stop', 'tool_calls'],
      ['STOP_SEQUENCE', 'stop', 'tool_calls'],
      ['MAX_TOKENS', 'length'],
      ['ERROR_TOXIC', 'content_filter'],
      ['TOOL_CALL', 'stop', 'tool_calls'],
    ],
    failures: ['ERROR', 'TIMEOUT'],
  },
  {
    id: 'bedrock-converse',
    whole: (stopReason) => ({ output: { message: { content: [{ text: 'a' }] } }, stopReason }),
    stream: (stopReason) => [awsEvent('messageStop', { stopReason })],
    reasons: [
      ['end_turn', 'stop'],
      ['stop_sequence', 'stop'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['tool_use', 'tool_calls'],
      ['content_filtered', 'content_filter'],
      ['guardrail_intervened', 'content_filter'],
    ],
    failures: ['malformed_model_output', 'malformed_tool_use', 'of_a_later_version'],
  },
]

describe.each(UPSTREAMS)('$id', ({ id, whole, stream, reasons, failures }) => {
  const rows = reasons.map(([reason, plain, called = plain]) => ({ reason, plain, called }))
  test.each(rows)(
    'with the end $reason means $plain, and with a call $called',
    ({ reason, plain, called }) => {
      for (const [hasCall, meant] of [
        [false, plain],
        [true, called],
      ] as const) {
        expect(chatCodecOf(id).decodeAnswer(whole(reason, hasCall)).finishReason).toBe(meant)
        const { events, isComplete } = decode(id, ...stream(reason, hasCall))
        const finishes = events.filter((each) => each.type === 'finish')
        expect(finishes).toEqual([{ type: 'finish', reason: meant }])
        expect(isComplete).toBe(true)
      }
    },
  )

  if (id !== 'bedrock-converse')
    test('goes on after an empty event', () => {
      const [[reason] = ['']] = reasons
      const pieces = stream(reason, false)
      const nothing = Buffer.from(': comment\n\ndata:\n\ndata:  \n\n')
      expect(decode(id, nothing, ...pieces.flatMap((piece) => [piece, nothing]))).toEqual(
        decode(id, ...pieces),
      )
    })

  test('with a failed status gave no answer', () => {
    for (const reason of failures) {
      expect(() => chatCodecOf(id).decodeAnswer(whole(reason, false))).toThrow(
        'ended its answer with',
      )
      const { events, isComplete } = decode(id, ...stream(reason, false))
      expect(events.at(-1)?.type).toBe('error')
      expect(isComplete).toBe(false)
    }
  })
})

describe('a missing optional member causes no failure', () => {
  const NO_CALL = { type: 'tool-call', id: '', name: '', arguments: '{}' }
  const made = { id: expect.stringMatching(/^call_[0-9a-f]{24}$/) }
  test.each<[DialectId, JsonRecord, object[]]>([
    [
      'openai-chat',
      {
        choices: [
          {
            message: {
              content: [{ type: 'text' }, { type: 'text', text: 'a' }, { type: 'image' }, 7],
              reasoning: 'hm',
              tool_calls: [7, {}, { id: 't', function: { name: 'f', arguments: { a: 1 } } }],
            },
          },
        ],
      },
      [
        { type: 'reasoning', text: 'hm', seal: { type: 'signature', value: 'reasoning' } },
        { type: 'text', text: 'a' },
        { ...NO_CALL, ...made },
        { type: 'tool-call', id: 't', name: 'f', arguments: '{"a":1}' },
      ],
    ],
    [
      'anthropic-messages',
      {
        content: [
          ...[
            7,
            { type: 'text' },
            { type: 'thinking' },
            { type: 'redacted_thinking' },
            { type: 'tool_use' },
          ],
          { type: 'web_search_tool_result' },
        ],
      },
      [
        { type: 'text', text: '' },
        { type: 'reasoning', text: '' },
        { type: 'reasoning', text: '', seal: { type: 'encrypted', value: '' } },
        NO_CALL,
      ],
    ],
    [
      'gemini-generate-content',
      {
        candidates: [
          {
            finishReason: 'STOP',
            content: {
              parts: [
                ...[
                  7,
                  {},
                  { text: '' },
                  { text: 'hm', thought: true },
                  { text: 'a', thoughtSignature: 's' },
                ],
                { text: 'sealed', thought: true, thoughtSignature: 's' },
                { functionCall: { id: '' } },
              ],
            },
          },
        ],
      },
      [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'a' },
        { type: 'reasoning', text: '', seal: { type: 'signature', value: 's' } },
        { type: 'reasoning', text: 'sealed', seal: { type: 'signature', value: 's' } },
        { ...NO_CALL, ...made },
      ],
    ],
    [
      'cohere-chat',
      {
        message: {
          content: [7, {}, { text: '' }, { text: 'a' }],
          tool_calls: [7, {}, { function: 7 }],
        },
      },
      [
        { type: 'text', text: 'a' },
        { ...NO_CALL, ...made },
        { ...NO_CALL, ...made },
      ],
    ],
    [
      'bedrock-converse',
      {
        output: {
          message: {
            content: [
              ...[
                7,
                { toolUse: {} },
                { reasoningContent: {} },
                { reasoningContent: { reasoningText: {} } },
              ],
              { image: {} },
            ],
          },
        },
      },
      [NO_CALL, { type: 'reasoning', text: '' }],
    ],
    [
      'openai-responses',
      {
        output: [
          ...[
            { type: 'message' },
            { type: 'message', content: [7, { type: 'output_text' }, { type: 'refusal' }] },
          ],
          ...[{ type: 'reasoning' }, { type: 'reasoning', encrypted_content: '' }],
          { type: 'reasoning', content: [{ text: 'long' }], summary: [{ text: 'short' }] },
          ...[
            { type: 'function_call' },
            { type: 'function_call', id: 'i', name: 'f', arguments: ' ' },
          ],
        ],
      },
      [
        { type: 'reasoning', text: 'long' },
        NO_CALL,
        { type: 'tool-call', id: 'i', name: 'f', arguments: '{}' },
      ],
    ],
  ])('by %s', (id, body, content) => {
    const answer: ChatAnswer = chatCodecOf(id).decodeAnswer(body)
    expect<unknown>(answer.content).toEqual(content)
    expect(answer.content).toHaveLength(content.length)
    expect(answer).not.toHaveProperty('id')
    expect(answer).not.toHaveProperty('model')
    expect(answer.usage).toBeNull()
  })

  const start = { type: 'start' } as const
  test.each<[DialectId, readonly object[], readonly ChatEvent[]]>([
    [
      'openai-chat',
      [{ choices: [{}] }, { choices: [{ delta: { tool_calls: [7], refusal: '' } }] }],
      [start],
    ],
    ['openai-chat', [{}], [start]],
    [
      'anthropic-messages',
      [
        { type: 'message_start' },
        { type: 'content_block_start', content_block: { type: 'text', text: 'a' } },
        { type: 'content_block_stop' },
        {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'thinking', thinking: 'b', signature: 'c' },
        },
        {
          type: 'content_block_delta',
          index: 1,
          delta: { type: 'signature_delta', signature: 'd' },
        },
        { type: 'content_block_stop', index: 1 },
        {
          type: 'content_block_start',
          index: 2,
          content_block: { type: 'redacted_thinking', data: 'e' },
        },
        { type: 'content_block_stop', index: 2 },
        { type: 'content_block_start', index: 3, content_block: { type: 'thinking' } },
        { type: 'content_block_stop', index: 3 },
        { type: 'content_block_start', index: 4, content_block: { type: 'server_tool_use' } },
        {
          type: 'content_block_delta',
          index: 4,
          delta: { type: 'input_json_delta', partial_json: '{}' },
        },
        { type: 'content_block_delta', index: 4, delta: { type: 'citations_delta' } },
        { type: 'content_block_stop', index: 4 },
        { type: 'content_block_delta' },
        { type: 'of_a_later_version' },
      ],
      [
        start,
        { type: 'text-delta', text: 'a' },
        { type: 'text-end' },
        { type: 'reasoning-delta', text: 'b' },
        { type: 'reasoning-end', seal: { type: 'signature', value: 'cd' } },
        { type: 'reasoning-end', seal: { type: 'encrypted', value: 'e' } },
        { type: 'reasoning-end' },
        { type: 'unread', name: 'answer.content[].type=server_tool_use' },
        { type: 'unread', name: 'answer.content[].citations' },
      ],
    ],
    [
      'gemini-generate-content',
      [{}, { candidates: [{}] }, { candidates: [{ content: { parts: [7, {}] } }] }],
      [start],
    ],
    [
      'gemini-generate-content',
      [
        {
          candidates: [
            { content: { parts: [{ text: 'hm', thought: true, thoughtSignature: 's' }] } },
          ],
        },
        {
          candidates: [
            { content: { parts: [{ text: 'a', thoughtSignature: 't' }, { text: 'b' }] } },
          ],
        },
        { candidates: [{ content: { parts: [{ text: 'c', thought: true }] } }] },
      ],
      [
        start,
        { type: 'reasoning-delta', text: 'hm' },
        { type: 'reasoning-end', seal: { type: 'signature', value: 's' } },
        { type: 'text-delta', text: 'a' },
        { type: 'text-end' },
        { type: 'reasoning-end', seal: { type: 'signature', value: 't' } },
        { type: 'text-delta', text: 'b' },
        { type: 'text-end' },
        { type: 'reasoning-delta', text: 'c' },
      ],
    ],
    [
      'cohere-chat',
      [
        { type: 'message-start' },
        { type: 'content-delta' },
        { type: 'tool-call-delta', delta: { message: { tool_calls: chatCall } } },
        { type: 'tool-call-start', delta: { message: { tool_calls: [chatCall] } } },
        { type: 'tool-call-delta', index: 0, delta: {} },
        { type: 'tool-call-end', index: 0 },
        { type: 'tool-call-end', index: 0 },
        {},
      ],
      [
        start,
        { type: 'tool-call-start', index: 0, id: 't', name: 'f' },
        { type: 'tool-call-delta', index: 0, arguments: '{}' },
        { type: 'tool-call-end', index: 0 },
      ],
    ],
    [
      'cohere-chat',
      [
        { type: 'content-delta', delta: { message: { content: { thinking: 'hm' } } } },
        { type: 'content-delta', delta: { message: { content: { text: 'a' } } } },
        { type: 'tool-plan-delta', delta: { message: { tool_plan: 'b' } } },
        { type: 'content-end' },
      ],
      [
        { type: 'reasoning-delta', text: 'hm' },
        { type: 'reasoning-end', seal: { type: 'signature', value: 'thinking' } },
        { type: 'text-delta', text: 'a' },
        { type: 'text-end' },
        { type: 'reasoning-delta', text: 'b' },
        { type: 'reasoning-end', seal: { type: 'signature', value: 'tool_plan' } },
      ],
    ],
    [
      'openai-responses',
      [
        { type: 'response.created' },
        { type: 'response.output_item.added' },
        { type: 'response.output_text.delta' },
        { type: 'response.function_call_arguments.delta', output_index: 9, delta: '{}' },
        {
          type: 'response.output_item.done',
          output_index: 1,
          item: { type: 'message', content: [] },
        },
        {
          type: 'response.output_item.done',
          output_index: 2,
          item: { type: 'reasoning', summary: [{ text: '' }] },
        },
        {},
      ],
      [start],
    ],
  ])('by a stream of %s', (id, pieces, events) => {
    const decoded = decode(id, ...pieces.map((piece) => event(piece)))
    expect(decoded).toEqual({ events: [...events], isComplete: false })
    expect(decoded.events).toHaveLength(events.length)
  })
})

describe('after its failure', () => {
  const failed = { error: { message: 'no', status: 'UNAVAILABLE' } }
  test.each<[DialectId, string, object, object]>([
    [
      'openai-chat',
      'no',
      failed,
      { choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] },
    ],
    [
      'mistral-chat',
      'no message',
      { error: {} },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ],
    ['gemini-generate-content', 'no', failed, geminiBody('STOP', false)],
    ['gemini-generate-content', 'no message', { error: {} }, geminiBody('STOP', false)],
    ['cohere-chat', 'no', { type: 'error', message: 'no' }, { type: 'message-end', delta: {} }],
    ['cohere-chat', 'no', { error: 'no' }, { type: 'message-end', delta: {} }],
    ['openai-responses', 'no', { type: 'error', message: 'no' }, { type: 'response.completed' }],
    ['openai-responses', 'no message', { type: 'response.failed' }, { type: 'response.completed' }],
  ])('%s passes nothing on except %s', (id, message, failure, other) => {
    const { events, isComplete } = decode(id, event(failure), event(other))
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({ type: 'error', message })
    expect(isComplete).toBe(false)
  })
})
