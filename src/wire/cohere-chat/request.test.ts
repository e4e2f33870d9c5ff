import { describe, expect, test } from 'bun:test'
import type { AssistantPart, ChatMessage, ChatRequest, Seal } from '../chat-request.ts'
import type { EncodeTarget, ModelTraits } from '../codec.ts'
import { cohereUpstreamCodec } from './index.ts'

const ORIGIN = 'here'
const target = (traits: ModelTraits = {}): EncodeTarget => ({
  model: 'command-x',
  traits,
  sealOrigin: ORIGIN,
})
const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const call = (id: string): AssistantPart => ({
  type: 'tool-call',
  id,
  name: 'f',
  arguments: '{"a":1}',
})
const encode = (members: Partial<ChatRequest>, traits?: ModelTraits) =>
  cohereUpstreamCodec.encodeRequest(
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
  test('has its settings under their names, and names those without a place or out of range', () => {
    const { body, ignored } = encode({
      stream: true,
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 1,
      topK: 4,
      stop: ['1', '2', '3', '4', '5', '6'],
      seed: 3,
      presencePenalty: -1,
      frequencyPenalty: 0.5,
      logprobs: true,
      topLogprobs: 2,
      user: 'u',
      metadata: {},
      extra: { store: true },
    })
    expect(body).toEqual({
      model: 'command-x',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      temperature: 0.5,
      p: 0.99,
      k: 4,
      stop_sequences: ['1', '2', '3', '4', '5'],
      seed: 3,
      presence_penalty: 0,
      frequency_penalty: 0.5,
      logprobs: true,
      stream: true,
    })
    const named = ['topLogprobs', 'user', 'metadata', 'stop', 'topP', 'presencePenalty']
    expect<readonly string[]>(ignored.toSorted()).toEqual(named.toSorted())
  })

  test('puts reasoning back where it stood: a plan beside its calls, thinking into the content', () => {
    const sealed = (value: string): Seal => ({ type: 'signature', value, origin: ORIGIN })
    const { body, ignored } = encode({
      messages: [
        user('go'),
        assistant(
          { type: 'reasoning', text: 'hm', seal: sealed('thinking') },
          { type: 'reasoning', text: 'two', seal: sealed('tool_plan') },
          call('1'),
        ),
        { role: 'tool', callId: '1', content: [{ type: 'text', text: 'sun' }] },
        assistant({ type: 'reasoning', text: 'unsealed' }, call('2')),
        { role: 'tool', callId: '2', content: [{ type: 'text', text: 'rain' }] },
        assistant(
          { type: 'reasoning', text: 'done', seal: sealed('thinking') },
          { type: 'text', text: 'ok' },
        ),
        user('thanks'),
      ],
    })
    const made = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}' },
    })
    expect((body.messages as readonly unknown[]).slice(1, -1)).toEqual([
      {
        role: 'assistant',
        tool_plan: 'two',
        tool_calls: [made('1')],
        content: [{ type: 'thinking', thinking: 'hm' }],
      },
      { role: 'tool', tool_call_id: '1', content: 'sun' },
      { role: 'assistant', tool_plan: 'unsealed', tool_calls: [made('2')] },
      { role: 'tool', tool_call_id: '2', content: 'rain' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'done' },
          { type: 'text', text: 'ok' },
        ],
      },
    ])
    expect(ignored).toEqual([])
  })

  test('names reasoning that has no place: unsealed without calls, or of another origin', () => {
    const ignoredOf = (part: AssistantPart) =>
      encode({ messages: [user('go'), assistant(part)] }).ignored
    expect(ignoredOf({ type: 'reasoning', text: 'hm' })).toEqual(['reasoningParts'])
    const seal: Seal = { type: 'signature', value: 'x', origin: 'elsewhere' }
    expect(ignoredOf({ type: 'reasoning', text: 'hm', seal })).toEqual(['seals'])
    expect(
      ignoredOf({ type: 'reasoning', text: '', seal: { type: 'encrypted', value: 'x' } }),
    ).toEqual(['seals'])
  })

  test('leaves an empty turn out, and sends images of results as the user’s', () => {
    const source = { type: 'data', mediaType: 'image/png', base64: 'AA==' } as const
    const { body, ignored } = encode({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image', source, detail: 'low' },
          ],
        },
        assistant({ type: 'text', text: '' }),
        assistant(call('1')),
        {
          role: 'tool',
          callId: '1',
          isError: true,
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
          ],
        },
      ],
    })
    const [question, , result, images] = body.messages as readonly unknown[]
    expect(question).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      ],
    })
    expect(result).toEqual({ role: 'tool', tool_call_id: '1', content: 'a' })
    expect(images).toEqual({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }],
    })
    expect(ignored).toEqual(['toolResult.isError'])
  })

  test('refuses audio and documents, as leaving them out would change its meaning', () => {
    const ask = (part: Extract<ChatMessage, { role: 'user' }>['content'][number]) => () =>
      encode({ messages: [{ role: 'user', content: [part] }] })
    expect(ask({ type: 'audio', base64: 'AA==', format: 'wav' })).toThrow('no audio')
    expect(ask({ type: 'file', source: { type: 'url', url: 'https://x.test/a.pdf' } })).toThrow(
      'no documents',
    )
  })

  const tools = [{ name: 'f' }, { name: 'g', parameters: { type: 'object' } }]
  const declared = (name: string, parameters: object) => ({
    type: 'function',
    function: { name, parameters },
  })
  const F = declared('f', { type: 'object', properties: {} })
  const G = declared('g', { type: 'object' })

  test.each([
    [{ type: 'auto' }, { tools: [F, G] }, []],
    [{ type: 'none' }, { tools: [F, G], tool_choice: 'NONE' }, []],
    [{ type: 'required' }, { tools: [F, G], tool_choice: 'REQUIRED' }, []],
    // The provider cannot require a tool by name, so only the required tool is offered.
    [{ type: 'tool', name: 'g' }, { tools: [G], tool_choice: 'REQUIRED' }, ['tools']],
  ] as const)('chooses tools: %j', (toolChoice, expected, expectedIgnored) => {
    const { body, ignored } = encode({ tools, toolChoice })
    const { model, messages, ...members } = body
    expect(members).toEqual(expected as unknown as typeof members)
    expect(ignored).toEqual([...expectedIgnored])
  })

  test('cannot demand a tool that it does not offer', () => {
    expect(() => encode({ tools, toolChoice: { type: 'tool', name: 'h' } })).toThrow(
      'that the request does not offer',
    )
    expect(() => encode({ toolChoice: { type: 'required' } })).toThrow(
      'that the request does not offer',
    )
  })

  test('has strict tools if all are, and names unsupported settings of tools', () => {
    const strict = tools.map((tool) => ({ ...tool, strict: true }))
    expect(encode({ tools: strict }).body.strict_tools).toBe(true)
    const some = encode({
      tools: [{ name: 'f', strict: true }, { name: 'g' }],
      parallelToolCalls: false,
    })
    expect(some.body.strict_tools).toBeUndefined()
    expect(some.ignored).toEqual(['parallelToolCalls', 'tool.strict'])
  })

  test('asks for JSON, but not beside tools, which is refused', () => {
    const schema = { type: 'object' }
    expect(
      encode({ responseFormat: { type: 'json-schema', schema } }).body.response_format,
    ).toEqual({
      type: 'json_object',
      json_schema: schema,
    })
    expect(encode({ responseFormat: { type: 'json' } }).body.response_format).toEqual({
      type: 'json_object',
    })
    const both = encode({ responseFormat: { type: 'json' }, tools })
    expect(both.body.response_format).toBeUndefined()
    expect(both.ignored).toEqual(['responseFormat'])
  })

  test.each([
    ['topP', 'p', 0.01, 0.99],
    ['topK', 'k', 0, 500],
    ['presencePenalty', 'presence_penalty', 0, 1],
    ['frequencyPenalty', 'frequency_penalty', 0, 1],
  ] as const)(
    'has %s as %s from %d to %d, and names values out of range',
    (setting, name, least, most) => {
      for (const value of [least, most])
        expect(encode({ [setting]: value })).toMatchObject({ body: { [name]: value }, ignored: [] })
      for (const [value, fitting] of [
        [least - 2, least],
        [most + 1, most],
      ] as const)
        expect(encode({ [setting]: value })).toMatchObject({
          body: { [name]: fitting },
          ignored: [setting],
        })
    },
  )

  test('has at most five stop texts', () => {
    const stop = ['1', '2', '3', '4', '5']
    expect(encode({ stop })).toMatchObject({ body: { stop_sequences: stop }, ignored: [] })
    expect(encode({ stop: [...stop, '6'] })).toMatchObject({
      body: { stop_sequences: stop },
      ignored: ['stop'],
    })
  })

  test('asks models that can think to do so', () => {
    const thinking = (reasoning: ChatRequest['reasoning'] & object) =>
      encode({ reasoning }, { reasoning: 'budget' }).body.thinking
    expect(thinking({ effort: 'high' })).toEqual({ type: 'enabled' })
    expect(thinking({ effort: 'low' })).toEqual({ type: 'enabled', token_budget: 1024 })
    expect(thinking({ budgetTokens: 99 })).toEqual({ type: 'enabled', token_budget: 99 })
    expect(thinking({ effort: 'none' })).toEqual({ type: 'disabled' })
    expect(encode({ reasoning: { effort: 'low' } }).ignored).toEqual(['reasoning'])
    expect(encode({ reasoning: { effort: 'none' } }).ignored).toEqual([])
  })
})

test('text beside calls goes to tool_plan, because content beside calls is refused', () => {
  const { body } = encode({
    messages: [user('go'), assistant({ type: 'text', text: 'I look.' }, call('c1'))],
  })
  expect(body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_plan: 'I look.', tool_calls: [{}] },
  ])
  expect(JSON.stringify(body)).not.toContain('"text"')
})
