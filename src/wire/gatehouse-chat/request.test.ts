import { describe, expect, test } from 'bun:test'
import type { JsonRecord } from '../chat-request.ts'
import { scanJsonObject } from '../json-splice.ts'
import { writeToolId } from '../seal-carrier.ts'
import { gatehouseChat, gatehouseChatInboundCodec } from './index.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const accept = (body: JsonRecord) =>
  gatehouseChat.accept(scanJsonObject(Buffer.from(JSON.stringify(body))))
const decode = (members: JsonRecord) => {
  const { renderTemplate: _, ...request } = gatehouseChatInboundCodec.decodeRequest({
    gate_id: 'g',
    ...members,
  })
  return request
}
const refused = (param: string) =>
  expect.objectContaining({ kind: 'invalid_request', status: 400, param })

describe('the top level', () => {
  test('names the gate and the messages in either spelling', () => {
    expect(accept({ gate_id: 'g', messages })).toMatchObject({
      gateId: 'g',
      stream: false,
      ignored: [],
    })
    expect(accept({ gateId: 'g', data: { messages }, stream: true })).toMatchObject({
      gateId: 'g',
      stream: true,
    })
    expect(decode({ data: { messages } })).toEqual(decode({ messages }))
  })

  test.each([
    ['model', { gate_id: 'g', messages, model: 'x' }],
    ['max_tokens', { gate_id: 'g', messages, max_tokens: 1 }],
    ['constructor', { gate_id: 'g', messages, constructor: 1 }],
    ['gateId', { gate_id: 'g', gateId: 'g', messages }],
    ['data', { gate_id: 'g', messages, data: { messages } }],
    ['gate_id', { messages }],
    ['gate_id', { gate_id: '', messages }],
    ['messages', { gate_id: 'g' }],
    ['messages', { gate_id: 'g', messages: 'Hi' }],
    ['vars', { gate_id: 'g', messages, vars: [] }],
    ['stream', { gate_id: 'g', messages, stream: 1 }],
  ])('is refused for %s', (param, body) => {
    expect(() => accept(body as JsonRecord)).toThrow(refused(param))
  })
})

test('every setting has its place', () => {
  const schema = { type: 'object' }
  const request = decode({
    messages,
    vars: { who: 'Ann', count: 2, sure: true },
    instructions: 'For {{who}}: {{count}} {{sure}}',
    tools: [{ name: 'f', description: 'd', parameters: schema, strict: true }, { name: 'g' }],
    tool_choice: { name: 'f' },
    response_format: { type: 'json_schema', schema, name: 'n', strict: false },
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 7,
    stop: 'x',
    reasoning: { effort: 'low' },
    stream: true,
    metadata: { a: 'b' },
  })
  expect(request).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'For Ann: 2 true' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
    tools: [{ name: 'f', description: 'd', parameters: schema, strict: true }, { name: 'g' }],
    toolChoice: { type: 'tool', name: 'f' },
    responseFormat: { type: 'json-schema', schema, name: 'n', strict: false },
    temperature: 0.5,
    topP: 0.9,
    maxOutputTokens: 7,
    stop: ['x'],
    reasoning: { effort: 'low' },
    stream: true,
    metadata: { a: 'b' },
    extra: {},
    family: 'gatehouse-chat',
    ignored: [],
  })
})

test('null is the same as nothing', () => {
  const nothing = {
    vars: null,
    instructions: null,
    tools: null,
    stop: null,
    reasoning: { effort: null },
  }
  expect(decode({ messages, ...nothing })).toEqual(decode({ messages }))
})

test('messages have text, images and files, by address or as bytes', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'image', url: 'https://x.test/a.png', detail: 'low' },
    { type: 'image', data: 'AA==', media_type: 'image/PNG' },
    { type: 'file', data: 'AA==', media_type: 'application/pdf', filename: 'a.pdf' },
  ]
  const parts = [
    { type: 'text' as const, text: 'a' },
    {
      type: 'image' as const,
      source: { type: 'url' as const, url: 'https://x.test/a.png' },
      detail: 'low',
    },
    {
      type: 'image' as const,
      source: { type: 'data' as const, mediaType: 'image/png', base64: 'AA==' },
    },
    {
      type: 'file' as const,
      source: { type: 'data' as const, mediaType: 'application/pdf', base64: 'AA==' },
      filename: 'a.pdf',
    },
  ]
  expect(
    decode({
      messages: [
        { role: 'user', content },
        { role: 'tool', tool_call_id: 'c', content },
      ],
    }).messages,
  ).toEqual([
    { role: 'user', content: parts },
    { role: 'tool', callId: 'c', content: parts },
  ])
})

test('reasoning in a call’s id returns to its place: before the text, or before its call', () => {
  const sealed = (value: string) => ({
    type: 'reasoning' as const,
    text: value,
    seal: { type: 'encrypted' as const, value, origin: 'o' },
  })
  const seal = { type: 'signature' as const, value: 's', origin: 'o' }
  const ids = [
    writeToolId('a', { reasoning: [sealed('1')] }, 'o'),
    writeToolId('b', { reasoning: [sealed('2')], seal }, 'o'),
  ]
  const [assistant, result] = decode({
    messages: [
      {
        role: 'assistant',
        content: 'so',
        tool_calls: [
          { id: ids[0] as string, name: 'f', arguments: '{"x": 1}' },
          { id: ids[1] as string, name: 'g', arguments: '' },
        ],
      },
      { role: 'tool', tool_call_id: ids[1] as string, content: 'done' },
    ],
  }).messages
  expect(assistant?.content).toEqual([
    sealed('1'),
    { type: 'text', text: 'so' },
    { type: 'tool-call', id: 'a', name: 'f', arguments: '{"x": 1}' },
    sealed('2'),
    { type: 'tool-call', id: 'b', name: 'g', arguments: '{}', seal },
  ])
  expect(result).toMatchObject({ callId: 'b' })
})

test('an assistant turn with calls alone has no text', () => {
  const calls = [{ id: 'a', name: 'f', arguments: '{}' }]
  for (const content of [null, '', []])
    expect(
      decode({ messages: [{ role: 'assistant', content, tool_calls: calls }] }).messages,
    ).toEqual([
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }] },
    ])
})

const user = (content: JsonRecord | string) => ({ messages: [{ role: 'user', content }] })
const part = (members: JsonRecord) => ({ messages: [{ role: 'user', content: [members] }] })
test.each<[string, JsonRecord]>([
  ['vars.who', { messages, instructions: 'Hi {{who}}' }],
  ['vars.who', { messages, vars: { who: {} } }],
  ['data.vars', { data: { messages, vars: {} } }],
  ['data.messages[0].role', { data: { messages: [{ role: 'developer', content: 'x' }] } }],
  ['messages[0].name', { messages: [{ role: 'user', content: 'x', name: 'ann' }] }],
  ['messages[0].reasoning', { messages: [{ role: 'assistant', content: 'x', reasoning: 'y' }] }],
  ['messages[0].content', { messages: [{ role: 'assistant' }] }],
  ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
  ['messages[0].content', user({})],
  ['messages[0].content[0].type', part({ type: 'audio' })],
  ['messages[0].content[0].cache', part({ type: 'text', text: 'x', cache: {} })],
  ['messages[0].content[0].url', part({ type: 'image', url: 'ftp://x' })],
  [
    'messages[0].content[0].data',
    part({ type: 'image', url: 'https://x', data: 'AA', media_type: 'image/png' }),
  ],
  ['messages[0].content[0].media_type', part({ type: 'file', data: 'AA' })],
  ['tools[0].type', { messages, tools: [{ type: 'function', name: 'f' }] }],
  ['tools[0].name', { messages, tools: [{}] }],
  ['tool_choice', { messages, tool_choice: 'any' }],
  ['tool_choice.type', { messages, tool_choice: { type: 'function', name: 'f' } }],
  ['response_format.type', { messages, response_format: { type: 'json_object' } }],
  ['response_format.schema', { messages, response_format: { type: 'json_schema' } }],
  ['reasoning.summary', { messages, reasoning: { effort: 'low', summary: 'auto' } }],
  ['stop[0]', { messages, stop: [1] }],
])('%s is refused by its path', (param, members) => {
  expect(() => decode(members)).toThrow(refused(param))
})
