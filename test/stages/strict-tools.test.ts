/**
 * Strict tools with optional members, which OpenAI refuses: the model gets required members that
 * may be null, and the caller gets the arguments without these nulls.
 */
import { describe, expect, test } from 'bun:test'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import type { UpstreamKit } from '../support/upstream-answers/answer-script.ts'
import { openaiUpstream } from '../support/upstream-answers/chat-upstreams.ts'
import { responsesUpstream } from '../support/upstream-answers/responses-upstream.ts'
import { anthropicUpstream } from '../support/upstream-answers/vendor-upstreams.ts'

const text = { type: 'string' }
const SCHEMA = {
  type: 'object',
  properties: {
    path: text,
    mode: { type: 'string', enum: ['r', 'w'] },
    limit: { type: 'integer', default: 10, description: 'Lines.' },
    note: { type: ['string', 'null'] },
    owner: { $ref: '#/$defs/owner' },
    list: { type: 'array', items: { $ref: '#/$defs/owner' } },
    way: {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'a', type: 'string' }, x: text },
          required: ['kind'],
        },
        {
          type: 'object',
          properties: { kind: { const: 'b', type: 'string' }, x: { type: ['string', 'null'] } },
          required: ['kind'],
        },
      ],
    },
  },
  required: ['path'],
  $defs: { owner: { type: 'object', properties: { id: text, team: text }, required: ['id'] } },
}
const LOOSE = { anyOf: [text, { type: 'null' }] }

type Caller = (schema: object, rest?: object) => { readonly path: string; readonly body: object }
const CALLERS: Readonly<Record<string, Caller>> = {
  messages: (schema, rest = {}) => ({
    path: '/v1/messages',
    body: {
      ...{ model: 'g', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }], ...rest },
      tools: [{ name: 'read', input_schema: schema, strict: true }],
    },
  }),
  chat: (schema, rest = {}) => ({
    path: '/v3/chat',
    body: {
      ...{ gate_id: 'g', messages: [{ role: 'user', content: 'hi' }], ...rest },
      tools: [{ name: 'read', parameters: schema, strict: true }],
    },
  }),
}
const TARGETS: Readonly<Record<string, UpstreamKit>> = {
  'openai/gpt-4o': openaiUpstream,
  'openai/gpt-5': responsesUpstream,
}
const ROWS = Object.entries(TARGETS).flatMap(([target, kit]) =>
  Object.entries(CALLERS).map(([name, caller]) => ({
    title: `${name} to ${target}`,
    target,
    kit,
    caller,
  })),
)

async function ask(
  { target, kit, caller }: Omit<(typeof ROWS)[number], 'title'>,
  schema: object,
  options: {
    readonly args?: string
    readonly stream?: boolean
    readonly headers?: Readonly<Record<string, string>>
  } = {},
) {
  const { args, headers = {} } = options
  const script =
    args === undefined
      ? { text: 'ok', finish: 'stop' as const }
      : { calls: [{ id: 'call_1', name: 'read', arguments: args }], finish: 'tool_calls' as const }
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    upstream: [
      options.stream === true
        ? stream(kit.stream(script))
        : json(200, JSON.stringify(kit.whole(script))),
    ],
  })
  const { path, body } = caller(schema, options.stream === true ? { stream: true } : {})
  const seen = await gateway.ask({ path, headers, body })
  const sent = JSON.parse(gateway.upstream.sent[0]?.body ?? '{}')
  const [tool] = sent.tools ?? []
  return { seen, tool: tool?.function ?? tool }
}

/** The arguments of the one call in an answer of either dialect, whole or streamed. */
function argumentsIn(answer: string): unknown {
  const pieces = [...answer.matchAll(/"(?:partial_json|arguments)":("(?:[^"\\]|\\.)*")/g)]
  if (pieces.length > 0) return pieces.map(([, piece = '""']) => JSON.parse(piece)).join('')
  return JSON.stringify(JSON.parse(answer).content[0].input)
}

describe.each(ROWS)('$title', (row) => {
  test('the tool stays strict, and its optional members are required and may be null', async () => {
    const { seen, tool } = await ask(row, SCHEMA, { headers: { 'x-gatehouse-strict': 'true' } })
    expect([seen.status, seen.text]).toEqual([200, expect.anything()])
    expect(seen.headers['x-gatehouse-adapted']).toMatch(/^tools\./)
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    expect(tool.strict).toBe(true)
    const { properties, required, additionalProperties, $defs } = tool.parameters
    expect(additionalProperties).toBe(false)
    expect(required).toEqual(Object.keys(SCHEMA.properties))
    expect(properties.path).toEqual(text)
    expect(properties.mode).toEqual({ anyOf: [SCHEMA.properties.mode, { type: 'null' }] })
    expect(properties.limit.anyOf[0]).toEqual({
      type: 'integer',
      description: 'Lines.\n\n(default: 10)',
    })
    expect(properties.note).toEqual(SCHEMA.properties.note)
    expect(properties.owner).toEqual({ anyOf: [{ $ref: '#/$defs/owner' }, { type: 'null' }] })
    expect($defs.owner).toEqual({
      ...{ type: 'object', properties: { id: text, team: LOOSE } },
      ...{ required: ['id', 'team'], additionalProperties: false },
    })
    expect(properties.way.anyOf[0].anyOf[0]).toMatchObject({ required: ['kind', 'x'] })
  })

  test.each([
    [
      '{"path":"a","mode":null,"limit":null,"note":null,"owner":null,"list":null,"way":null}',
      '{"path":"a","note":null}',
    ],
    [
      '{"path":null,"mode":"r","limit":12345678901234567890,"note":"n","owner":{"id":"i","team":null},"list":[{"id":"j","team":null}],"way":null}',
      '{"path":null,"mode":"r","limit":12345678901234567890,"note":"n","owner":{"id":"i"},"list":[{"id":"j"}]}',
    ],
    ['{"path":"a","way":{"kind":"a","x":null}}', '{"path":"a","way":{"kind":"a"}}'],
    ['{"path":"a","way":{"kind":"b","x":null}}', '{"path":"a","way":{"kind":"b","x":null}}'],
    ['{"path": "a",  "mode":"r"}', '{"path": "a",  "mode":"r"}'],
  ])('nulls of absent members are taken out: %s', async (args, restored) => {
    for (const isStream of [false, true]) {
      const { seen } = await ask(row, SCHEMA, { args, stream: isStream })
      const found = argumentsIn(seen.text)
      // A whole answer of Anthropic's format has the arguments as an object.
      if (row.title.startsWith('messages') && !isStream)
        expect(JSON.parse(String(found))).toEqual(JSON.parse(restored))
      // The last event of a stream of /v3/chat repeats the whole answer.
      else expect(found).toBe(restored.repeat(isStream && row.title.startsWith('chat') ? 2 : 1))
    }
  })

  test('arguments that the model did not finish are passed on as they are', async () => {
    const { seen } = await ask(row, SCHEMA, { args: '{"path":"a","mode":null', stream: true })
    expect(argumentsIn(seen.text)).toBe('{"path":"a","mode":null')
  })

  test.each([
    [
      'a map',
      { type: 'object', properties: { a: { type: 'object', additionalProperties: text } } },
    ],
    [
      'an object without a list of members',
      { type: 'object', properties: { a: { type: 'object' } } },
    ],
    ['a value of any type', { type: 'object', properties: { a: { description: 'any' } } }],
    [
      'a keyword without a strict form',
      { type: 'object', properties: { a: { not: text, type: 'string' } } },
    ],
  ])('%s has no strict form: the tool is not strict, and this is named', async (_title, schema) => {
    const { seen, tool } = await ask(row, schema)
    expect(seen.headers['x-gatehouse-ignored']).toBe('tools.strict')
    expect(tool.strict).toBe(false)
    expect(tool.parameters).toEqual(schema)
    const strict = await ask(row, schema, { headers: { 'x-gatehouse-strict': 'true' } })
    expect(strict.seen.status).toBe(400)
  })
})

const ask3 = async (target: string, kit: UpstreamKit, body: object, path = '/v3/chat') => {
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    upstream: [json(200, JSON.stringify(kit.whole({ text: '{}', finish: 'stop' })))],
  })
  const messages = [{ role: 'user', content: 'hi' }]
  const seen = await gateway.ask({
    path,
    body: { [path === '/v3/chat' ? 'gate_id' : 'model']: 'g', messages, ...body },
  })
  return { seen, sent: JSON.parse(gateway.upstream.sent[0]?.body ?? '{}') }
}

describe('strict response formats to OpenAI', () => {
  const open = { type: 'object', properties: { a: text }, required: ['a'] }
  const format = (schema: object) => ({
    response_format: { type: 'json_schema', schema, strict: true },
  })

  test('are closed, as OpenAI demands', async () => {
    const { seen, sent } = await ask3('openai/gpt-4o', openaiUpstream, format(open))
    expect(seen.headers['x-gatehouse-adapted']).toBe('response_format')
    expect(sent.response_format.json_schema).toMatchObject({
      strict: true,
      schema: { ...open, additionalProperties: false },
    })
  })

  test('with optional members are not strict, because nulls would be in the text', async () => {
    const schema = { ...open, required: [] }
    const { seen, sent } = await ask3('openai/gpt-4o', openaiUpstream, format(schema))
    expect(seen.headers['x-gatehouse-ignored']).toBe('response_format.strict')
    expect(sent.response_format.json_schema).toMatchObject({ strict: false, schema })
  })
})

describe('strict tools to Claude', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } }
  const tool = { type: 'function', function: { name: 'read', parameters: schema, strict: true } }

  test('are closed, and unsupported keywords are in the description', async () => {
    const { seen, sent } = await ask3(
      'anthropic/claude-opus-4-6',
      anthropicUpstream,
      { tools: [tool] },
      '/v1/chat/completions',
    )
    expect(seen.headers['x-gatehouse-adapted']).toBe('tools.function.parameters')
    expect(sent.tools[0]).toMatchObject({
      strict: true,
      input_schema: {
        properties: { n: { type: 'integer', description: '(minimum: 1)' } },
        additionalProperties: false,
      },
    })
  })

  test('are not strict where the model has no structured outputs', async () => {
    const { seen, sent } = await ask3(
      'anthropic/claude-3-haiku-20240307',
      anthropicUpstream,
      { tools: [tool] },
      '/v1/chat/completions',
    )
    expect(seen.headers['x-gatehouse-ignored']).toBe('tools.function.strict')
    expect(sent.tools[0]).toEqual({ name: 'read', input_schema: schema })
  })
})
