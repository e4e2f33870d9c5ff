import { describe, expect, test } from 'bun:test'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { writeSeal, writeToolId } from '../seal-carrier.ts'
import { anthropicInboundCodec } from './index.ts'

const decode = (members: JsonRecord) =>
  anthropicInboundCodec.decodeRequest({ model: 'g', max_tokens: 9, messages: [], ...members })
const turn = (role: string, ...content: JsonRecord[]): JsonRecord => ({
  messages: [{ role, content }],
})
const user = (...content: JsonRecord[]) => turn('user', ...content)
const assistant = (...content: JsonRecord[]) => turn('assistant', ...content)
const partsOf = (members: JsonRecord) => decode(members).messages[0]?.content
const refused = (param: string, code: string) =>
  expect.objectContaining({ kind: 'invalid_request', status: 400, param, code })

describe('settings', () => {
  const bare = {
    ...{ messages: [], maxOutputTokens: 9, stream: false, extra: {} },
    ...{ family: 'anthropic-messages' as const, ignored: [] },
  }

  test('with null or without a value have no effect', () => {
    const names = [
      'system',
      'tools',
      'tool_choice',
      'thinking',
      'output_config',
      'metadata',
      'stop_sequences',
    ]
    expect(decode({})).toEqual(bare)
    expect(decode(Object.fromEntries(names.map((name) => [name, null])))).toEqual(bare)
    expect(decode({ tools: [], gate_id: 'g', stream: false, x_null: null })).toEqual(bare)
  })

  const schema = { type: 'object' }
  test.each<[JsonRecord, object]>([
    [{ top_p: 0.5 }, { topP: 0.5 }],
    [{ service_tier: 'auto' }, { serviceTier: 'auto' }],
    [{ tool_choice: { type: 'auto' } }, { toolChoice: { type: 'auto' } }],
    [{ tool_choice: { type: 'any' } }, { toolChoice: { type: 'required' } }],
    [{ tool_choice: { type: 'none' } }, { toolChoice: { type: 'none' } }],
    [{ tool_choice: { type: 'tool', name: 'f' } }, { toolChoice: { type: 'tool', name: 'f' } }],
    [
      { tool_choice: { type: 'auto', disable_parallel_tool_use: false } },
      { toolChoice: { type: 'auto' } },
    ],
    [
      { output_config: { format: { type: 'json_schema', schema } } },
      { responseFormat: { type: 'json-schema', schema } },
    ],
    [{ output_config: { effort: 'low' } }, { reasoning: { effort: 'low', thinking: 'unsaid' } }],
    [{ output_config: {} }, {}],
    [{ thinking: { type: 'adaptive' } }, { reasoning: { thinking: 'on' } }],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      { reasoning: { effort: 'max', thinking: 'on' } },
    ],
    [{ thinking: { type: 'disabled' } }, { reasoning: { effort: 'none' } }],
    [
      { thinking: { type: 'enabled', budget_tokens: 2048 }, output_config: { effort: 'low' } },
      { reasoning: { effort: 'low', budgetTokens: 2048 } },
    ],
    [{ metadata: {} }, {}],
  ])('%j are understood', (members, expected) => {
    expect<unknown>(decode(members)).toEqual({ ...bare, ...expected })
  })

  test('have every member of a tool', () => {
    const cache_control = { type: 'ephemeral', ttl: '5m' }
    expect(
      decode({
        tools: [
          {
            type: 'custom',
            name: 'f',
            description: 'd',
            input_schema: schema,
            strict: true,
            cache_control,
          },
          { name: 'g' },
        ],
      }).tools,
    ).toEqual([
      { name: 'f', description: 'd', parameters: schema, strict: true, cache: { ttl: '5m' } },
      { name: 'g' },
    ])
  })
})

describe('blocks', () => {
  const data = { type: 'base64', media_type: 'image/png', data: 'AA' }
  const source = { type: 'data' as const, mediaType: 'image/png', base64: 'AA' }

  test('of a user are texts, images and documents', () => {
    expect(
      partsOf(
        user(
          { type: 'text', text: 'a' },
          { type: 'image', source: data },
          { type: 'image', source: { type: 'url', url: 'https://x.test/a' } },
          { type: 'document', source: data, title: 'a.pdf' },
          { type: 'document', source: { type: 'url', url: 'https://x.test/b' } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'words' },
            title: 't',
          },
        ),
      ),
    ).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', source },
      { type: 'image', source: { type: 'url', url: 'https://x.test/a' } },
      { type: 'file', source, filename: 'a.pdf' },
      { type: 'file', source: { type: 'url', url: 'https://x.test/b' } },
      { type: 'text', text: 'words' },
    ])
  })

  test('of an assistant are texts, thinking with or without its seal, and calls', () => {
    const seal = (type: string, value: string) => ({ type, value, origin: 'anthropic-messages' })
    const id = writeToolId('t2', { seal: { type: 'signature', value: 's' } }, 'o')
    expect<unknown>(
      partsOf(
        assistant(
          { type: 'thinking', thinking: 'a' },
          { type: 'thinking', thinking: 'b', signature: '' },
          { type: 'thinking', thinking: 'c', signature: 's' },
          { type: 'redacted_thinking', data: 'e' },
          { type: 'redacted_thinking', data: writeSeal({ type: 'encrypted', value: 'v' }, 'o') },
          { type: 'text', text: 'd' },
          { type: 'tool_use', id: 't1', name: 'f', input: { a: [1] } },
          { type: 'tool_use', id, name: 'g', input: {} },
        ),
      ),
    ).toEqual([
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'b' },
      { type: 'reasoning', text: 'c', seal: seal('signature', 's') },
      { type: 'reasoning', text: '', seal: seal('encrypted', 'e') },
      { type: 'reasoning', text: '', seal: { type: 'encrypted', value: 'v', origin: 'o' } },
      { type: 'text', text: 'd' },
      { type: 'tool-call', id: 't1', name: 'f', arguments: '{"a":[1]}' },
      {
        ...{ type: 'tool-call', id: 't2', name: 'g', arguments: '{}' },
        seal: { type: 'signature', value: 's', origin: 'o' },
      },
    ])
  })

  test('may be plain text, in every role and in a result', () => {
    const text = [{ type: 'text' as const, text: 'a' }]
    const result = { type: 'tool_result', tool_use_id: 't' }
    expect(
      decode({
        system: 'a',
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'a' },
          { role: 'system', content: 'a' },
          { role: 'user', content: [{ ...result, content: 'a' }] },
          {
            role: 'user',
            content: [result, { ...result, content: [{ type: 'image', source: data }] }],
          },
        ],
      }).messages,
    ).toEqual([
      { role: 'system', content: text },
      { role: 'user', content: text },
      { role: 'assistant', content: text },
      { role: 'system', content: text },
      { role: 'tool', callId: 't', content: text },
      { role: 'tool', callId: 't', content: [] },
      { role: 'tool', callId: 't', content: [{ type: 'image', source }] },
    ])
  })

  test('of results give their call’s original id back, and mark failures', () => {
    const id = writeToolId('t2', { seal: { type: 'signature', value: 's' } }, 'o')
    const [first, second] = decode(
      user(
        { type: 'tool_result', tool_use_id: id, is_error: false },
        { type: 'tool_result', tool_use_id: 't', is_error: true },
      ),
    ).messages
    expect(first).toEqual({ role: 'tool', callId: 't2', content: [], isError: false })
    expect(second).toEqual({ role: 'tool', callId: 't', content: [], isError: true })
  })

  test.each<[JsonValue, object]>([
    [{ type: 'ephemeral', ttl: '5m' }, { cache: { ttl: '5m' } }],
    [{ type: 'ephemeral', ttl: '1h' }, { cache: { ttl: '1h' } }],
    [{ type: 'ephemeral', ttl: '9d' }, { cache: {} }],
    [{ type: 'ephemeral' }, { cache: {} }],
    [null, {}],
    ['ephemeral', {}],
  ])('with cache_control %j ask for a cache, whatever they are', (cache_control, cache) => {
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'image', source: data },
      { type: 'document', source: data },
      { type: 'document', source: { type: 'text', data: 'a' } },
    ].map((block) => ({ ...block, cache_control }))
    const text = { type: 'text', text: 'a', ...cache }
    const parts = [
      text,
      { type: 'image', source, ...cache },
      { type: 'file', source, ...cache },
      text,
    ]
    const call = { type: 'tool_use', id: 't', name: 'f', input: {}, cache_control }
    expect<unknown>(
      decode({
        system: [{ type: 'text', text: 'a', cache_control }],
        messages: [
          { role: 'assistant', content: [blocks[0] as JsonRecord, call] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't', cache_control }, ...blocks],
          },
        ],
      }).messages,
    ).toEqual([
      { role: 'system', content: [text] },
      {
        role: 'assistant',
        content: [text, { type: 'tool-call', id: 't', name: 'f', arguments: '{}', ...cache }],
      },
      { role: 'tool', callId: 't', content: [], ...cache },
      { role: 'user', content: parts },
    ])
  })

  test('of unknown types are left out and named', () => {
    const { messages, ignored } = decode({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'web_result' }] },
        { role: 'assistant', content: [{ type: 'server_tool_use' }, { type: 'text', text: 'b' }] },
        { role: 'user', content: [{ type: 'unheard_of' }] },
      ],
    })
    expect(ignored).toEqual([
      'messages[].content[].type=web_result',
      'messages[].content[].type=server_tool_use',
      'messages[].content[].type=unheard_of',
    ])
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
    ])
  })
})

describe('an invalid member is refused by its path', () => {
  const image = (source: JsonRecord) => user({ type: 'image', source })
  test.each<[string, JsonRecord]>([
    ['messages', { messages: null }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'assistant' }] }],
    ['messages[0].content[0].type', user({ text: 'a' })],
    ['messages[0].content[0].text', user({ type: 'text' })],
    ['messages[0].content[0].source', user({ type: 'image' })],
    ['messages[0].content[0].source', user({ type: 'document' })],
    ['messages[0].content[0].source.type', image({})],
    ['messages[0].content[0].source.media_type', image({ type: 'base64', data: 'A' })],
    ['messages[0].content[0].source.data', image({ type: 'base64', media_type: 'image/png' })],
    ['messages[0].content[0].source.url', image({ type: 'url' })],
    ['messages[0].content[0].source.data', user({ type: 'document', source: { type: 'text' } })],
    ['messages[0].content[0].tool_use_id', user({ type: 'tool_result' })],
    ['messages[0].content[0].type', assistant({ text: 'a' })],
    ['messages[0].content[0].thinking', assistant({ type: 'thinking' })],
    ['messages[0].content[0].data', assistant({ type: 'redacted_thinking' })],
    ['messages[0].content[0].id', assistant({ type: 'tool_use', name: 'f', input: {} })],
    ['messages[0].content[0].name', assistant({ type: 'tool_use', id: 't', input: {} })],
    ['messages[0].content[0].input', assistant({ type: 'tool_use', id: 't', name: 'f' })],
    ['system[0].text', { system: [{ type: 'text' }] }],
    ['tools[0].name', { tools: [{}] }],
    ['tool_choice.type', { tool_choice: {} }],
    ['tool_choice.name', { tool_choice: { type: 'tool' } }],
    ['thinking.type', { thinking: {} }],
    ['output_config.format.type', { output_config: { format: {} } }],
    ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
  ])('%s is missing', (param, members) => {
    expect(() => decode(members)).toThrow(refused(param, 'missing_required_parameter'))
  })

  test.each<[string, JsonRecord]>([
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content[0].source.type', image({ type: 'file', file_id: 'f' })],
    ['messages[0].content[0].source.url', image({ type: 'url', url: 'gs://bucket/plan.png' })],
    [
      'messages[0].content[0].source.url',
      user({ type: 'document', source: { type: 'url', url: ' file:///etc/passwd' } }),
    ],
    ['tool_choice.type', { tool_choice: { type: 'required' } }],
    ['thinking.type', { thinking: { type: 'much' } }],
    ['output_config.format.type', { output_config: { format: { type: 'json' } } }],
  ])('%s has a value that is not known', (param, members) => {
    expect(() => decode(members)).toThrow(refused(param, 'invalid_value'))
  })

  test.each<[string, JsonRecord]>([
    ...['max_tokens', 'temperature', 'top_p', 'top_k'].map((name): [string, JsonRecord] => [
      name,
      { [name]: '1' },
    ]),
    ['service_tier', { service_tier: 1 }],
    ['metadata.user_id', { metadata: { user_id: 1 } }],
    ['metadata', { metadata: [] }],
    ['output_config', { output_config: 'x' }],
    ['output_config.effort', { output_config: { effort: 1 } }],
    ['thinking', { thinking: 'x' }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: '1' } }],
    ['tool_choice', { tool_choice: 'auto' }],
    [
      'tool_choice.disable_parallel_tool_use',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: 'yes' } },
    ],
    ['tools[0].type', { tools: [{ type: 1, name: 'f' }] }],
    ['tools[0].description', { tools: [{ name: 'f', description: 1 }] }],
    ['tools[0].input_schema', { tools: [{ name: 'f', input_schema: [] }] }],
    ['tools[0].strict', { tools: [{ name: 'f', strict: 1 }] }],
    ['system[0]', { system: ['x'] }],
    [
      'messages[0].content[0].is_error',
      user({ type: 'tool_result', tool_use_id: 't', is_error: 1 }),
    ],
    [
      'messages[0].content[0].title',
      user({ type: 'document', title: 1, source: { type: 'text', data: 'a' } }),
    ],
    [
      'messages[0].content[0].signature',
      assistant({ type: 'thinking', thinking: 'a', signature: 1 }),
    ],
    [
      'messages[0].content[0].input',
      assistant({ type: 'tool_use', id: 't', name: 'f', input: '{}' }),
    ],
  ])('%s has another type', (param, members) => {
    expect(() => decode(members)).toThrow(refused(param, 'invalid_type'))
  })
})
