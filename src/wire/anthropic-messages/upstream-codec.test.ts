import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatEvent } from '../chat-answer.ts'
import type { AssistantPart, ChatMessage, ChatRequest, JsonRecord } from '../chat-request.ts'
import type { EncodeTarget, ModelTraits } from '../codec.ts'
import { anthropicUpstreamCodec } from './index.ts'

const ORIGIN = 'anthropic'
const target = (traits: ModelTraits = {}): EncodeTarget => ({
  model: 'claude-x',
  traits,
  sealOrigin: ORIGIN,
})
const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const result = (callId: string, text: string): ChatMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text }],
})
const request = (members: Partial<ChatRequest>): ChatRequest => ({
  messages: [user('Hi')],
  stream: false,
  extra: {},
  family: 'openai-chat',
  ignored: [],
  ...members,
})
const encode = (members: Partial<ChatRequest>, traits?: ModelTraits) =>
  anthropicUpstreamCodec.encodeRequest(request(members), target(traits))

describe('a request', () => {
  test('has the required limit on output, even if its caller set none', () => {
    expect(encode({}).body).toEqual({
      model: 'claude-x',
      max_tokens: 4096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
    expect(encode({}, { defaultMaxOutputTokens: 9 }).body.max_tokens).toBe(9)
    expect(encode({ maxOutputTokens: 7 }).body.max_tokens).toBe(7)
  })

  test('has its instructions in front, wherever they stood in the conversation', () => {
    const system = (text: string): ChatMessage => ({
      role: 'system',
      content: [{ type: 'text', text }],
    })
    const { body } = encode({ messages: [system('a'), user('1'), system('b'), user('2')] })
    expect(body.system).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ])
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: '1' },
          { type: 'text', text: '2' },
        ],
      },
    ])
  })

  test('has all results of one turn in one user message, results first, and ids of its alphabet', () => {
    const call = (id: string): AssistantPart => ({
      type: 'tool-call',
      id,
      name: 'f',
      arguments: '{"a":1}',
    })
    const { body } = encode({
      messages: [
        user('go'),
        assistant(call('call:1'), call('b')),
        result('call:1', 'x'),
        result('b', 'y'),
        user('on'),
      ],
    })
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } },
          { type: 'tool_use', id: 'b', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'x' }] },
          { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'y' }] },
          { type: 'text', text: 'on' },
        ],
      },
    ])
  })

  test('leaves out empty text blocks, which are refused', () => {
    const { body } = encode({
      messages: [user('Hi'), assistant({ type: 'text', text: '' }), user('')],
    })
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
  })

  test('keeps parallel_tool_calls: false', () => {
    const tools = [{ name: 'f' }]
    expect(encode({ tools, parallelToolCalls: false }).body.tool_choice).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    })
    expect(encode({ tools, toolChoice: { type: 'required' } }).body.tool_choice).toEqual({
      type: 'any',
    })
    expect(encode({ tools, toolChoice: { type: 'tool', name: 'f' } }).body.tool_choice).toEqual({
      type: 'tool',
      name: 'f',
    })
    expect(encode({ tools }).body.tools).toEqual([
      { name: 'f', input_schema: { type: 'object', properties: {} } },
    ])
  })

  test.each([
    [{ toolChoice: { type: 'none' } }, { type: 'none' }],
    [{ toolChoice: { type: 'auto' } }, { type: 'auto' }],
    [{ toolChoice: { type: 'none' }, parallelToolCalls: false }, { type: 'none' }],
    [
      { toolChoice: { type: 'required' }, parallelToolCalls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [{ parallelToolCalls: true }, undefined],
    [{}, undefined],
  ] as const)('chooses tools: %j', (members, expected) => {
    expect<unknown>(encode({ tools: [{ name: 'f' }], ...members }).body.tool_choice).toEqual(
      expected,
    )
  })

  test('cannot demand a tool without any, and has no tool_choice without tools', () => {
    for (const toolChoice of [{ type: 'required' }, { type: 'tool', name: 'f' }] as const)
      expect(() => encode({ toolChoice })).toThrow('the request has no tools')
    for (const members of [{ toolChoice: { type: 'auto' } }, { parallelToolCalls: false }] as const)
      expect(encode(members).body).not.toHaveProperty('tool_choice')
  })

  test('keeps unknown members when its caller speaks the same format', () => {
    const extra = { x_vendor: [1], model: 'mine' }
    expect(encode({ family: 'anthropic-messages', extra }).body).toMatchObject({
      x_vendor: [1],
      model: 'claude-x',
    })
    expect(encode({ extra }).body).not.toHaveProperty('x_vendor')
  })

  test('has a temperature of at most 1, leaves it out for models that refuse it, and names it', () => {
    expect(encode({ temperature: 1.7 })).toMatchObject({
      body: { temperature: 1 },
      ignored: ['temperature'],
    })
    const refused = encode({ temperature: 0.2, topP: 0.9 }, { refusesSampling: true })
    expect(refused.body).not.toHaveProperty('temperature')
    expect(refused.ignored).toEqual(['temperature', 'topP'])
  })

  test('names settings without a place in the format', () => {
    const { ignored } = encode({
      seed: 1,
      logprobs: true,
      presencePenalty: 1,
      responseFormat: { type: 'json' },
    })
    expect(ignored).toEqual(['seed', 'presencePenalty', 'logprobs', 'responseFormat'])
  })

  test('with a schema for its answer has it in output_config', () => {
    const schema = { type: 'object' }
    expect(encode({ responseFormat: { type: 'json-schema', schema } }).body.output_config).toEqual({
      format: { type: 'json_schema', schema },
    })
  })

  test.each([
    ['audio', { type: 'audio', base64: 'AA', format: 'wav' }, 'takes no audio'],
    [
      'a tiff',
      { type: 'image', source: { type: 'data', mediaType: 'image/tiff', base64: 'AA' } },
      'image/tiff',
    ],
  ] as const)('with unsupported content is refused: %s', (_, part, message) => {
    expect(() => encode({ messages: [{ role: 'user', content: [part] }] })).toThrow(message)
  })
})

test.each([{ tools: undefined }, { tools: [] }])(
  'a history with calls and $tools as tools offers the called ones, and forbids them',
  ({ tools }) => {
    const call: AssistantPart = { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }
    const messages = [
      user('go'),
      assistant(call, { ...call, id: 'b' }),
      result('a', 'x'),
      result('b', 'y'),
    ]
    const { body } = encode({ messages, ...(tools && { tools }) })
    expect(body).toMatchObject({
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'none' },
    })
    expect(encode({ messages: [user('go')] }).body).not.toHaveProperty('tools')
  },
)

describe('thinking', () => {
  const reasoning = { effort: 'medium' }
  const sealed: AssistantPart = {
    type: 'reasoning',
    text: 'hm',
    seal: { type: 'signature', value: 'sig', origin: ORIGIN },
  }
  const call: AssistantPart = { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }

  test('is requested by effort, or by a budget that leaves room for the answer', () => {
    expect(encode({ reasoning }, { reasoning: 'adaptive' }).body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    })
    const { body } = encode({ reasoning, maxOutputTokens: 4000 }, { reasoning: 'budget' })
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 3200 })
    expect(encode({ reasoning }, { reasoning: 'budget' }).body).toMatchObject({
      max_tokens: 4096 + 8192,
      thinking: { budget_tokens: 8192 },
    })
  })

  test.each([
    [1024, undefined],
    [1025, 1024],
    [1280, 1024],
    [1290, 1032],
    [20_000, 8192],
  ])('within %p tokens may use %p of them', (maxOutputTokens, budget) => {
    const { body, ignored } = encode({ reasoning, maxOutputTokens }, { reasoning: 'budget' })
    expect(body.max_tokens).toBe(maxOutputTokens)
    if (budget === undefined) expect([body.thinking, ignored]).toEqual([undefined, ['reasoning']])
    else expect([body.thinking, ignored]).toEqual([{ type: 'enabled', budget_tokens: budget }, []])
  })

  test('is not missed from an earlier turn, or from a turn without calls', () => {
    const later = [user('go'), assistant(call), result('a', 'x'), user('on')]
    const without = [user('go'), assistant({ type: 'text', text: 'so' })]
    for (const messages of [later, without])
      expect(encode({ messages, reasoning }, { reasoning: 'adaptive' }).ignored).toEqual([])
  })

  test('leaves no room for sampling settings, which are named', () => {
    const sampling = { temperature: 0.5, topP: 0.5, topK: 5 }
    const { body, ignored } = encode({ reasoning, ...sampling }, { reasoning: 'adaptive' })
    for (const name of ['temperature', 'top_p', 'top_k']) expect(body).not.toHaveProperty(name)
    expect(ignored).toEqual(['temperature', 'topP', 'topK'])
  })

  const so = { type: 'text' as const, text: 'so' }
  test.each([
    ['adaptive', [sealed, so, sealed, call], ['thinking', 'text', 'thinking', 'tool_use']],
    ['budget', [sealed, so, sealed, call], ['thinking', 'text', 'thinking', 'tool_use']],
    ['adaptive', [so, sealed, call], ['text', 'thinking', 'tool_use']],
    // With a budget, thinking has to lead the turn.
    ['budget', [so, sealed, call], ['thinking', 'text', 'tool_use']],
  ] as const)(
    'keeps its place in the turn of a model that thinks with %s: %j',
    (mode, parts, types) => {
      const messages = [user('go'), assistant(...parts), result('a', 'x')]
      const { body, ignored } = encode({ messages, reasoning }, { reasoning: mode })
      const [, turn] = body.messages as readonly { content: readonly JsonRecord[] }[]
      expect(turn?.content.map(({ type }) => type)).toEqual([...types])
      expect(turn?.content).toContainEqual({ type: 'thinking', thinking: 'hm', signature: 'sig' })
      expect(ignored).toEqual([])
    },
  )

  test('of another origin stays away; its own comes back also where the request asks for none', () => {
    const foreign: AssistantPart = {
      type: 'reasoning',
      text: 'elsewhere',
      seal: { type: 'signature', value: 's', origin: 'elsewhere' },
    }
    const messages = [user('go'), assistant(foreign, sealed, call), result('a', 'x')]
    const blocksOf = (members: Partial<ChatRequest>) => {
      const { body, ignored } = encode({ messages, ...members }, { reasoning: 'adaptive' })
      const [, turn] = body.messages as readonly { content: readonly JsonRecord[] }[]
      return [turn?.content.map(({ type, thinking }) => thinking ?? type), ignored]
    }
    expect(blocksOf({ reasoning })).toEqual([['hm', 'tool_use'], ['seals']])
    expect(blocksOf({})).toEqual([['hm', 'tool_use'], ['seals']])
    expect(blocksOf({ reasoning: { effort: 'none' } })).toEqual([['hm', 'tool_use'], ['seals']])
  })

  test('is switched off and named when the turn under way has no thinking of this origin', () => {
    for (const origin of [undefined, 'elsewhere'] as const) {
      const foreign =
        origin === undefined
          ? []
          : [{ ...sealed, seal: { type: 'signature' as const, value: 's', origin } }]
      const messages = [user('go'), assistant(...foreign, call), result('a', 'x')]
      const { body, ignored } = encode({ messages, reasoning }, { reasoning: 'budget' })
      expect(body).not.toHaveProperty('thinking')
      expect(ignored).toContain('reasoning')
      // An adaptive model may have called the tool without thinking.
      const adaptive = encode({ messages, reasoning }, { reasoning: 'adaptive' })
      expect(adaptive.body.thinking).toEqual({ type: 'adaptive' })
      expect(adaptive.ignored).not.toContain('reasoning')
    }
  })

  test('does not go together with a demanded tool when it has a budget', () => {
    const tools = [{ name: 'f' }]
    const asked = encode(
      { reasoning, tools, toolChoice: { type: 'required' } },
      { reasoning: 'budget' },
    )
    expect(asked.body).not.toHaveProperty('thinking')
    expect(asked.ignored).toEqual(['reasoning'])
  })
})

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const start = event({
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'claude-x-1',
    usage: { input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 },
  },
} as { type: string })
const at = (index: number, type: string, members: object) =>
  event({ type, index, ...members } as { type: string })
const STREAM = [
  start,
  at(0, 'content_block_start', {
    content_block: { type: 'thinking', thinking: '', signature: '' },
  }),
  event({ type: 'ping' }),
  at(0, 'content_block_delta', { delta: { type: 'thinking_delta', thinking: 'hä? 👋' } }),
  at(0, 'content_block_delta', { delta: { type: 'signature_delta', signature: 'si' } }),
  at(0, 'content_block_delta', { delta: { type: 'signature_delta', signature: 'g==' } }),
  at(0, 'content_block_stop', {}),
  at(1, 'content_block_start', { content_block: { type: 'text', text: '' } }),
  at(1, 'content_block_delta', { delta: { type: 'text_delta', text: 'Grüße' } }),
  at(1, 'content_block_stop', {}),
  at(2, 'content_block_start', {
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
  }),
  at(2, 'content_block_delta', { delta: { type: 'input_json_delta', partial_json: '' } }),
  at(2, 'content_block_delta', { delta: { type: 'input_json_delta', partial_json: '{"city":' } }),
  at(2, 'content_block_delta', { delta: { type: 'input_json_delta', partial_json: ' "Ulm"}' } }),
  at(2, 'content_block_stop', {}),
  at(3, 'content_block_start', {
    content_block: { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
  }),
  at(3, 'content_block_stop', {}),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use' },
    usage: { output_tokens: 42 },
  } as {
    type: string
  }),
  event({ type: 'message_stop' }),
].join('')
const EVENTS: ChatEvent[] = [
  { type: 'start', id: 'msg_1', model: 'claude-x-1' },
  { type: 'reasoning-delta', text: 'hä? 👋' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'sig==' } },
  { type: 'text-delta', text: 'Grüße' },
  { type: 'text-end' },
  { type: 'tool-call-start', index: 0, id: 'toolu_1', name: 'weather' },
  { type: 'tool-call-delta', index: 0, arguments: '{"city":' },
  { type: 'tool-call-delta', index: 0, arguments: ' "Ulm"}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-start', index: 1, id: 'toolu_2', name: 'now' },
  { type: 'tool-call-end', index: 1 },
  {
    type: 'usage',
    usage: { inputTokens: 105, outputTokens: 42, cachedInputTokens: 100, reasoningTokens: 0 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

function decode(pieces: readonly Uint8Array[]) {
  const decoder = anthropicUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte', () => {
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

  test('without message_stop was cut', () => {
    expect(decode([Buffer.from(STREAM.slice(0, -30))]).isComplete).toBe(false)
  })

  test('with two message_start events begins once', () => {
    expect(decode([Buffer.from(start + start)]).events).toEqual([EVENTS[0] as ChatEvent])
  })

  describe('of whole blocks', () => {
    const tool = (input: unknown) => ({
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input },
    })
    const end = (stop_reason: string) =>
      event({ type: 'message_delta', delta: { stop_reason } } as { type: string }) +
      event({ type: 'message_stop' })
    const usage = { input_tokens: 5, output_tokens: 6 }
    const bare = event({ type: 'message_start', message: { id: 'msg_1', usage } } as {
      type: string
    })
    const counted = { inputTokens: 5, outputTokens: 6, cachedInputTokens: 0, reasoningTokens: 0 }
    const called: ChatEvent[] = [
      { type: 'start', id: 'msg_1' },
      { type: 'tool-call-start', index: 0, id: 'toolu_1', name: 'weather' },
      { type: 'tool-call-delta', index: 0, arguments: '{"city":"Ulm"}' },
      { type: 'tool-call-end', index: 0 },
      { type: 'usage', usage: counted },
      { type: 'finish', reason: 'tool_calls' },
    ]

    test.each([
      ['with its end', at(0, 'content_block_stop', {})],
      ['without its end', ''],
    ])('keeps the arguments that come with a call’s start, %s', (_, stop) => {
      const stream =
        bare + at(0, 'content_block_start', tool({ city: 'Ulm' })) + stop + end('tool_use')
      expect(decode([Buffer.from(stream)])).toEqual({ events: called, isComplete: true })
    })

    test('has them once if they follow in pieces too', () => {
      const pieces = at(0, 'content_block_delta', {
        delta: { type: 'input_json_delta', partial_json: '{"city":"Ulm"}' },
      })
      const stream =
        bare + at(0, 'content_block_start', tool({ city: 'Ulm' })) + pieces + end('tool_use')
      expect(decode([Buffer.from(stream)]).events).toEqual(called)
    })

    test('may have all of it in message_start, its end too', () => {
      const message = {
        id: 'msg_1',
        content: [{ type: 'text', text: 'Grüße' }, tool({ city: 'Ulm' }).content_block],
        stop_reason: 'max_tokens',
        usage,
      }
      const stream = event({ type: 'message_start', message } as { type: string })
      expect(decode([Buffer.from(stream + event({ type: 'message_stop' }))])).toEqual({
        events: [
          { type: 'start', id: 'msg_1' },
          { type: 'text-delta', text: 'Grüße' },
          { type: 'text-end' },
          ...called.slice(1, -1),
          { type: 'finish', reason: 'length' },
        ],
        isComplete: true,
      })
      const decoded = decode([Buffer.from(stream + end('tool_use'))]).events
      expect(decoded.filter(({ type }) => type === 'finish')).toEqual([
        { type: 'finish', reason: 'tool_calls' },
      ])
    })
  })

  test('passes the upstream’s failure on', () => {
    const failure =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    expect(decode([Buffer.from(start + failure)]).events.at(-1)).toEqual({
      type: 'error',
      message: 'Overloaded',
      code: 'overloaded_error',
    })
  })

  test('reports the last count of each kind, without sums', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 }), (counts) => {
        const deltas = counts.map((output_tokens) =>
          event({ type: 'message_delta', delta: {}, usage: { output_tokens, input_tokens: 5 } } as {
            type: string
          }),
        )
        const last = decode([Buffer.from(start + deltas.join(''))]).events.at(-1)
        expect(last).toMatchObject({ usage: { inputTokens: 105, outputTokens: counts.at(-1) } })
      }),
    )
  })
})

describe('a whole answer', () => {
  test('keeps text, thinking, calls and usage', () => {
    expect(
      anthropicUpstreamCodec.decodeAnswer({
        id: 'msg_1',
        model: 'm',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'text', text: 'Hi' },
          { type: 'tool_use', id: 't', name: 'f', input: { a: [1] } },
        ],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 3, cache_creation_input_tokens: 4, output_tokens: 5 },
      }),
    ).toEqual({
      id: 'msg_1',
      model: 'm',
      content: [
        { type: 'reasoning', text: 'hm', seal: { type: 'signature', value: 's' } },
        { type: 'reasoning', text: '', seal: { type: 'encrypted', value: 'd' } },
        { type: 'text', text: 'Hi' },
        { type: 'tool-call', id: 't', name: 'f', arguments: '{"a":[1]}' },
      ],
      finishReason: 'tool_calls',
      usage: {
        inputTokens: 7,
        outputTokens: 5,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        cacheWriteTokens: 4,
      },
    })
  })

  test('with an error, or without content, is an error', () => {
    expect(() => anthropicUpstreamCodec.decodeAnswer({ error: { message: 'no' } })).toThrow('no')
    expect(() => anthropicUpstreamCodec.decodeAnswer({})).toThrow('without content')
  })
})
