import { describe, expect, test } from 'bun:test'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  JsonRecord,
  UserPart,
} from '../chat-request.ts'
import type { EncodeTarget, ModelTraits } from '../codec.ts'
import { bedrockUpstreamCodec } from './index.ts'

const ORIGIN = 'here'
const target = (traits: ModelTraits = {}): EncodeTarget => ({
  model: 'm:0',
  traits,
  sealOrigin: ORIGIN,
})
const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const says = (...content: UserPart[]): ChatMessage => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const call = (id: string, name = 'f'): AssistantPart => ({
  type: 'tool-call',
  id,
  name,
  arguments: '{"a":1}',
})
const result = (callId: string, text: string): ChatMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text }],
})
const encode = (members: Partial<ChatRequest>, traits?: ModelTraits) =>
  bedrockUpstreamCodec.encodeRequest(
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
const tool = (name: string) => ({
  toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } },
})

describe('a request', () => {
  test('has its messages and no other members; the model is in the path', () => {
    expect(encode({})).toEqual({
      body: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
      ignored: [],
    })
  })

  test('has its instructions in front, and turns that alternate', () => {
    const system = (text: string): ChatMessage => ({
      role: 'system',
      content: [{ type: 'text', text }],
    })
    const { body } = encode({ messages: [system('a'), user('1'), system('b'), user('2')] })
    expect(body).toEqual({
      system: [{ text: 'a' }, { text: 'b' }],
      messages: [{ role: 'user', content: [{ text: '1' }, { text: '2' }] }],
    })
  })

  test('has all results of one turn in one user turn, results first, with their images and failures', () => {
    const image = { type: 'data', mediaType: 'image/png', base64: 'AAAA' } as const
    const failed: ChatMessage = {
      role: 'tool',
      callId: 'b',
      content: [
        { type: 'text', text: 'no' },
        { type: 'image', source: image },
      ],
      isError: true,
    }
    const { body } = encode({
      messages: [
        user('go'),
        assistant(call('call:1'), call('b')),
        result('call:1', 'x'),
        user('on'),
        failed,
      ],
    })
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 'call_1', name: 'f', input: { a: 1 } } },
          { toolUse: { toolUseId: 'b', name: 'f', input: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: 'x' }] } },
          {
            toolResult: {
              toolUseId: 'b',
              content: [{ text: 'no' }, { image: { format: 'png', source: { bytes: 'AAAA' } } }],
              status: 'error',
            },
          },
          { text: 'on' },
        ],
      },
    ])
  })

  test('leaves out blank text, which is refused, and turns without other content', () => {
    const { body } = encode({
      messages: [user('Hi'), assistant({ type: 'text', text: ' \n' }), user('')],
    })
    expect(body.messages).toEqual([{ role: 'user', content: [{ text: 'Hi' }] }])
  })

  test('has tool ids of at most 64 characters, or of the nine letters and digits that some models take', () => {
    const idsOf = (id: string, traits: ModelTraits) => {
      const { body } = encode(
        { messages: [user('go'), assistant(call(id)), result(id, 'x')] },
        traits,
      )
      const [, made, returned] = body.messages as readonly {
        content: readonly Record<string, JsonRecord>[]
      }[]
      return [made?.content[0]?.toolUse?.toolUseId, returned?.content[0]?.toolResult?.toolUseId]
    }
    const [long, sameLong] = idsOf('x'.repeat(65), {})
    expect(long).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(sameLong).toEqual(long)
    expect(idsOf('x'.repeat(64), {})).toEqual(['x'.repeat(64), 'x'.repeat(64)])
    const [short, sameShort] = idsOf('toolu_01', { shortToolIds: true })
    expect(short).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(sameShort).toEqual(short)
    expect(idsOf('abcDEF123', { shortToolIds: true })).toEqual(['abcDEF123', 'abcDEF123'])
  })

  test('has its settings under their names; the scale of temperature ends at 1', () => {
    expect(encode({ maxOutputTokens: 9, temperature: 1.7, topP: 0.5, stop: ['x'] })).toEqual({
      body: {
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
        inferenceConfig: { maxTokens: 9, temperature: 1, topP: 0.5, stopSequences: ['x'] },
      },
      ignored: ['temperature'],
    })
    const refused = encode({ temperature: 0.2, topP: 0.9 }, { refusesSampling: true })
    expect(refused.body).not.toHaveProperty('inferenceConfig')
    expect(refused.ignored).toEqual(['temperature', 'topP'])
  })

  test('names settings without a place in the format', () => {
    const { ignored } = encode({
      topK: 1,
      seed: 1,
      user: 'u',
      parallelToolCalls: false,
      responseFormat: { type: 'json' },
    })
    const named = ['topK', 'seed', 'user', 'parallelToolCalls', 'responseFormat']
    expect<readonly string[]>(ignored.toSorted()).toEqual(named.toSorted())
  })

  test('has a schema for its answer as text, and names it if the model has no such mode', () => {
    const asked = {
      responseFormat: { type: 'json-schema', name: 'n', schema: { type: 'object' } },
      tools: [{ name: 'f', strict: true }],
    } as const
    expect(encode(asked)).toMatchObject({
      body: {
        outputConfig: {
          textFormat: {
            type: 'json_schema',
            structure: { jsonSchema: { name: 'n', schema: '{"type":"object"}' } },
          },
        },
        toolConfig: { tools: [{ toolSpec: { strict: true } }] },
      },
      ignored: [],
    })
    const { body, ignored } = encode(asked, { refuses: ['outputConfig'] })
    expect(body).toMatchObject({ toolConfig: { tools: [tool('f')] } })
    expect(body).not.toHaveProperty('outputConfig')
    expect(ignored).toEqual(['tool.strict', 'responseFormat'])
  })

  test('keeps cache points as separate blocks, or names them if the model has no cache', () => {
    const cache = { ttl: '1h' } as const
    const asked: Partial<ChatRequest> = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's', cache: {} }] },
        says({ type: 'text', text: 'Hi', cache }),
        assistant(call('a')),
        { role: 'tool', callId: 'a', content: [{ type: 'text', text: 'x', cache }] },
      ],
      tools: [{ name: 'f', cache }],
    }
    const point = { cachePoint: { type: 'default', ttl: '1h' } }
    expect(encode(asked).body).toMatchObject({
      system: [{ text: 's' }, { cachePoint: { type: 'default' } }],
      messages: [
        { content: [{ text: 'Hi' }, point] },
        {},
        { content: [{ toolResult: { content: [{ text: 'x' }] } }, point] },
      ],
      toolConfig: { tools: [tool('f'), point] },
    })
    const refused = encode(asked, { refuses: ['cachePoint'] })
    expect(JSON.stringify(refused.body)).not.toContain('cachePoint')
    expect(refused.ignored).toEqual(['cache'])
  })
})

describe('tools', () => {
  const tools = [{ name: 'f', description: 'd', parameters: { type: 'object', title: 't' } }]

  test.each([
    [undefined, undefined],
    [{ type: 'auto' }, { auto: {} }],
    [{ type: 'required' }, { any: {} }],
    [{ type: 'tool', name: 'f' }, { tool: { name: 'f' } }],
  ] as const)('are chosen: %j', (toolChoice, chosen) => {
    const { body } = encode({ tools, ...(toolChoice === undefined ? {} : { toolChoice }) })
    expect(body.toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'f',
            description: 'd',
            inputSchema: { json: { type: 'object', title: 't' } },
          },
        },
      ],
      ...(chosen === undefined ? {} : { toolChoice: chosen }),
    })
  })

  test('are left out for the choice "none", which the format does not know', () => {
    const { body, ignored } = encode({ tools, toolChoice: { type: 'none' } })
    expect(body).not.toHaveProperty('toolConfig')
    expect(ignored).toEqual([])
  })

  test('stay if the history has calls, which is refused without them, and the choice "none" is named', () => {
    const messages = [user('go'), assistant(call('a', 'g'), call('b', 'g')), result('a', 'x')]
    expect(encode({ messages }).body.toolConfig).toEqual({ tools: [tool('g')] })
    const { body, ignored } = encode({ messages, tools, toolChoice: { type: 'none' } })
    expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'f' } }] })
    expect(body.toolConfig).not.toHaveProperty('toolChoice')
    expect(ignored).toEqual(['toolChoice'])
  })

  test('cannot be demanded without any', () => {
    expect(() => encode({ toolChoice: { type: 'required' } })).toThrow('the request has no tools')
  })
})

describe('reasoning', () => {
  const reasoning = { effort: 'medium' }
  const signed: AssistantPart = {
    type: 'reasoning',
    text: 'hm',
    seal: { type: 'signature', value: 'sig', origin: ORIGIN },
  }
  const encrypted: AssistantPart = {
    type: 'reasoning',
    text: '',
    seal: { type: 'encrypted', value: 'AAAA', origin: ORIGIN },
  }

  test('is requested in the model’s own terms: a budget, an effort, or adaptive', () => {
    const fields = (traits: ModelTraits, members: Partial<ChatRequest> = {}) =>
      encode({ reasoning, ...members }, traits).body
    expect(fields({ reasoning: 'budget', defaultMaxOutputTokens: 100 })).toMatchObject({
      inferenceConfig: { maxTokens: 8292 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 8192 } },
    })
    expect(fields({ reasoning: 'budget' }, { reasoning: { budgetTokens: 2000 } })).toMatchObject({
      inferenceConfig: { maxTokens: 6096 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    })
    expect(fields({ reasoning: 'adaptive' }).additionalModelRequestFields).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    })
    expect(fields({ reasoning: 'effort' }).additionalModelRequestFields).toEqual({
      reasoning_effort: 'medium',
    })
    expect(encode({ reasoning })).toMatchObject({ ignored: ['reasoning'] })
    expect(encode({ reasoning: { effort: 'none' } }, { reasoning: 'effort' }).ignored).toEqual([
      'reasoning',
    ])
  })

  test('leaves no room for sampling settings, which are named', () => {
    const { body, ignored } = encode({ reasoning, temperature: 0.5 }, { reasoning: 'budget' })
    expect(body.inferenceConfig).not.toHaveProperty('temperature')
    expect(ignored).toEqual(['temperature'])
  })

  test('comes back first in its turn, signed or encrypted', () => {
    const messages = [
      user('go'),
      assistant({ type: 'text', text: 'so' }, signed, encrypted, call('a')),
      result('a', 'x'),
    ]
    const { body, ignored } = encode({ messages, reasoning }, { reasoning: 'budget' })
    const [, turn] = body.messages as readonly { content: readonly JsonRecord[] }[]
    expect(turn?.content.slice(0, 3)).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
      { reasoningContent: { redactedContent: 'AAAA' } },
      { text: 'so' },
    ])
    expect(ignored).toEqual([])
  })

  test('keeps its place between texts and calls', () => {
    const text = { type: 'text' as const, text: 'so' }
    const messages = [user('go'), assistant(signed, text, signed, call('a')), result('a', 'x')]
    const { body } = encode({ messages, reasoning }, { reasoning: 'budget' })
    const [, turn] = body.messages as readonly { content: readonly JsonRecord[] }[]
    expect(turn?.content.flatMap((block) => Object.keys(block))).toEqual([
      ...['reasoningContent', 'text', 'reasoningContent', 'toolUse'],
    ])
  })

  test('of another origin is left out and named, and its turn requests no reasoning', () => {
    const foreign = {
      ...signed,
      seal: { type: 'signature' as const, value: 's', origin: 'elsewhere' },
    }
    const messages = [user('go'), assistant(foreign, call('a')), result('a', 'x')]
    const { body, ignored } = encode({ messages, reasoning }, { reasoning: 'budget' })
    expect(JSON.stringify(body)).not.toContain('reasoningContent')
    expect(body).not.toHaveProperty('additionalModelRequestFields')
    expect(ignored).toEqual(['reasoning', 'seals'])
  })
})
