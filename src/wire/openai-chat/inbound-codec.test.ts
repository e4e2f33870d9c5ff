import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseEvents } from '../../../test/support/server-sent-events.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ChatAnswer, ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import type { AnswerFacts } from '../codec.ts'
import { readSeal, readToolId, writeSeal, writeToolId } from '../seal-carrier.ts'
import { openaiChatInboundCodec } from './index.ts'

const decode = (members: JsonRecord) =>
  openaiChatInboundCodec.decodeRequest({ model: 'g', messages: [], ...members })
const messagesOf = (...messages: JsonRecord[]) => decode({ messages }).messages
const refused = (param: string, code: string) =>
  expect.objectContaining({ kind: 'invalid_request', status: 400, param, code })

describe('a request', () => {
  test('is read into the common settings, and keeps unknown members', () => {
    const schema = { type: 'object' }
    expect(
      decode({
        gate_id: 'g',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        max_completion_tokens: 9,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 3,
        stop: ['x', 'y'],
        seed: 7,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        logprobs: true,
        top_logprobs: 2,
        tools: [
          {
            type: 'function',
            function: { name: 'f', description: 'd', parameters: schema, strict: true },
          },
          { type: 'function', function: { name: 'g' } },
        ],
        tool_choice: { type: 'function', function: { name: 'f' } },
        parallel_tool_calls: false,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', description: 'd', schema, strict: false },
        },
        reasoning_effort: 'low',
        user: 'u',
        metadata: { a: 'b' },
        service_tier: 'flex',
        prompt_cache_key: 'k',
        n: 1,
        x_unheard: { deep: [1] },
        x_null: null,
      }),
    ).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      stream: true,
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      stop: ['x', 'y'],
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      logprobs: true,
      topLogprobs: 2,
      tools: [{ name: 'f', description: 'd', parameters: schema, strict: true }, { name: 'g' }],
      toolChoice: { type: 'tool', name: 'f' },
      parallelToolCalls: false,
      responseFormat: { type: 'json-schema', name: 'n', description: 'd', schema, strict: false },
      reasoning: { effort: 'low' },
      user: 'u',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      promptCacheKey: 'k',
      extra: { n: 1, x_unheard: { deep: [1] } },
      family: 'openai-chat',
      ignored: [],
    })
  })

  test('without settings, or with null, has none', () => {
    const bare = {
      messages: [],
      stream: false,
      extra: {},
      family: 'openai-chat' as const,
      ignored: [],
    }
    expect(decode({})).toEqual(bare)
    const names = [
      'max_tokens',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
      'reasoning_effort',
      'user',
    ]
    expect(decode(Object.fromEntries(names.map((name) => [name, null])))).toEqual(bare)
    expect(decode({ tools: [], stream: false })).toEqual(bare)
  })

  test.each<[JsonRecord, object]>([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 6 }, { maxOutputTokens: 6 }],
    [{ safety_identifier: 's' }, { user: 's' }],
    [{ user: 'u', safety_identifier: 's' }, { user: 's' }],
    [{ stop: 'x' }, { stop: ['x'] }],
    [{ tool_choice: 'auto' }, { toolChoice: { type: 'auto' } }],
    [{ tool_choice: 'none' }, { toolChoice: { type: 'none' } }],
    [{ tool_choice: 'required' }, { toolChoice: { type: 'required' } }],
    [{ response_format: { type: 'text' } }, { responseFormat: { type: 'text' } }],
    [{ response_format: { type: 'json_object' } }, { responseFormat: { type: 'json' } }],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: {} } } },
      { responseFormat: { type: 'json-schema', schema: {} } },
    ],
  ])('%j is understood', (members, expected) => {
    const { messages, stream, extra, family, ignored, ...settings } = decode(members)
    expect(settings).toEqual(expected)
    expect(extra).toEqual({})
  })

  test('names tools that are not functions, and the choice of one', () => {
    const { tools, toolChoice, ignored } = decode({
      tools: [
        { type: 'custom', custom: { name: 'c' } },
        { type: 'function', function: { name: 'f' } },
      ],
      tool_choice: { type: 'custom', custom: { name: 'c' } },
    })
    expect(tools).toEqual([{ name: 'f' }])
    expect(toolChoice).toBeUndefined()
    expect(ignored).toEqual(['tools[].type=custom', 'tool_choice.type=custom'])
  })
})

describe('messages', () => {
  test('have their roles, names and texts', () => {
    const text = (words: string) => [{ type: 'text' as const, text: words }]
    expect(
      messagesOf(
        { role: 'system', content: 'a' },
        { role: 'developer', content: [{ type: 'text', text: 'b' }] },
        { role: 'user', content: 'c', name: 'ann' },
        { role: 'user', content: [{ type: 'text', text: 'd' }], name: null },
        { role: 'assistant', content: 'e', name: 'bot' },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null, refusal: 'no' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'f' },
            { type: 'refusal', refusal: 'g' },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'h' },
      ),
    ).toEqual([
      { role: 'system', content: text('a') },
      { role: 'system', content: text('b') },
      { role: 'user', content: text('c'), name: 'ann' },
      { role: 'user', content: text('d') },
      { role: 'assistant', content: text('e'), name: 'bot' },
      { role: 'assistant', content: [] },
      { role: 'assistant', content: [{ type: 'refusal', text: 'no' }] },
      { role: 'assistant', content: [...text('f'), { type: 'refusal', text: 'g' }] },
      { role: 'tool', callId: 'c1', content: text('h') },
    ])
  })

  test('have images, files and audio, inside the request or by their address', () => {
    const [message] = messagesOf({
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'HTTPS://x.test/a', detail: 'low' } },
        { type: 'image_url', image_url: { url: 'data:image/PNG;base64,AA==' } },
        { type: 'input_audio', input_audio: { data: 'BB', format: 'wav' } },
        {
          type: 'file',
          file: { file_data: 'data:text/csv;charset=utf-8;base64,CC', filename: 'a.csv' },
        },
      ],
    })
    expect(message?.content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', source: { type: 'url', url: 'HTTPS://x.test/a' }, detail: 'low' },
      { type: 'image', source: { type: 'data', mediaType: 'image/png', base64: 'AA==' } },
      { type: 'audio', base64: 'BB', format: 'wav' },
      {
        type: 'file',
        source: { type: 'data', mediaType: 'text/csv', base64: 'CC' },
        filename: 'a.csv',
      },
    ])
  })

  test.each<[JsonValue, object]>([
    [{ type: 'ephemeral', ttl: '5m' }, { cache: { ttl: '5m' } }],
    [{ type: 'ephemeral', ttl: '1h' }, { cache: { ttl: '1h' } }],
    [{ type: 'ephemeral', ttl: '9d' }, { cache: {} }],
    [{ type: 'ephemeral' }, { cache: {} }],
    [null, {}],
    ['ephemeral', {}],
  ])('with cache_control %j ask for a cache in each part that can', (cache_control, cache) => {
    const url = 'data:application/pdf;base64,AA'
    const source = { type: 'data' as const, mediaType: 'application/pdf', base64: 'AA' }
    const [message] = messagesOf({
      role: 'user',
      content: [
        { type: 'text', text: 'a', cache_control },
        { type: 'image_url', image_url: { url }, cache_control },
        { type: 'file', file: { file_data: url }, cache_control },
      ],
    })
    expect<unknown>(message?.content).toEqual([
      { type: 'text', text: 'a', ...cache },
      { type: 'image', source, ...cache },
      { type: 'file', source, ...cache },
    ])
  })

  test('have the calls of an assistant after its words, with their arguments as written', () => {
    const made = (id: string, members: JsonRecord) => ({ id, type: 'function', function: members })
    const [message] = messagesOf({
      role: 'assistant',
      content: 'so',
      refusal: null,
      tool_calls: [
        made('1', { name: 'f', arguments: '{"a": 1.0}' }),
        made('2', { name: 'g', arguments: ' ' }),
        { id: '3', function: { name: 'h' } },
      ],
    })
    expect(message?.content).toEqual([
      { type: 'text', text: 'so' },
      { type: 'tool-call', id: '1', name: 'f', arguments: '{"a": 1.0}' },
      { type: 'tool-call', id: '2', name: 'g', arguments: '{}' },
      { type: 'tool-call', id: '3', name: 'h', arguments: '{}' },
    ])
  })

  test('name unsupported members in their order', () => {
    const file = (id: string) => ({
      type: 'file',
      file: { file_data: 'data:a/b;base64,A', file_id: id },
    })
    const { ignored } = decode({
      messages: [{ role: 'user', content: [file('1'), file('2')] }],
      tools: [{ type: 'custom' }, { type: 'web_search' }],
    })
    expect(ignored).toEqual([
      'messages[].content[].file.file_id',
      'tools[].type=custom',
      'tools[].type=web_search',
    ])
  })

  test('name unsupported parts', () => {
    const { messages, ignored } = decode({
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: 'data:a/b;base64,A', file_id: 'f' } }],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'custom', custom: {} }] },
        {
          role: 'tool',
          tool_call_id: '1',
          content: [
            { type: 'text', text: 'a' },
            { type: 'input_audio', input_audio: { data: 'BB', format: 'wav' } },
          ],
        },
      ],
    })
    expect(ignored).toEqual([
      'messages[].content[].file.file_id',
      'messages[].tool_calls[].type=custom',
      'messages[].content[].type=input_audio',
    ])
    expect(messages[1]?.content).toEqual([])
    expect(messages[2]?.content).toEqual([{ type: 'text', text: 'a' }])
  })

  const seal = { type: 'encrypted' as const, value: 'e' }
  const part = (text: string, value: string) => ({
    type: 'reasoning' as const,
    text,
    seal: { type: 'encrypted' as const, value, origin: 'o' },
  })
  const call = (id: string, members: JsonRecord = {}) => ({
    id,
    function: { name: 'f' },
    ...members,
  })

  test('restore reasoning from reasoning_details, and ignore foreign seals there', () => {
    const carried = writeSeal(seal, 'o')
    const [message] = messagesOf({
      role: 'assistant',
      content: 'so',
      reasoning_details: [
        { type: 'reasoning.encrypted', data: carried, text: 'hm' },
        { type: 'reasoning.text', text: 'ah', signature: carried },
        { type: 'reasoning.encrypted', data: carried },
        { type: 'reasoning.encrypted', data: 'theirs' },
        { type: 'reasoning.text', text: 'unsigned' },
        7,
      ],
    })
    expect<unknown>(message?.content).toEqual([
      part('hm', 'e'),
      part('ah', 'e'),
      part('', 'e'),
      { type: 'text', text: 'so' },
    ])
  })

  test('restore reasoning from the ids of calls, unless reasoning_details have it too', () => {
    const id = writeToolId(
      'c1',
      { reasoning: [part('hm', '1')], seal: { type: 'signature', value: 's' } },
      'o',
    )
    const made = {
      type: 'tool-call',
      id: 'c1',
      name: 'f',
      arguments: '{}',
      seal: { type: 'signature', value: 's', origin: 'o' },
    }
    const [first, second, result] = messagesOf(
      { role: 'assistant', content: 'so', tool_calls: [call(id)] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call(id)],
        reasoning_details: [{ type: 'reasoning.encrypted', data: writeSeal(seal, 'o') }],
      },
      { role: 'tool', tool_call_id: id, content: 'done' },
    )
    expect<unknown>(first?.content).toEqual([part('hm', '1'), { type: 'text', text: 'so' }, made])
    expect<unknown>(second?.content).toEqual([part('', 'e'), made])
    expect(result).toMatchObject({ callId: 'c1' })
  })

  test('keep the signature of a history from an endpoint that put it beside the call', () => {
    const signed = (extra_content: JsonValue) =>
      messagesOf({
        role: 'assistant',
        content: null,
        tool_calls: [call('1', { extra_content })],
      })[0]?.content
    expect(signed({ google: { thought_signature: 's' } })).toMatchObject([
      { seal: { type: 'signature', value: 's', origin: 'gemini-generate-content' } },
    ])
    for (const unsigned of [null, 'x', {}, { google: 's' }, { google: { thought_signature: 1 } }])
      expect(signed(unsigned)?.[0]).not.toHaveProperty('seal')
  })
})

const user = (...content: JsonRecord[]): JsonRecord => ({ messages: [{ role: 'user', content }] })
const assistant = (members: JsonRecord): JsonRecord => ({
  messages: [{ role: 'assistant', ...members }],
})

describe('an invalid member is refused by its path', () => {
  test.each<[string, JsonRecord]>([
    ['messages', { messages: null }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content[0].type', user({ text: 'x' })],
    ['messages[0].content[0].text', user({ type: 'text' })],
    ['messages[0].content[0].image_url', user({ type: 'image_url' })],
    ['messages[0].content[0].image_url.url', user({ type: 'image_url', image_url: {} })],
    ['messages[0].content[0].input_audio', user({ type: 'input_audio' })],
    [
      'messages[0].content[0].input_audio.data',
      user({ type: 'input_audio', input_audio: { format: 'wav' } }),
    ],
    [
      'messages[0].content[0].input_audio.format',
      user({ type: 'input_audio', input_audio: { data: 'A' } }),
    ],
    ['messages[0].content[0].file', user({ type: 'file' })],
    ['messages[0].content[0].refusal', assistant({ content: [{ type: 'refusal' }] })],
    ['messages[0].tool_calls[0].id', assistant({ tool_calls: [{ function: { name: 'f' } }] })],
    ['messages[0].tool_calls[0].function', assistant({ tool_calls: [{ id: '1' }] })],
    [
      'messages[0].tool_calls[0].function.name',
      assistant({ tool_calls: [{ id: '1', function: {} }] }),
    ],
    ['tools[0].type', { tools: [{}] }],
    ['tools[0].function', { tools: [{ type: 'function' }] }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice.type', { tool_choice: {} }],
    ['tool_choice.function', { tool_choice: { type: 'function' } }],
    ['tool_choice.function.name', { tool_choice: { type: 'function', function: {} } }],
    ['response_format.type', { response_format: {} }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
    [
      'response_format.json_schema.schema',
      { response_format: { type: 'json_schema', json_schema: {} } },
    ],
  ])('%s is missing', (param, members) => {
    expect(() => decode(members)).toThrow(refused(param, 'missing_required_parameter'))
  })

  test.each<[string, JsonRecord]>([
    ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
    ['messages[0].role', { messages: [{ role: 'bot', content: 'x' }] }],
    ['messages[0].content[0].type', user({ type: 'video' })],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'system', content: [{ type: 'image_url' }] }] },
    ],
    [
      'messages[0].content[0].image_url.url',
      user({ type: 'image_url', image_url: { url: 'ftp://x' } }),
    ],
    [
      'messages[0].content[0].image_url.url',
      user({ type: 'image_url', image_url: { url: 'xhttps://a' } }),
    ],
    [
      'messages[0].content[0].image_url.url',
      user({ type: 'image_url', image_url: { url: 'data:image/png,AA' } }),
    ],
    ['messages[0].content[0].file.file_data', user({ type: 'file', file: { file_id: 'f' } })],
    ['tool_choice', { tool_choice: 'any' }],
    ['response_format.type', { response_format: { type: 'xml' } }],
  ])('%s has a value that is not known', (param, members) => {
    expect(() => decode(members)).toThrow(refused(param, 'invalid_value'))
  })

  const numbers = ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'seed']
  const penalties = ['presence_penalty', 'frequency_penalty', 'top_logprobs']
  const texts = [
    'reasoning_effort',
    'user',
    'safety_identifier',
    'service_tier',
    'prompt_cache_key',
  ]
  test.each<[string, JsonRecord]>([
    ...[...numbers, ...penalties].map((name): [string, JsonRecord] => [name, { [name]: '1' }]),
    ...texts.map((name): [string, JsonRecord] => [name, { [name]: 1 }]),
    ...['logprobs', 'parallel_tool_calls'].map((name): [string, JsonRecord] => [
      name,
      { [name]: 'yes' },
    ]),
    ['metadata', { metadata: [] }],
    ['response_format', { response_format: 'json' }],
    ['tools', { tools: {} }],
    ['stop[1]', { stop: ['a', 1] }],
    ['messages[0].name', { messages: [{ role: 'user', name: 1, content: 'x' }] }],
    ['messages[0]', { messages: ['Hi'] }],
    [
      'tools[0].function.strict',
      { tools: [{ type: 'function', function: { name: 'f', strict: 1 } }] },
    ],
    ['messages[0].refusal', assistant({ content: 'x', refusal: 1 })],
    ['messages[0].tool_calls[0].type', assistant({ tool_calls: [{ id: '1', type: 1 }] })],
  ])('%s has another type', (param, members) => {
    expect(() => decode(members)).toThrow(refused(param, 'invalid_type'))
  })

  test('and any other value is read or refused with a name', () => {
    const names = ['messages', 'tools', 'tool_choice', 'response_format', 'stop', 'metadata']
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...names), (value, name) => {
        try {
          decode({ [name]: value } as JsonRecord)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError)
          expect((thrown as GatewayError).param).toStartWith(name)
        }
      }),
    )
  })
})

const facts: AnswerFacts = {
  callId: 'call_9',
  target: 'p/m',
  gateId: 'g',
  startedAtMs: 1_765_000_000_999,
  sealOrigin: 'o',
}
const USAGE = { inputTokens: 9, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 }
const SHOWN_USAGE = {
  prompt_tokens: 9,
  completion_tokens: 5,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 1 },
}
const ENCRYPTED = { type: 'encrypted' as const, value: 'e' }
const SIGNED = { type: 'signature' as const, value: 's' }
const toolCall = (id: string, members: object = {}) => ({
  type: 'tool-call' as const,
  id,
  name: 'f',
  arguments: '{"a":1}',
  ...members,
})

describe('an answer', () => {
  const encode = (answer: Partial<ChatAnswer>) =>
    openaiChatInboundCodec.encodeAnswer(
      { content: [], finishReason: 'stop', usage: null, ...answer },
      facts,
    )
  const messageOf = (answer: Partial<ChatAnswer>) => {
    const [choice] = encode(answer).choices as readonly { message: JsonRecord }[]
    if (choice === undefined) throw new Error('an answer without a choice')
    return choice.message
  }

  test('has the upstream’s id, time, model and usage', () => {
    const logprobs = { content: [], refusal: null }
    expect(
      encode({
        ...{ id: 'u1', model: 'm-1', createdAt: 7, logprobs, usage: USAGE, finishReason: 'length' },
        content: [
          { type: 'text', text: 'Hi ' },
          { type: 'text', text: 'there' },
        ],
      }),
    ).toEqual({
      id: 'u1',
      object: 'chat.completion',
      created: 7,
      model: 'm-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi there', refusal: null },
          logprobs,
          finish_reason: 'length',
        },
      ],
      usage: SHOWN_USAGE,
    })
  })

  test('has an id, a time and a model even if the upstream gave none, and no unreported usage', () => {
    expect(encode({})).toEqual({
      id: 'chatcmpl-call_9',
      object: 'chat.completion',
      created: 1_765_000_000,
      model: 'p/m',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
    })
  })

  test('has null for content with calls alone, or with a refusal alone', () => {
    expect(messageOf({ content: [{ type: 'refusal', text: 'No' }] })).toEqual({
      role: 'assistant',
      content: null,
      refusal: 'No',
    })
    expect(messageOf({ content: [toolCall('1'), toolCall('2')] })).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        { id: '2', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      ],
    })
    expect(messageOf({ content: [{ type: 'text', text: 'so' }, toolCall('1')] })?.content).toBe(
      'so',
    )
  })

  test('carries sealed reasoning in reasoning_details and in the id of its first call', () => {
    const message = messageOf({
      content: [
        { type: 'reasoning', text: 'hm', seal: ENCRYPTED },
        { type: 'reasoning', text: ' ah', seal: SIGNED },
        { type: 'reasoning', text: '', seal: ENCRYPTED },
        { type: 'reasoning', text: ' unsealed' },
        toolCall('1', { seal: SIGNED }),
        toolCall('2'),
      ],
    })
    expect(message.reasoning_content).toBe('hm ah unsealed')
    const details = message.reasoning_details as readonly Record<string, string>[]
    expect(details).toHaveLength(3)
    expect(details).toEqual([
      { type: 'reasoning.encrypted', data: expect.any(String), text: 'hm' },
      { type: 'reasoning.text', text: ' ah', signature: expect.any(String) },
      { type: 'reasoning.encrypted', data: expect.any(String) },
    ])
    expect(readSeal(details[0]?.data ?? '')).toEqual({ ...ENCRYPTED, origin: 'o' })
    expect(readSeal(details[1]?.signature ?? '')).toEqual({ ...SIGNED, origin: 'o' })
    const [first, second] = message.tool_calls as readonly { id: string }[]
    expect(readToolId(first?.id ?? '')).toEqual({
      id: '1',
      sealed: {
        seal: { ...SIGNED, origin: 'o' },
        reasoning: [
          { type: 'reasoning', text: 'hm', seal: { ...ENCRYPTED, origin: 'o' } },
          { type: 'reasoning', text: ' ah', seal: { ...SIGNED, origin: 'o' } },
          { type: 'reasoning', text: '', seal: { ...ENCRYPTED, origin: 'o' } },
        ],
      },
    })
    expect(second?.id).toBe('2')
  })
})

describe('a stream', () => {
  const encode = (events: readonly ChatEvent[], members: JsonRecord = {}) => {
    const encoder = openaiChatInboundCodec.createEventEncoder(
      decode({ stream: true, ...members }),
      facts,
    )
    let text = ''
    for (const event of events) text += encoder.push(event)
    text += encoder.end()
    const sent = parseEvents(text).map(({ data }) => data)
    expect(sent.pop()).toBe('[DONE]')
    return sent.map((data) => JSON.parse(data))
  }
  const HEAD = { id: 'u1', object: 'chat.completion.chunk', created: 7, model: 'm-1' }
  const START: ChatEvent = { type: 'start', id: 'u1', model: 'm-1', createdAt: 7 }
  const chunk = (delta: object, finish_reason: string | null = null, logprobs: unknown = null) => ({
    ...HEAD,
    choices: [{ index: 0, delta, logprobs, finish_reason }],
  })

  test('has the chunks and the order that SDKs accumulate', () => {
    const logprobs = { content: [{ token: 'Hi' }], refusal: null }
    const events: ChatEvent[] = [
      START,
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end' },
      { type: 'text-delta', text: 'Hi', logprobs },
      { type: 'text-end' },
      { type: 'refusal-delta', text: 'No' },
      { type: 'tool-call-start', index: 0, id: 'a', name: 'f' },
      { type: 'tool-call-delta', index: 0, arguments: '{"a":' },
      { type: 'tool-call-delta', index: 0, arguments: '1}' },
      { type: 'tool-call-end', index: 0 },
      { type: 'tool-call-start', index: 1, id: 'b', name: 'g' },
      { type: 'tool-call-end', index: 1 },
      { type: 'finish', reason: 'tool_calls' },
      { type: 'usage', usage: USAGE },
    ]
    const call = (index: number, members: object) => chunk({ tool_calls: [{ index, ...members }] })
    expect(encode(events)).toEqual([
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'Hi' }, null, logprobs),
      chunk({ refusal: 'No' }),
      call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      call(0, { function: { arguments: '{"a":' } }),
      call(0, { function: { arguments: '1}' } }),
      call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      call(1, { function: { arguments: '{}' } }),
      chunk({}, 'tool_calls'),
    ])
  })

  test('includes usage, last and in a chunk without choices, only if the caller asked for it', () => {
    const events: ChatEvent[] = [
      START,
      { type: 'text-delta', text: 'Hi' },
      { type: 'finish', reason: 'stop' },
      { type: 'usage', usage: USAGE },
    ]
    const asked = encode(events, { stream_options: { include_usage: true } })
    expect(asked.map(({ usage }) => usage)).toEqual([null, null, null, SHOWN_USAGE])
    expect(asked.at(-1)).toEqual({ ...HEAD, choices: [], usage: SHOWN_USAGE })
    expect(encode(events.slice(0, 3), { stream_options: { include_usage: true } })).toHaveLength(3)
    for (const options of [
      { stream_options: { include_usage: false } },
      { stream_options: {} },
      {},
    ]) {
      const chunks = encode(events, options)
      expect(chunks).toHaveLength(3)
      for (const each of chunks) expect(each).not.toHaveProperty('usage')
    }
  })

  test('carries sealed reasoning in one piece before its end, and in the id of its first call', () => {
    const chunks = encode([
      START,
      { type: 'reasoning-delta', text: 'h' },
      { type: 'reasoning-delta', text: 'm' },
      { type: 'reasoning-end', seal: ENCRYPTED },
      { type: 'reasoning-delta', text: 'ah' },
      { type: 'reasoning-end', seal: SIGNED },
      { type: 'tool-call-start', index: 0, id: 'a', name: 'f', seal: SIGNED },
      { type: 'tool-call-end', index: 0 },
      { type: 'tool-call-start', index: 1, id: 'b', name: 'f' },
      { type: 'tool-call-end', index: 1 },
      { type: 'finish', reason: 'tool_calls' },
      { type: 'finish', reason: 'tool_calls' },
    ])
    const deltas = chunks.map(({ choices }) => choices[0].delta)
    const ids = deltas.flatMap(({ tool_calls: [call] = [{}] }) =>
      call.id === undefined ? [] : [call.id],
    )
    const reasoning = [
      { type: 'reasoning', text: 'hm', seal: { ...ENCRYPTED, origin: 'o' } },
      { type: 'reasoning', text: 'ah', seal: { ...SIGNED, origin: 'o' } },
    ]
    expect<unknown>(ids.map(readToolId)).toEqual([
      { id: 'a', sealed: { seal: { ...SIGNED, origin: 'o' }, reasoning } },
      { id: 'b', sealed: {} },
    ])
    const details = deltas.flatMap(({ reasoning_details }) => reasoning_details ?? [])
    expect(details).toEqual([
      { type: 'reasoning.encrypted', data: writeSeal(ENCRYPTED, 'o'), text: 'hm' },
      { type: 'reasoning.text', text: 'ah', signature: writeSeal(SIGNED, 'o') },
    ])
    const [last] = chunks.filter(({ choices }) => choices[0].finish_reason !== null)
    expect(
      chunks.findIndex(({ choices }) => choices[0].delta.reasoning_details !== undefined),
    ).toBe(chunks.indexOf(last) - 1)
  })

  test('has an id, even if the upstream never sent a start', () => {
    const [only] = encode([{ type: 'text-delta', text: 'Hi' }])
    expect(only).toMatchObject({
      ...{
        id: 'chatcmpl-call_9',
        object: 'chat.completion.chunk',
        created: 1_765_000_000,
        model: 'p/m',
      },
      choices: [{ delta: { content: 'Hi' } }],
    })
  })

  test('that breaks ends with an error in OpenAI’s format and [DONE]', () => {
    const encoder = openaiChatInboundCodec.createEventEncoder(decode({}), facts)
    const events = parseEvents(
      encoder.encodeFailure(new GatewayError('upstream_timeout', 'It fell silent.')),
    )
    expect(events.map(({ data }) => data).at(-1)).toBe('[DONE]')
    expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({
      error: { message: 'It fell silent.' },
    })
  })
})

test('usage says how much was put into the cache, where the upstream did', () => {
  const usage = {
    ...{ inputTokens: 100, outputTokens: 5, cachedInputTokens: 60, reasoningTokens: 0 },
    cacheWriteTokens: 30,
  }
  const answer: ChatAnswer = { content: [], finishReason: 'stop', usage }
  expect(openaiChatInboundCodec.encodeAnswer(answer, facts).usage).toMatchObject({
    prompt_tokens: 100,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
  })
})
