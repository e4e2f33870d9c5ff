import { describe, expect, test } from 'bun:test'
import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  JsonRecord,
  UserPart,
} from '../chat-request.ts'
import type { EncodeTarget, ModelTraits } from '../codec.ts'
import { openaiResponsesUpstreamCodec } from './index.ts'

const ORIGIN = 'here'
const REASONING: ModelTraits = { reasoning: 'effort' }
const target = (traits: ModelTraits): EncodeTarget => ({
  model: 'gpt-x',
  traits,
  sealOrigin: ORIGIN,
})
const user = (...content: UserPart[]): ChatMessage => ({ role: 'user', content })
const text = (words: string) => ({ type: 'text' as const, text: words })
const assistant = (...content: AssistantPart[]): ChatMessage => ({ role: 'assistant', content })
const request = (members: Partial<ChatRequest>): ChatRequest => ({
  messages: [user(text('Hi'))],
  stream: false,
  extra: {},
  family: 'anthropic-messages',
  ignored: [],
  ...members,
})
const encode = (members: Partial<ChatRequest>, traits: ModelTraits = {}) =>
  openaiResponsesUpstreamCodec.encodeRequest(request(members), target(traits))
const inputOf = (messages: readonly ChatMessage[], traits: ModelTraits = REASONING) =>
  encode({ messages }, traits).body.input

const sealed = (words: string, value: string, origin?: string): AssistantPart => ({
  type: 'reasoning',
  text: words,
  seal: { type: 'encrypted', value, ...(origin === undefined ? {} : { origin }) },
})
const call = (id: string): AssistantPart => ({
  type: 'tool-call',
  id,
  name: 'f',
  arguments: '{"a": 1}',
})
const callItem = (id: string) => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: '{"a": 1}',
})

describe('a request', () => {
  test('is never stored, even without other settings', () => {
    expect(encode({}).body).toEqual({
      model: 'gpt-x',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      store: false,
    })
  })

  test('keeps instructions at their places', () => {
    const system = (words: string): ChatMessage => ({ role: 'system', content: [text(words)] })
    const roles = inputOf([system('a'), user(text('1')), system('b'), user(text('2'))])
    expect((roles as JsonRecord[]).map((item) => item.role)).toEqual([
      'developer',
      'user',
      'developer',
      'user',
    ])
  })

  test('has images and files, inside the request or by their address', () => {
    const data = (mediaType: string) => ({ type: 'data' as const, mediaType, base64: 'AA==' })
    const url = { type: 'url' as const, url: 'https://x.test/a' }
    const [message] = inputOf([
      user(
        { type: 'image', source: data('image/png'), detail: 'low' },
        { type: 'image', source: url },
        { type: 'file', source: data('application/pdf') },
        { type: 'file', source: data('text/csv'), filename: 'a.csv' },
        { type: 'file', source: url },
      ),
    ]) as JsonRecord[]
    expect(message?.content).toEqual([
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_image', image_url: 'https://x.test/a' },
      {
        type: 'input_file',
        filename: 'document.pdf',
        file_data: 'data:application/pdf;base64,AA==',
      },
      { type: 'input_file', filename: 'a.csv', file_data: 'data:text/csv;base64,AA==' },
      { type: 'input_file', file_url: 'https://x.test/a' },
    ])
  })

  test('with audio is refused', () => {
    expect(() => inputOf([user({ type: 'audio', base64: 'AA', format: 'wav' })])).toThrow(
      'takes no audio',
    )
  })

  test('has the assistant’s words, refusals and calls as separate items, without ids', () => {
    expect(
      inputOf([
        assistant(text('so'), { type: 'refusal', text: 'no' }, call('c1'), call('c2'), text('end')),
      ]),
    ).toEqual([
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'so' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      callItem('c1'),
      callItem('c2'),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'end' }] },
    ])
  })

  test('shortens ids that are too long, in calls and results alike', () => {
    const long = 'x'.repeat(65)
    const { body } = encode({
      messages: [assistant(call(long)), { role: 'tool', callId: long, content: [] }],
      user: long,
      promptCacheKey: 'k'.repeat(64),
    })
    const [made, result] = body.input as JsonRecord[]
    expect(made?.call_id).toMatch(/^[0-9a-f]{64}$/)
    expect(result?.call_id).toBe(made?.call_id as string)
    expect(body).toMatchObject({ user: made?.call_id, prompt_cache_key: 'k'.repeat(64) })
  })

  test('has results as text, and as parts where an image is among them', () => {
    const image = {
      type: 'image' as const,
      source: { type: 'url' as const, url: 'https://x.test/a' },
    }
    expect(
      inputOf([
        { role: 'tool', callId: 'c1', content: [text('a'), text('b')] },
        { role: 'tool', callId: 'c2', content: [text('a'), image] },
        { role: 'tool', callId: 'c3', content: [] },
      ]),
    ).toEqual([
      { type: 'function_call_output', call_id: 'c1', output: 'a\nb' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://x.test/a' },
        ],
      },
      { type: 'function_call_output', call_id: 'c3', output: '' },
    ])
  })

  test('states for every tool whether it is strict, as the default is strict', () => {
    const parameters = { type: 'object' }
    const { body } = encode({
      tools: [
        { name: 'f', description: 'd', parameters, strict: true },
        { name: 'g', parameters },
        { name: 'h' },
      ],
      toolChoice: { type: 'tool', name: 'f' },
      parallelToolCalls: false,
    })
    expect(body.tools).toEqual([
      { type: 'function', name: 'f', description: 'd', parameters, strict: true },
      { type: 'function', name: 'g', parameters, strict: false },
      {
        type: 'function',
        name: 'h',
        parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
        strict: false,
      },
    ])
    expect(body).toMatchObject({
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
    })
  })

  test('has its format under text', () => {
    const schema = { type: 'object' }
    expect(encode({ responseFormat: { type: 'json' } }).body.text).toEqual({
      format: { type: 'json_object' },
    })
    expect(
      encode({ responseFormat: { type: 'json-schema', schema, strict: true } }).body.text,
    ).toEqual({
      format: { type: 'json_schema', name: 'answer', schema, strict: true },
    })
  })

  test('has its settings under the names of the format, and a limit no smaller than is taken', () => {
    const settings = {
      temperature: 1.5,
      topP: 0.5,
      user: 'u',
      promptCacheKey: 'k',
      metadata: { a: 'b' },
    }
    expect(encode({ ...settings, maxOutputTokens: 100, stream: true }).body).toMatchObject({
      temperature: 1.5,
      top_p: 0.5,
      user: 'u',
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
      max_output_tokens: 100,
      stream: true,
    })
    expect(encode({ maxOutputTokens: 1 })).toMatchObject({
      body: { max_output_tokens: 16 },
      ignored: ['maxOutputTokens'],
    })
  })

  test('names settings without a place in the format', () => {
    const { body, ignored } = encode({
      topK: 1,
      stop: ['x'],
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      serviceTier: 'standard_only',
      messages: [
        { role: 'user', name: 'ann', content: [{ ...text('a'), cache: {} }] },
        { role: 'tool', callId: 'c', content: [], isError: true },
      ],
    })
    expect(Object.keys(body)).toEqual(['model', 'input', 'store'])
    expect(ignored).toEqual([
      'topK',
      'stop',
      'seed',
      'presencePenalty',
      'frequencyPenalty',
      'message.name',
      'cache',
      'toolResult.isError',
      'serviceTier',
    ])
    expect(encode({ serviceTier: 'flex', family: 'openai-chat' }).body.service_tier).toBe('flex')
  })

  test('asks for token probabilities, except for models that refuse sampling settings', () => {
    expect(encode({ logprobs: true, topLogprobs: 2 }).body).toMatchObject({
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
    })
    expect(encode({ logprobs: true }).body.top_logprobs).toBe(0)
    const refused = encode({ logprobs: true, temperature: 1, topP: 1 }, { refusesSampling: true })
    expect(Object.keys(refused.body)).toEqual(['model', 'input', 'store'])
    expect(refused.ignored).toEqual(['temperature', 'topP', 'logprobs'])
  })
})

describe('reasoning', () => {
  test('is requested by effort, encrypted, only from models that reason', () => {
    const reasoning = { effort: 'high', summary: 'auto' }
    expect(encode({ reasoning }, REASONING).body).toMatchObject({
      reasoning,
      include: ['reasoning.encrypted_content'],
    })
    expect(encode({}, REASONING).body.include).toEqual(['reasoning.encrypted_content'])
    const { body, ignored } = encode({ reasoning })
    expect(Object.keys(body)).toEqual(['model', 'input', 'store'])
    expect(ignored).toEqual(['reasoning'])
  })

  test.each([
    [{ budgetTokens: 1024 }, { effort: 'low' }],
    [{ budgetTokens: 30_000 }, { effort: 'high' }],
    [{ effort: 'max' }, { effort: 'xhigh' }],
    [{ effort: 'none' }, { effort: 'none' }],
    [{ effort: 'low', summary: 'none' }, { effort: 'low' }],
  ])('requested as %j is %j', (reasoning, expected) => {
    expect(encode({ reasoning }, REASONING)).toMatchObject({
      body: { reasoning: expected },
      ignored: [],
    })
  })

  test('stays on if the model cannot switch it off, and that is named', () => {
    const { body, ignored } = encode(
      { reasoning: { effort: 'none' } },
      { ...REASONING, alwaysReasons: true },
    )
    expect(body).not.toHaveProperty('reasoning')
    expect(ignored).toEqual(['reasoning.effort'])
  })

  test('comes back directly before the items that followed it', () => {
    const item = (encrypted_content: string, ...summary: object[]) => ({
      type: 'reasoning',
      summary,
      encrypted_content,
    })
    expect<unknown>(
      inputOf([
        assistant(sealed('hm', 'e1', ORIGIN), text('so'), sealed('', 'e2', ORIGIN), call('c')),
      ]),
    ).toEqual([
      item('e1', { type: 'summary_text', text: 'hm' }),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
      item('e2'),
      callItem('c'),
    ])
  })

  test.each([
    ['of another origin', sealed('hm', 'e', 'elsewhere'), REASONING],
    ['of no known origin', sealed('hm', 'e'), REASONING],
    ['for a model that does not reason', sealed('hm', 'e', ORIGIN), {}],
    [
      'that is a signature',
      {
        type: 'reasoning' as const,
        text: 'hm',
        seal: { type: 'signature' as const, value: 's', origin: ORIGIN },
      },
      REASONING,
    ],
    [
      'on a call',
      { ...call('x'), seal: { type: 'signature' as const, value: 's' } } as AssistantPart,
      {},
    ],
  ])('%s is left out and named', (_, part, traits) => {
    const { body, ignored } = encode({ messages: [assistant(part, call('c'))] }, traits)
    expect(JSON.stringify(body)).not.toContain('"encrypted_content"')
    expect(ignored).toEqual(['seals'])
  })

  test('with nothing after it, as a cut answer ends, is left out and named', () => {
    const { body, ignored } = encode(
      { messages: [assistant(sealed('hm', 'e', ORIGIN)), user(text('on'))] },
      REASONING,
    )
    expect(body.input).toHaveLength(1)
    expect(ignored).toEqual(['reasoningParts'])
  })
})
