import { describe, expect, test } from 'bun:test'
import type { ChatEvent } from '../chat-answer.ts'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  JsonRecord,
  JsonValue,
  Seal,
} from '../chat-request.ts'
import type { EncodeTarget, ModelTraits } from '../codec.ts'
import { mistralChatUpstreamCodec } from './index.ts'
import { toShortToolId } from './request.ts'

const ORIGIN = 'here'
const THINKS: ModelTraits = { reasoning: 'effort' }
const target = (traits: ModelTraits = {}): EncodeTarget => ({
  model: 'mistral-x',
  traits,
  sealOrigin: ORIGIN,
})
const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const system = (text: string): ChatMessage => ({
  role: 'system',
  content: [{ type: 'text', text }],
})
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const call = (id: string): AssistantPart => ({
  type: 'tool-call',
  id,
  name: 'f',
  arguments: '{"a":1}',
})
const result = (callId: string): ChatMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text: 'sun' }],
})
const encode = (members: Partial<ChatRequest>, traits?: ModelTraits) =>
  mistralChatUpstreamCodec.encodeRequest(
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
const messagesOf = (messages: readonly ChatMessage[], traits?: ModelTraits) =>
  encode({ messages }, traits).body.messages as readonly Record<string, unknown>[]

describe('a request', () => {
  test('holds only members of the whitelist, under their names, and names the rest', () => {
    const { body, ignored } = encode({
      messages: [{ role: 'user', name: 'Ann', content: [{ type: 'text', text: 'Hi' }] }],
      stream: true,
      maxOutputTokens: 9,
      temperature: 2,
      topP: 0.5,
      topK: 4,
      stop: ['x'],
      seed: 3,
      presencePenalty: -1,
      frequencyPenalty: 1,
      logprobs: true,
      topLogprobs: 2,
      user: 'u',
      metadata: { a: 1 },
      serviceTier: 'flex',
      promptCacheKey: 'k',
      parallelToolCalls: true,
      extra: { store: true, logit_bias: {}, stream_options: {} },
    })
    expect(body).toEqual({
      model: 'mistral-x',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      temperature: 1.5,
      top_p: 0.5,
      stop: ['x'],
      random_seed: 3,
      presence_penalty: -1,
      frequency_penalty: 1,
      metadata: { a: 1 },
      prompt_cache_key: 'k',
      stream: true,
    })
    expect(ignored).toEqual([
      'topK',
      'logprobs',
      'topLogprobs',
      'user',
      'serviceTier',
      'temperature',
      'message.name',
    ])
    expect(encode({ seed: -1 })).toMatchObject({ ignored: ['seed'] })
  })

  test('gives calls and their results the same id of nine letters and digits, and leaves one that fits', () => {
    const ids = ['call_4f3a', 'toolu_01:x', 'gSIMJiOkT']
    const messages = messagesOf([user('go'), assistant(...ids.map(call)), ...ids.map(result)])
    const [, turn] = messages as readonly { tool_calls?: readonly { id: string }[] }[]
    const made = (turn?.tool_calls ?? []).map(({ id }) => id)
    expect(messages.slice(2).map((message) => message.tool_call_id as string)).toEqual(made)
    expect(new Set(made).size).toBe(3)
    for (const id of made) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(made[2]).toBe('gSIMJiOkT')
    expect(toShortToolId('call_4f3a')).toBe(made[0] ?? '')
  })

  test('has its instructions first, in one message', () => {
    const messages = [
      system('Be brief.'),
      user('go'),
      assistant(call('123456789')),
      result('123456789'),
      system('In German.'),
      user('stop'),
    ]
    expect(messagesOf(messages).map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.\n\nIn German.'],
      ['user', 'go'],
      ['assistant', ''],
      ['tool', 'sun'],
      ['user', 'stop'],
    ])
  })

  test('marks an answer to be continued, and leaves out an empty one', () => {
    const text: AssistantPart = { type: 'text', text: 'Dear' }
    expect(messagesOf([user('write'), assistant(text)])[1]).toEqual({
      role: 'assistant',
      content: 'Dear',
      prefix: true,
    })
    expect(messagesOf([user('a'), assistant(text), assistant(), user('b')]).slice(1)).toEqual([
      { role: 'assistant', content: 'Dear' },
      { role: 'user', content: 'b' },
    ])
  })

  test('returns thinking unchanged to models that think', () => {
    const reasoning = (text: string, seal?: Seal): AssistantPart => ({
      type: 'reasoning',
      text,
      ...(seal === undefined ? {} : { seal }),
    })
    const sealed = (value: string, origin = ORIGIN): Seal => ({ type: 'signature', value, origin })
    const chunk = (text: string, members: object = {}) => ({
      type: 'thinking',
      thinking: [{ type: 'text', text }],
      ...members,
    })
    const turn = assistant(
      reasoning('a', sealed('unsigned')),
      reasoning('b', sealed('c2ln')),
      reasoning('c'),
      reasoning('d', sealed('x', 'elsewhere')),
      { type: 'text', text: 'ok' },
    )
    const { body, ignored } = encode({ messages: [user('go'), turn, user('on')] }, THINKS)
    expect((body.messages as readonly unknown[])[1]).toEqual({
      role: 'assistant',
      content: [
        chunk('a'),
        chunk('b', { signature: 'c2ln' }),
        chunk('c'),
        { type: 'text', text: 'ok' },
      ],
    })
    expect(ignored).toEqual(['seals'])
    const other = encode({ messages: [user('go'), turn, user('on')] })
    expect((other.body.messages as readonly unknown[])[1]).toEqual({
      role: 'assistant',
      content: 'ok',
    })
    expect(other.ignored).toEqual(['reasoningParts', 'seals'])
  })

  test('has images, documents and audio, also in results', () => {
    const png = { type: 'data', mediaType: 'image/png', base64: 'AA==' } as const
    const messages = messagesOf([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: png, detail: 'low' },
          { type: 'file', source: { type: 'url', url: 'https://x.test/a.pdf' }, filename: 'a.pdf' },
          { type: 'audio', base64: 'BB==', format: 'wav' },
        ],
      },
      assistant(call('123456789')),
      { role: 'tool', callId: '123456789', content: [{ type: 'image', source: png }] },
    ])
    const url = 'data:image/png;base64,AA=='
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url, detail: 'low' } },
      { type: 'document_url', document_url: 'https://x.test/a.pdf', document_name: 'a.pdf' },
      { type: 'input_audio', input_audio: 'BB==' },
    ])
    expect(messages[2]?.content).toEqual([{ type: 'image_url', image_url: { url } }])
  })

  test.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    [{ type: 'required' }, 'any'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
  ] as const)('chooses tools: %j', (toolChoice, expected) => {
    const { body } = encode({
      tools: [{ name: 'f', strict: true }],
      toolChoice,
      parallelToolCalls: false,
    })
    const parameters = { type: 'object', properties: {} }
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f', strict: true, parameters } }],
      tool_choice: expected,
      parallel_tool_calls: false,
    })
    expect(() => encode({ toolChoice: { type: 'required' } })).toThrow('the request has no tools')
  })

  test('asks for JSON', () => {
    const format = (responseFormat: ChatRequest['responseFormat'] & object) =>
      encode({ responseFormat }).body.response_format
    expect(format({ type: 'text' })).toBeUndefined()
    expect(format({ type: 'json' })).toEqual({ type: 'json_object' })
    expect(format({ type: 'json-schema', schema: { type: 'object' }, strict: true })).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
    })
  })

  test('asks for thinking by a word, where the model takes one', () => {
    const effort = (reasoning: ChatRequest['reasoning'] & object) =>
      encode({ reasoning }, THINKS).body.reasoning_effort
    expect(effort({ effort: 'max' })).toBe('xhigh')
    expect(effort({ effort: 'none' })).toBe('none')
    expect(effort({ budgetTokens: 9000 })).toBe('high')
    expect(encode({ reasoning: { effort: 'low' } }).ignored).toEqual(['reasoning'])
    expect(encode({ reasoning: { effort: 'none' } }).ignored).toEqual([])
    expect(encode({ reasoning: { effort: 'none' } }, { alwaysReasons: true }).ignored).toEqual([
      'reasoning',
    ])
  })
})

const chunk = (delta: object, members: object = {}, usage: object = {}) =>
  `data: ${JSON.stringify({
    id: 'r1',
    object: 'chat.completion.chunk',
    created: 7,
    model: 'magistral-x-1',
    choices: [{ index: 0, delta, finish_reason: null, ...members }],
    ...usage,
  })}\n\n`
const thinking = (text: string, members: object = {}) => ({
  content: [{ type: 'thinking', thinking: [{ type: 'text', text }], ...members }],
})
const made = (id: string, args: JsonValue) => ({ id, function: { name: 'f', arguments: args } })
const STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk(thinking('hm, ')),
  chunk(thinking('two')),
  chunk({ content: [{ type: 'text', text: 'Grüße ' }] }),
  chunk({ content: '👋' }),
  chunk(thinking('more', { signature: 'c2ln' })),
  chunk(
    { content: null, tool_calls: [made('gSIMJiOkT', '{"a":1}'), made('hSIMJiOkT', { b: 2 })] },
    { finish_reason: 'tool_calls' },
    { usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } },
  ),
  'data: [DONE]\n\n',
].join('')
const EVENTS: ChatEvent[] = [
  { type: 'start', id: 'r1', model: 'magistral-x-1', createdAt: 7 },
  { type: 'reasoning-delta', text: 'hm, ' },
  { type: 'reasoning-delta', text: 'two' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'unsigned' } },
  { type: 'text-delta', text: 'Grüße ' },
  { type: 'text-delta', text: '👋' },
  { type: 'text-end' },
  { type: 'reasoning-delta', text: 'more' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'c2ln' } },
  { type: 'tool-call-start', index: 0, id: 'gSIMJiOkT', name: 'f' },
  { type: 'tool-call-delta', index: 0, arguments: '{"a":1}' },
  { type: 'tool-call-start', index: 1, id: 'hSIMJiOkT', name: 'f' },
  { type: 'tool-call-delta', index: 1, arguments: '{"b":2}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-end', index: 1 },
  {
    type: 'usage',
    usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

function decode(...pieces: readonly (string | Uint8Array)[]) {
  const decoder = mistralChatUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((piece) => decoder.push(Buffer.from(piece))), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte; calls without an index are counted', () => {
    const bytes = Buffer.from(STREAM)
    const whole = { events: EVENTS, isComplete: true }
    expect(decode(bytes)).toEqual(whole)
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(decode(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole)
    expect(decode(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test('keeps a signature that follows its thinking, and one of thinking that is not shown', () => {
    const signed = { content: [{ type: 'thinking', thinking: [], signature: 'c2ln' }] }
    const seal: Seal = { type: 'signature', value: 'c2ln' }
    expect(
      decode(chunk(thinking('hm')), chunk(signed), chunk({ content: 'ok' })).events.slice(1),
    ).toEqual([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal },
      { type: 'text-delta', text: 'ok' },
    ])
    expect(decode(chunk(signed), chunk({ content: 'ok' })).events.slice(1)).toEqual([
      { type: 'reasoning-end', seal },
      { type: 'text-delta', text: 'ok' },
    ])
  })

  test('without a finish reason was cut; one that ends with an error is a failure', () => {
    expect(decode(chunk({ content: 'half' })).isComplete).toBe(false)
    const failed = decode(chunk({ content: 'half' }), chunk({}, { finish_reason: 'error' }))
    expect(failed.isComplete).toBe(false)
    expect(failed.events.at(-1)).toMatchObject({ type: 'error' })
  })

  test('that reaches the model’s own limit has the finish reason length', () => {
    const { events } = decode(chunk({ content: 'x' }, { finish_reason: 'model_length' }))
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' })
  })
})

test('a whole answer keeps thinking, text, calls and usage; one that failed is a failure', () => {
  const message = {
    role: 'assistant',
    content: [...thinking('hm').content, { type: 'text', text: 'ok' }],
    tool_calls: [made('gSIMJiOkT', '{"a":1}')],
  }
  const body = (finish_reason: string): JsonRecord => ({
    id: 'r1',
    created: 7,
    model: 'magistral-x-1',
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  })
  expect(mistralChatUpstreamCodec.decodeAnswer(body('tool_calls'))).toEqual({
    id: 'r1',
    createdAt: 7,
    model: 'magistral-x-1',
    content: [
      { type: 'reasoning', text: 'hm', seal: { type: 'signature', value: 'unsigned' } },
      { type: 'text', text: 'ok' },
      { type: 'tool-call', id: 'gSIMJiOkT', name: 'f', arguments: '{"a":1}' },
    ],
    finishReason: 'tool_calls',
    usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 },
  })
  expect(() => mistralChatUpstreamCodec.decodeAnswer(body('error'))).toThrow(
    'ended its answer with an error',
  )
  expect(() => mistralChatUpstreamCodec.decodeAnswer({})).toThrow('without a choice')
})
