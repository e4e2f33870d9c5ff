/** Schemas of tools and of response formats are rewritten as the target's model demands. */
import { describe, expect, test } from 'bun:test'
import { type Asked, ask, CHAT, MESSAGES, STRICT } from '../support/ask-fitted.ts'

const toolOf = (path: string, schema: object, strict?: boolean) =>
  path === MESSAGES
    ? { tools: [{ name: 'look', input_schema: schema }] }
    : {
        tools: [
          {
            type: 'function',
            function: {
              name: 'look',
              parameters: schema,
              ...(strict === undefined ? {} : { strict }),
            },
          },
        ],
      }
const schemaSent = ({ tools, toolConfig }: Asked['body']) =>
  toolConfig?.tools[0].toolSpec.inputSchema.json ??
  tools[0].input_schema ??
  tools[0].function?.parameters ??
  tools[0].parameters

describe('schemas of tools', () => {
  const text = { type: 'string' }
  const SONNET = 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'
  test.each([
    ['an object without properties', MESSAGES, 'openai/gpt-4o', { type: 'object' }, {}],
    ['an object without properties', MESSAGES, 'openai/gpt-5', { type: 'object' }, {}],
    ['an empty schema', CHAT, 'anthropic/claude-opus-4-6', {}, {}],
    ['an empty schema', CHAT, SONNET, {}, {}],
    ['a schema without a type', CHAT, SONNET, { properties: { a: text } }, { a: text }],
    [
      'a choice at the root',
      CHAT,
      'anthropic/claude-opus-4-6',
      { anyOf: [{ type: 'object', properties: { a: text } }, { properties: { b: text } }] },
      { a: text, b: text },
    ],
    [
      'parts at the root',
      MESSAGES,
      'openai/gpt-4o',
      { type: 'object', allOf: [{ properties: { a: text } }, { properties: { b: text } }] },
      { a: text, b: text },
    ],
    [
      'a list without items',
      MESSAGES,
      'openai/gpt-4o',
      { type: 'object', properties: { a: { type: 'array' } } },
      { a: { type: 'array', items: {} } },
    ],
    [
      'a reference at the root',
      MESSAGES,
      'openai/gpt-4o',
      { $ref: '#/$defs/A', $defs: { A: { type: 'object', properties: { a: text } } } },
      { a: text },
    ],
  ])('%s is completed: %s to %s', async (_title, path, target, schema, properties) => {
    const { seen, body } = await ask(path, target, toolOf(path, schema), STRICT)
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-adapted']).toMatch(/^tools\./)
    expect(schemaSent(body)).toMatchObject({ type: 'object', properties })
    expect(Object.keys(schemaSent(body))).not.toContainAnyValues([
      'anyOf',
      'allOf',
      'oneOf',
      '$ref',
    ])
  })

  test('members that every branch requires stay required', async () => {
    const branch = (...required: string[]) => ({ properties: { a: text, b: text }, required })
    const schema = { type: 'object', oneOf: [branch('a', 'b'), branch('a')] }
    const { body } = await ask(CHAT, 'anthropic/claude-opus-4-6', toolOf(CHAT, schema))
    expect(schemaSent(body).required).toEqual(['a'])
    expect(schemaSent(body).description).toContain('oneOf')
  })

  test('a property with a schema of its own in each branch keeps all of them', async () => {
    const one = { properties: { kind: { const: 'one' } } }
    const two = { properties: { kind: { const: 'two' } } }
    const { body } = await ask(
      CHAT,
      'anthropic/claude-opus-4-6',
      toolOf(CHAT, { type: 'object', anyOf: [one, two] }),
    )
    const both = { anyOf: [{ const: 'one' }, { const: 'two' }] }
    expect(schemaSent(body).properties.kind).toEqual(both)
  })

  test('a complete schema passes unchanged', async () => {
    const schema = {
      type: 'object',
      properties: { a: text },
      required: ['a'],
      additionalProperties: false,
    }
    const { seen, body } = await ask(MESSAGES, 'openai/gpt-4o', toolOf(MESSAGES, schema))
    expect(seen.headers).not.toHaveProperty('x-gatehouse-adapted')
    expect(schemaSent(body)).toEqual(schema)
  })
})

describe('response formats', () => {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1 },
      list: { type: 'array', maxItems: 3, items: {} },
    },
    required: ['n'],
  }
  const format = {
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
  }

  test('are rewritten for Claude as its SDK does', async () => {
    const { seen, body } = await ask(CHAT, 'anthropic/claude-opus-4-6', format, STRICT)
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-adapted']).toBe('response_format')
    const sent = body.output_config.format.schema
    expect(sent.additionalProperties).toBe(false)
    expect(sent.properties.n).toEqual({ type: 'integer', description: '(minimum: 1)' })
    expect(sent.properties.list.description).toBe('(maxItems: 3)')
  })

  test('are rewritten for Claude on Bedrock too, as text', async () => {
    const target = 'bedrock/anthropic.claude-opus-4-6-v1'
    const { seen, body } = await ask(CHAT, target, format, STRICT)
    expect(seen.headers['x-gatehouse-adapted']).toBe('response_format')
    const sent = JSON.parse(body.outputConfig.textFormat.structure.jsonSchema.schema)
    expect(sent.additionalProperties).toBe(false)
    expect(sent.properties.n).toEqual({ type: 'integer', description: '(minimum: 1)' })
  })

  test.each(['anthropic/claude-3-5-haiku-20241022', 'anthropic/claude-sonnet-4-20250514'])(
    'are a tool where the model has none, and lose strict: %s',
    async (target) => {
      const { seen, body } = await ask(CHAT, target, format)
      expect(seen.headers['x-gatehouse-adapted']).toBe('response_format')
      expect(seen.headers['x-gatehouse-ignored']).toBe('response_format.json_schema.strict')
      expect(body).not.toHaveProperty('output_config')
      expect(body.tool_choice).toEqual({ type: 'tool', name: 'answer' })
      expect((await ask(CHAT, target, format, STRICT)).seen.status).toBe(400)
    },
  )

  test('give way to tools at Gemini 2.5, and stay at Gemini 3', async () => {
    const members = { ...format, ...toolOf(CHAT, { type: 'object', properties: {} }) }
    const old = await ask(CHAT, 'gemini/gemini-2.5-pro', members)
    expect(old.seen.headers['x-gatehouse-ignored']).toContain('response_format')
    expect(old.sent).not.toContain('responseMimeType')
    const current = await ask(CHAT, 'gemini/gemini-3-pro', members)
    expect(current.sent).toContain('responseMimeType')
  })
})
