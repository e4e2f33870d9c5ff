import { describe, expect, test } from 'bun:test'
import { anthropicInboundCodec } from './anthropic-messages/index.ts'
import { MESSAGES_SHAPES } from './anthropic-messages/settings.ts'
import type { JsonRecord, JsonValue } from './chat-request.ts'
import type { InboundCodec } from './codec.ts'
import { openaiChatInboundCodec } from './openai-chat/index.ts'
import { CHAT_SHAPES } from './openai-chat/settings.ts'
import { isRecord } from './read-json.ts'
import type { Shape } from './unread.ts'

interface Dialect {
  readonly codec: InboundCodec
  readonly shapes: Readonly<Record<string, Shape>>
  /**
   * Contains an object of every kind that the dialect knows, in every place, and nothing unknown.
   */
  readonly body: JsonRecord
}

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const cache_control = { type: 'ephemeral', ttl: '1h' }
const text = { type: 'text', text: 'a', cache_control }
const data = 'data:image/png;base64,AA'
const chatParts = [
  text,
  { type: 'image_url', image_url: { url: data, detail: 'low' }, cache_control },
  { type: 'file', file: { file_data: data, filename: 'a.png' }, cache_control },
]
const base64 = { type: 'base64', media_type: 'image/png', data: 'AA' }
const address = { type: 'url', url: 'https://example.test/a.png' }
const blocks = [
  text,
  { type: 'image', source: base64, cache_control },
  { type: 'image', source: address, cache_control },
  { type: 'document', source: base64, title: 'a', cache_control },
  { type: 'document', source: { type: 'content', content: [text] }, cache_control },
  {
    type: 'document',
    source: { type: 'content', content: [{ type: 'image', source: base64, cache_control }] },
  },
  { type: 'search_result', title: 'a', source: 'b', content: [text], cache_control },
  {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'a' },
    cache_control,
  },
]

const CHAT_BODY: JsonRecord = {
  messages: [
    { role: 'system', content: [text] },
    { role: 'developer', content: [text] },
    {
      ...{ role: 'user', name: 'ann' },
      content: [...chatParts, { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }],
    },
    {
      ...{ role: 'assistant', name: 'bob', refusal: 'no' },
      content: [text, { type: 'refusal', refusal: 'no' }],
      tool_calls: [
        {
          ...{ id: 'call_1', type: 'function', index: 0 },
          function: { name: 'f', arguments: '{"any":1}' },
          extra_content: { google: { thought_signature: 's' } },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', name: 'f', content: chatParts },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'f', description: 'd', parameters: schema, strict: true },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'n', description: 'd', schema, strict: true },
  },
  stream_options: { include_usage: true },
}

const MESSAGES_BODY: JsonRecord = {
  max_tokens: 9,
  system: [text],
  messages: [
    { role: 'system', content: [text] },
    { role: 'user', content: blocks },
    {
      role: 'assistant',
      content: [
        text,
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { any: 1 }, cache_control },
      ],
    },
    {
      role: 'user',
      content: [
        {
          ...{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, cache_control },
          content: blocks,
        },
      ],
    },
  ],
  tools: [
    {
      type: 'custom',
      name: 'f',
      description: 'd',
      input_schema: schema,
      strict: true,
      cache_control,
    },
    { name: 'g', input_schema: schema },
  ],
  tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
  output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  metadata: { user_id: 'u' },
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  'openai-chat': { codec: openaiChatInboundCodec, shapes: CHAT_SHAPES, body: CHAT_BODY },
  'anthropic-messages': {
    codec: anthropicInboundCodec,
    shapes: MESSAGES_SHAPES,
    body: MESSAGES_BODY,
  },
}

/** The caller's own content, which stays unchanged. */
const OPAQUE = new Set(['parameters', 'schema', 'input_schema', 'input'])

/** The path of every object in a body. */
function placesIn(value: JsonValue | undefined, path: readonly (string | number)[]): Place[] {
  if (Array.isArray(value))
    return value.flatMap((element, index) => placesIn(element, [...path, index]))
  if (!isRecord(value)) return []
  const inner = Object.entries(value).flatMap(([name, member]) =>
    OPAQUE.has(name) ? [] : placesIn(member, [...path, name]),
  )
  return path.length === 0 ? inner : [path, ...inner]
}
type Place = readonly (string | number)[]

function nameOf(place: Place): string {
  return place.reduce<string>(
    (path, step) =>
      typeof step === 'number' ? `${path}[]` : path === '' ? step : `${path}.${step}`,
    '',
  )
}

/** A copy with an added member in the object at a place. */
function plant(body: JsonRecord, place: Place, name: string, value: JsonValue): JsonRecord {
  // A structured clone would keep objects shared that occur in several places.
  const copy: JsonRecord = JSON.parse(JSON.stringify(body))
  let at: unknown = copy
  for (const step of place) at = (at as Record<string | number, unknown>)[step]
  Object.assign(at as object, { [name]: value })
  return copy
}

/** Every object that a shape knows, by its name and its kinds. */
function kindsOf(shape: Shape, path: string): string[] {
  if (shape === 'all') return []
  if (shape.type === 'list') return kindsOf(shape.of, `${path}[]`)
  if (shape.type === 'choice')
    return Object.entries(shape.shapes).flatMap(([kind, of]) => kindsOf(of, `${path}<${kind}>`))
  return [
    path,
    ...Object.entries(shape.members).flatMap(([name, of]) => kindsOf(of, `${path}.${name}`)),
  ]
}

describe.each(Object.entries(DIALECTS))('%s', (_, { codec, shapes, body }) => {
  const places = placesIn(body, [])

  test('names nothing of a request that it reads whole', () => {
    expect(codec.decodeRequest(body).ignored).toEqual([])
  })

  test.each(places.map((place) => [nameOf(place), place] as const))(
    'names a member of %s that it does not read',
    (name, place) => {
      const { ignored } = codec.decodeRequest(plant(body, place, 'x_new', { a: 1 }))
      expect(ignored).toEqual([`${name}.x_new`])
    },
  )

  test('has all places of its schema in that request', () => {
    const known = Object.entries(shapes)
      .flatMap(([name, shape]) => kindsOf(shape, name))
      .map((path) => path.replace(/<\w+>/g, ''))
    const seen = new Set(places.map(nameOf))
    expect([...new Set(known)].filter((path) => !seen.has(path))).toEqual([])
  })

  test.each([null, '', [], {}].map((value) => [JSON.stringify(value), value] as const))(
    'names no member that asks for nothing: %s',
    (_written, value) => {
      for (const place of places)
        expect(codec.decodeRequest(plant(body, place, 'x_new', value)).ignored).toEqual([])
    },
  )

  test('names a path once, however often it stands there', () => {
    const each = Array.from({ length: 50 }, () => ({ role: 'user', content: 'a', x_new: 1 }))
    const { ignored } = codec.decodeRequest({ ...body, messages: each })
    expect(ignored).toEqual(['messages[].x_new'])
  })

  test('names a bounded number of a hundred thousand unknown members, and of a long one its beginning', () => {
    const many: Record<string, number> = {}
    for (let at = 0; at < 100_000; at += 1) many[`x_${at}`] = at
    const { ignored } = codec.decodeRequest({
      messages: [{ role: 'user', content: 'a', ...many }],
    })
    expect(ignored).toHaveLength(33)
    const long = { role: 'user', content: 'a', ['y'.repeat(1_000_000)]: 1 }
    const [name = ''] = codec.decodeRequest({ messages: [long] }).ignored
    expect(name).toHaveLength(96)
  })

  test('takes a member with the name of a prototype for any other', () => {
    const messages = JSON.parse('[{"role":"user","content":"a","__proto__":{"a":1},"toString":1}]')
    expect(codec.decodeRequest({ messages }).ignored).toEqual([
      'messages[].__proto__',
      'messages[].toString',
    ])
  })
})

describe('what clients send with every call, or send back as they got it, is not named:', () => {
  const assistant = (block: JsonRecord): JsonRecord => ({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [block] },
    ],
  })
  test.each<[string, InboundCodec, JsonRecord]>([
    [
      'citations of none, and a direct caller',
      anthropicInboundCodec,
      assistant({
        ...{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        ...{ caller: { type: 'direct' }, citations: null },
      }),
    ],
    [
      'a tool that is loaded at once',
      anthropicInboundCodec,
      {
        messages: [],
        tools: [
          {
            ...{ name: 'f', input_schema: {}, allowed_callers: ['direct'] },
            ...{ defer_loading: false, eager_input_streaming: false },
          },
        ],
      },
    ],
    [
      "an answer of OpenAI's SDK",
      openaiChatInboundCodec,
      {
        messages: [
          {
            ...{ role: 'assistant', content: 'a', refusal: null },
            ...{ annotations: [], audio: null, function_call: null, tool_calls: null },
          },
        ],
      },
    ],
  ])('%s', (_, codec, body) => {
    expect(codec.decodeRequest(body).ignored).toEqual([])
  })
})

test.each([
  ['reasoning_content', 'messages[].reasoning_content'],
  ['reasoning', 'messages[].reasoning'],
])('%s with which nothing sealed comes back is named', (name, path) => {
  const messages = [{ role: 'assistant', content: 'a', [name]: 'Hm.' }]
  expect(openaiChatInboundCodec.decodeRequest({ messages }).ignored).toEqual([path])
})

test('reasoning whose seal comes back with the tool call is not named', () => {
  const call = {
    ...{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
    extra_content: { google: { thought_signature: 's' } },
  }
  const messages = [
    { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [call] },
  ]
  expect(openaiChatInboundCodec.decodeRequest({ messages }).ignored).toEqual([])
})

test("others' reasoning details are named", () => {
  const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'theirs' }]
  const messages = [{ role: 'assistant', content: 'a', reasoning_details: details }]
  expect(openaiChatInboundCodec.decodeRequest({ messages }).ignored).toEqual([
    'messages[].reasoning_details[]',
  ])
})

test('the title of a document that is plain text is named', () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'a' }
  const content = [{ type: 'document', source, title: 'Notes' }]
  const { ignored } = anthropicInboundCodec.decodeRequest({ messages: [{ role: 'user', content }] })
  expect(ignored).toEqual(['messages[].content[].title'])
})
