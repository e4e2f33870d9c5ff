import { describe, expect, test } from 'bun:test'
import type { ChatEvent } from '../chat-answer.ts'
import type { AssistantPart, ChatMessage, ChatRequest } from '../chat-request.ts'
import type { ModelTraits } from '../codec.ts'
import { openaiChatUpstreamCodec } from './index.ts'

const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const encode = (members: Partial<ChatRequest>, traits: ModelTraits = {}) =>
  openaiChatUpstreamCodec.encodeRequest(
    {
      messages: [user('Hi')],
      stream: false,
      extra: {},
      family: 'anthropic-messages',
      ignored: [],
      ...members,
    },
    { model: 'gpt-x', traits, sealOrigin: 'here' },
  )

describe('a request', () => {
  test('has its settings under their names, and names those without a place', () => {
    const { body, ignored } = encode({
      maxOutputTokens: 9,
      temperature: 0.5,
      topK: 3,
      stop: ['x'],
      parallelToolCalls: false,
      tools: [{ name: 'f', parameters: { type: 'object' }, strict: true }],
      toolChoice: { type: 'tool', name: 'f' },
      responseFormat: { type: 'json-schema', schema: { type: 'object' } },
      user: 'u',
      serviceTier: 'standard_only',
    })
    expect(body).toEqual({
      model: 'gpt-x',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      temperature: 0.5,
      stop: ['x'],
      parallel_tool_calls: false,
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' } },
      },
      user: 'u',
    })
    expect(ignored).toEqual(['serviceTier', 'topK'])
  })

  test.each([
    [{ type: 'text' }, { type: 'text' }],
    [{ type: 'json' }, { type: 'json_object' }],
    [
      { type: 'json-schema', schema: {}, name: 'n', description: 'd', strict: false },
      {
        type: 'json_schema',
        json_schema: { name: 'n', schema: {}, description: 'd', strict: false },
      },
    ],
  ] as const)('has its format: %j', (responseFormat, response_format) => {
    expect<unknown>(encode({ responseFormat }).body.response_format).toEqual(response_format)
  })

  test.each(['auto', 'none', 'required'] as const)('has its choice of tools: %s', (type) => {
    expect(encode({ tools: [{ name: 'f' }], toolChoice: { type } }).body.tool_choice).toBe(type)
  })

  test('always asks for usage in a stream', () => {
    expect(encode({ stream: true }).body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('asks a reasoning model for effort, even with a budget, and leaves out the settings that it refuses', () => {
    const traits: ModelTraits = {
      reasoning: 'effort',
      refusesSampling: true,
      maxCompletionTokens: true,
    }
    const { body, ignored } = encode(
      { reasoning: { budgetTokens: 9000 }, temperature: 1, topP: 1, maxOutputTokens: 9 },
      traits,
    )
    expect(body).toMatchObject({ reasoning_effort: 'high', max_completion_tokens: 9 })
    expect(body).not.toHaveProperty('temperature')
    expect(ignored).toEqual(['temperature', 'topP'])
    expect(encode({ reasoning: { effort: 'low' } }).ignored).toEqual(['reasoning'])
  })

  test('keeps unknown members when its caller speaks the same format', () => {
    const { body } = encode({
      family: 'openai-chat',
      extra: { x_vendor: [1] },
      serviceTier: 'flex',
    })
    expect(body).toMatchObject({ x_vendor: [1], service_tier: 'flex' })
    expect(encode({ extra: { x_vendor: [1] } }).body).not.toHaveProperty('x_vendor')
  })

  test('has images of tool results after all results of the turn, and names dropped seals', () => {
    const call = (id: string): AssistantPart => ({
      type: 'tool-call',
      id,
      name: 'f',
      arguments: '{"a": 1.0}',
    })
    const image = {
      type: 'image' as const,
      source: { type: 'data' as const, mediaType: 'image/png', base64: 'AA' },
    }
    const seal = { type: 'signature' as const, value: 's', origin: 'elsewhere' }
    const { body, ignored } = encode({
      messages: [
        user('go'),
        assistant({ type: 'reasoning', text: 'hm', seal }, call('1'), call('2')),
        { role: 'tool', callId: '1', content: [{ type: 'text', text: 'see' }, image] },
        { role: 'tool', callId: '2', content: [{ type: 'text', text: 'bad' }], isError: true },
      ],
    })
    const made = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: '{"a": 1.0}' },
    })
    expect(body.messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [made('1'), made('2')] },
      { role: 'tool', tool_call_id: '1', content: 'see' },
      { role: 'tool', tool_call_id: '2', content: 'bad' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }],
      },
    ])
    expect(ignored).toEqual(['seals', 'toolResult.isError'])
  })

  test('has reasoning that the target itself gave; any other is left out and named', () => {
    const sealed = (text: string, value: string, origin = 'here'): AssistantPart => ({
      type: 'reasoning',
      text,
      seal: { type: 'signature', value, origin },
    })
    const said: AssistantPart = { type: 'text', text: 'Hi' }
    const sent = (...content: AssistantPart[]) => {
      const { body, ignored } = encode({ messages: [assistant(...content, said)] })
      return { message: (body.messages as unknown[])[0], ignored }
    }
    const spoken = { role: 'assistant', content: 'Hi' }
    for (const member of ['reasoning_content', 'reasoning'])
      expect(sent(sealed('one ', member), sealed('two', member))).toEqual({
        message: { ...spoken, [member]: 'one two' },
        ignored: [],
      })
    for (const forged of ['content', 'role', '__proto__', 'unsigned', ''])
      expect(sent(sealed('hm', forged))).toEqual({ message: spoken, ignored: ['seals'] })
    expect(sent(sealed('hm', 'reasoning', 'elsewhere'))).toEqual({
      message: spoken,
      ignored: ['seals'],
    })
    expect(sent({ type: 'reasoning', text: 'hm' })).toEqual({
      message: spoken,
      ignored: ['reasoningParts'],
    })
  })

  test('with a document by its address is refused', () => {
    const file = {
      type: 'file' as const,
      source: { type: 'url' as const, url: 'https://x.test/a.pdf' },
    }
    expect(() => encode({ messages: [{ role: 'user', content: [file] }] })).toThrow(
      'by their address',
    )
  })
})

const chunk = (delta: object, members: object = {}, choice: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', created: 7, model: 'gpt-x-1', choices: [{ index: 0, delta, finish_reason: null, ...choice }], ...members })}\n\n`
const call = (index: number | undefined, members: object) => ({
  tool_calls: [{ index, ...members }],
})
const STREAM = [
  ': comment\n\n',
  chunk({ role: 'assistant', content: '', reasoning_content: null }),
  chunk({ reasoning_content: 'hm, ' }),
  chunk({ reasoning: 'two' }),
  chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: '!' }] }] }),
  chunk({ content: 'Grüße 👋' }),
  chunk(call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } })),
  chunk(call(0, { function: { arguments: '{"city":' } })),
  chunk(call(0, { function: { arguments: '"Ulm"}' } })),
  chunk(call(1, { id: 'b', function: { name: 'g', arguments: '{}' } })),
  chunk({}, {}, { finish_reason: 'tool_calls' }),
  `data: ${JSON.stringify({ id: 'c1', choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 2 } } })}\n\n`,
  'data: [DONE]\n\n',
].join('')

function decode(pieces: readonly Uint8Array[]) {
  const decoder = openaiChatUpstreamCodec.createEventDecoder()
  const events = [...pieces.flatMap((bytes) => decoder.push(bytes)), ...decoder.end()]
  return { events, isComplete: decoder.isComplete() }
}

const EVENTS: ChatEvent[] = [
  { type: 'start', id: 'c1', model: 'gpt-x-1', createdAt: 7 },
  { type: 'reasoning-delta', text: 'hm, ' },
  { type: 'reasoning-delta', text: 'two' },
  { type: 'reasoning-delta', text: '!' },
  { type: 'reasoning-end', seal: { type: 'signature', value: 'reasoning_content' } },
  { type: 'text-delta', text: 'Grüße 👋' },
  { type: 'text-end' },
  { type: 'tool-call-start', index: 0, id: 'a', name: 'f' },
  { type: 'tool-call-delta', index: 0, arguments: '{"city":' },
  { type: 'tool-call-delta', index: 0, arguments: '"Ulm"}' },
  { type: 'tool-call-start', index: 1, id: 'b', name: 'g' },
  { type: 'tool-call-delta', index: 1, arguments: '{}' },
  { type: 'tool-call-end', index: 0 },
  { type: 'tool-call-end', index: 1 },
  {
    type: 'usage',
    usage: { inputTokens: 9, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 2 },
  },
  { type: 'finish', reason: 'tool_calls' },
]

describe('a stream', () => {
  test('gives the same events wherever it is cut, and byte by byte', () => {
    const bytes = Buffer.from(STREAM)
    const whole = { events: EVENTS, isComplete: true }
    expect(decode([bytes])).toEqual(whole)
    for (let cut = 1; cut < bytes.length; cut += 1)
      expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole)
    expect(decode(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test('begins with the first chunk that has an id, as Azure reports its filter before it', () => {
    const filter = `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0 }] })}\n\n`
    expect(decode([Buffer.from(filter + STREAM)])).toEqual({ events: EVENTS, isComplete: true })
  })

  test('that closes after its finish reason is whole, even without [DONE]', () => {
    const text = chunk({ content: 'Hi' })
    expect(decode([Buffer.from(text)]).isComplete).toBe(false)
    const { events, isComplete } = decode([
      Buffer.from(text + chunk({}, {}, { finish_reason: 'length' })),
    ])
    expect(isComplete).toBe(true)
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' })
  })

  test('passes a refusal on, and takes nothing after [DONE]', () => {
    const text = `${chunk({ refusal: 'N' })}${chunk({ refusal: 'o' })}data: [DONE]\n\n${chunk({ content: 'x' })}`
    expect(decode([Buffer.from(text)]).events.slice(1)).toEqual([
      { type: 'refusal-delta', text: 'N' },
      { type: 'refusal-delta', text: 'o' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('keeps whole calls apart that have no index or id', () => {
    const whole = (name: string) =>
      chunk(call(undefined, { function: { name, arguments: '{"a":1}' } }))
    const { events } = decode([Buffer.from(`${whole('f')}${whole('g')}data: [DONE]\n\n`)])
    const started = events.filter((event) => event.type === 'tool-call-start')
    expect(started.map(({ name, index }) => [name, index])).toEqual([
      ['f', 0],
      ['g', 1],
    ])
    expect(new Set(started.map((event) => event.id)).size).toBe(2)
  })

  test('passes the upstream’s failure on, in each shape that vendors use', () => {
    for (const failure of [
      'data: {"error":{"message":"boom"}}\n\n',
      'data: {"error":"boom"}\n\n',
      chunk({}, {}, { finish_reason: 'error' }),
      `data: {"choices": [{"delta": {"con\n\n${chunk({}, {}, { finish_reason: 'stop' })}data: [DONE]\n\n`,
    ]) {
      const { events, isComplete } = decode([Buffer.from(chunk({ content: 'a' }) + failure)])
      expect(events.at(-1)?.type).toBe('error')
      expect(isComplete).toBe(false)
    }
  })
})

test('a whole answer keeps reasoning, text, refusal, calls and usage', () => {
  const answer = openaiChatUpstreamCodec.decodeAnswer({
    id: 'c1',
    created: 7,
    model: 'gpt-x-1',
    choices: [
      {
        message: {
          role: 'assistant',
          reasoning_content: 'hm',
          content: 'Hi',
          refusal: 'No',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 5 },
  })
  expect(answer).toEqual({
    id: 'c1',
    createdAt: 7,
    model: 'gpt-x-1',
    content: [
      { type: 'reasoning', text: 'hm', seal: { type: 'signature', value: 'reasoning_content' } },
      { type: 'text', text: 'Hi' },
      { type: 'refusal', text: 'No' },
      { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
    ],
    finishReason: 'tool_calls',
    usage: { inputTokens: 9, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
  })
  expect(() => openaiChatUpstreamCodec.decodeAnswer({ error: { message: 'boom' } })).toThrow('boom')
})
