import { describe, expect, test } from 'bun:test'
import type { ChatEvent } from '../chat-answer.ts'
import type { AssistantPart, ChatMessage, ChatRequest } from '../chat-request.ts'
import type { EncodeTarget, ModelTraits } from '../codec.ts'
import { geminiUpstreamCodec } from './index.ts'

const ORIGIN = 'gemini'
const target = (traits: ModelTraits = {}): EncodeTarget => ({
  model: 'gemini-x',
  traits,
  sealOrigin: ORIGIN,
})
const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const result = (callId: string, text: string, isError = false): ChatMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text }],
  isError,
})
const encode = (members: Partial<ChatRequest>, traits?: ModelTraits) =>
  geminiUpstreamCodec.encodeRequest(
    {
      messages: [user('Hi')],
      stream: false,
      extra: {},
      family: 'openai-chat',
      ignored: [],
      ...members,
    },
    target(traits),
  )

describe('a request', () => {
  test('has roles user and model, and its instructions apart', () => {
    const system: ChatMessage = { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }
    expect(
      encode({ messages: [system, user('a'), assistant({ type: 'text', text: 'b' }), user('c')] })
        .body,
    ).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [{ text: 'b' }] },
        { role: 'user', parts: [{ text: 'c' }] },
      ],
    })
  })

  test('has its settings under their names, and names those without a place', () => {
    const { body, ignored } = encode({
      maxOutputTokens: 9,
      temperature: 2,
      stop: ['1', '2', '3', '4', '5', '6'],
      seed: 3,
      user: 'u',
      parallelToolCalls: false,
      responseFormat: { type: 'json-schema', schema: { type: 'object' } },
    })
    expect(body.generationConfig).toEqual({
      maxOutputTokens: 9,
      temperature: 2,
      stopSequences: ['1', '2', '3', '4', '5'],
      seed: 3,
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    })
    expect(ignored.toSorted()).toEqual(['parallelToolCalls', 'stop', 'user'])
  })

  test.each([
    [{ type: 'required' }, { mode: 'ANY' }],
    [{ type: 'none' }, { mode: 'NONE' }],
    [{ type: 'auto' }, { mode: 'AUTO' }],
    [
      { type: 'tool', name: 'f' },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
  ] as const)('chooses tools: %j', (toolChoice, functionCallingConfig) => {
    const { body } = encode({ tools: [{ name: 'f', parameters: { type: 'object' } }], toolChoice })
    expect(body.tools).toEqual([
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] },
    ])
    expect(body.toolConfig).toEqual({ functionCallingConfig })
  })

  test('asks for JSON, and has at most five stop texts', () => {
    expect(encode({ responseFormat: { type: 'json' } }).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
    })
    const stop = ['1', '2', '3', '4', '5']
    expect(encode({ stop }).ignored).toEqual([])
    expect(encode({ stop }).body.generationConfig).toEqual({ stopSequences: stop })
  })

  test('gives results the name of their tool, as objects', () => {
    const call = (id: string, name: string): AssistantPart => ({
      type: 'tool-call',
      id,
      name,
      arguments: '{"a":1}',
    })
    const messages = [
      user('go'),
      assistant(call('1', 'f'), call('2', 'g'), call('3', 'h')),
      result('1', 'plain'),
      result('2', '{"x":2}'),
      result('3', 'broken', true),
    ]
    expect((encode({ messages }).body.contents as readonly unknown[])[2]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'f', response: { result: 'plain' } } },
        { functionResponse: { name: 'g', response: { x: 2 } } },
        { functionResponse: { name: 'h', response: { error: 'broken' } } },
      ],
    })
    expect(() => encode({ messages: [user('go'), result('9', 'x')] })).toThrow(
      'no earlier message makes that call',
    )
  })

  test('signs the first parallel call: with its own signature, or a stand-in for another model’s call', () => {
    const calls = (seal?: { origin: string }): AssistantPart[] => [
      {
        type: 'tool-call',
        id: '1',
        name: 'f',
        arguments: '{}',
        ...(seal === undefined
          ? {}
          : { seal: { type: 'signature' as const, value: 'sig', ...seal } }),
      },
      { type: 'tool-call', id: '2', name: 'g', arguments: '{}' },
    ]
    const signatures = (seal: { origin: string } | undefined, traits: ModelTraits) => {
      const { body, ignored } = encode(
        { messages: [user('go'), assistant(...calls(seal))] },
        traits,
      )
      const [, turn] = body.contents as readonly {
        parts: readonly { thoughtSignature?: string }[]
      }[]
      return [turn?.parts.map((part) => part.thoughtSignature), ignored]
    }
    expect(signatures({ origin: ORIGIN }, { reasoning: 'level' })).toEqual([['sig', undefined], []])
    expect(signatures(undefined, { reasoning: 'level' })).toEqual([
      ['skip_thought_signature_validator', undefined],
      [],
    ])
    expect(signatures({ origin: 'elsewhere' }, {})).toEqual([[undefined, undefined], ['seals']])
  })

  test('asks for thinking by level or by budget', () => {
    const config = (traits: ModelTraits, reasoning: ChatRequest['reasoning'] & object) =>
      (
        encode({ reasoning }, traits).body.generationConfig as
          | { thinkingConfig?: unknown }
          | undefined
      )?.thinkingConfig
    expect(config({ reasoning: 'level' }, { effort: 'high' })).toEqual({
      thinkingLevel: 'HIGH',
      includeThoughts: true,
    })
    expect(config({ reasoning: 'budget' }, { effort: 'none' })).toEqual({ thinkingBudget: 0 })
    expect(config({ reasoning: 'budget' }, { budgetTokens: 99 })).toEqual({
      thinkingBudget: 99,
      includeThoughts: true,
    })
    expect(config({ reasoning: 'level' }, { budgetTokens: 99 })).toMatchObject({
      thinkingLevel: 'LOW',
    })
    expect(encode({ reasoning: { effort: 'low' } }).ignored).toEqual(['reasoning'])
  })
})

const piece = (parts: readonly object[], members: object = {}, usage: object = {}) =>
  `data: ${JSON.stringify({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...members }],
    usageMetadata: { promptTokenCount: 29, ...usage },
    modelVersion: 'gemini-x-1',
    responseId: 'r1',
  })}\r\n\r\n`
const STREAM = [
  piece([{ text: 'hm, ', thought: true }]),
  piece([{ text: 'two', thought: true }]),
  piece([{ text: 'Grüße 👋' }], {}, { candidatesTokenCount: 3 }),
  piece([{ functionCall: { name: 'f', args: { city: 'Ulm' } }, thoughtSignature: 'sig' }]),
  piece([{ functionCall: { name: 'f', id: 'given' } }]),
  piece(
    [{ text: '' }],
    { finishReason: 'STOP' },
    { candidatesTokenCount: 15, thoughtsTokenCount: 804, cachedContentTokenCount: 4 },
  ),
].join('')

function decode(pieces: readonly Uint8Array[]) {
  const decoder = geminiUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((bytes) => decoder.push(bytes)), ...decoder.end()]
  // A generated id differs each time.
  const shown = events.map((event) =>
    event.type === 'tool-call-start' && event.id !== 'given'
      ? { ...event, id: event.id.slice(0, 5) }
      : event,
  )
  return { events: shown, isComplete: decoder.isComplete() }
}

const EVENTS: ChatEvent[] = [
  {
    type: 'start',
    id: 'r1',
    model: 'gemini-x-1',
    usage: { inputTokens: 29, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
  },
  { type: 'reasoning-delta', text: 'hm, ' },
  { type: 'reasoning-delta', text: 'two' },
  { type: 'reasoning-end' },
  { type: 'text-delta', text: 'Grüße 👋' },
  { type: 'text-end' },
  {
    type: 'tool-call-start',
    index: 0,
    id: 'call_',
    name: 'f',
    seal: { type: 'signature', value: 'sig' },
  },
  { type: 'tool-call-delta', index: 0, arguments: '{"city":"Ulm"}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-start', index: 1, id: 'given', name: 'f' },
  { type: 'tool-call-delta', index: 1, arguments: '{}' },
  { type: 'tool-call-end', index: 1 },
  {
    type: 'usage',
    usage: { inputTokens: 29, outputTokens: 819, cachedInputTokens: 4, reasoningTokens: 804 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte; calls are counted over the whole of it', () => {
    const bytes = Buffer.from(STREAM)
    expect(decode([bytes])).toEqual({ events: EVENTS, isComplete: true })
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual({
        events: EVENTS,
        isComplete: true,
      })
    expect(decode(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual({
      events: EVENTS,
      isComplete: true,
    })
  })

  test('without a finish reason was cut', () => {
    expect(decode([Buffer.from(piece([{ text: 'half' }]))]).isComplete).toBe(false)
  })

  test.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['STOP', 'stop'],
  ])('with the finish reason %s has finish_reason %s', (finishReason, reason) => {
    expect(decode([Buffer.from(piece([{ text: 'x' }], { finishReason }))]).events.at(-1)).toEqual({
      type: 'finish',
      reason: reason as 'stop',
    })
  })

  test('with a malformed call is a failure', () => {
    const { events, isComplete } = decode([
      Buffer.from(piece([], { finishReason: 'MALFORMED_FUNCTION_CALL' })),
    ])
    expect(isComplete).toBe(false)
    expect(events.at(-1)).toMatchObject({ type: 'error' })
  })

  test('with an event that is not JSON is broken, not whole', () => {
    const text = `${piece([{ text: 'a' }])}data: {"candidates": [{"con\r\n\r\n${piece([], { finishReason: 'STOP' })}`
    const { events, isComplete } = decode([Buffer.from(text)])
    expect(isComplete).toBe(false)
    expect(events.at(-1)?.type).toBe('error')
  })

  test('with a refused prompt ends with content_filter', () => {
    const blocked = `data: ${JSON.stringify({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })}\n\n`
    expect(decode([Buffer.from(blocked)]).events.at(-1)).toEqual({
      type: 'finish',
      reason: 'content_filter',
    })
  })
})

test('a whole answer keeps thoughts, text, signed calls and usage', () => {
  const [, , call] = geminiUpstreamCodec
    .decodeAnswer({
      candidates: [
        {
          content: {
            parts: [
              { text: 'hm', thought: true },
              { text: 'Hi', thoughtSignature: 'end' },
              { functionCall: { name: 'f', id: 'c', args: { a: 1 } }, thoughtSignature: 'sig' },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, thoughtsTokenCount: 3 },
    })
    .content.filter(
      (part) => part.type !== 'reasoning' || part.seal === undefined || part.text !== '',
    )
  expect(call).toEqual({
    type: 'tool-call',
    id: 'c',
    name: 'f',
    arguments: '{"a":1}',
    seal: { type: 'signature', value: 'sig' },
  })
  expect(() => geminiUpstreamCodec.decodeAnswer({})).toThrow('without an end')
})
