import { expect, test } from 'bun:test'
import { fillSchema } from './fill-schema.ts'

test('names and numbers come from the prompt where they fit', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer', minimum: 1, maximum: 10 },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
      limit: { type: 'number', minimum: 100 },
    },
    required: ['city'],
  }
  expect(
    fillSchema(schema, 'weather in San Francisco, 400 points, 3 days, in Fahrenheit please'),
  ).toEqual({
    city: 'San Francisco',
    days: 3,
    unit: 'fahrenheit',
    limit: 400,
  })
})

test('quoted words are taken before capitalised ones, and tool names never', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
  expect(fillSchema(schema, 'call `lookup` for "blue moon" in Paris', ['lookup'])).toEqual({
    a: 'blue moon',
    b: 'Paris',
  })
})

test('fillers respect bounds, formats, constants and nesting', () => {
  const schema = {
    type: 'object',
    properties: {
      at: { type: 'string', format: 'date' },
      kind: { const: 'fixed' },
      count: { type: 'integer', exclusiveMinimum: 4 },
      least: { type: 'number', maximum: -2 },
      code: { type: 'string', minLength: 20, maxLength: 20 },
      maybe: { anyOf: [{ type: 'null' }, { type: 'boolean' }] },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
      inner: { $ref: '#/$defs/inner' },
      both: {
        allOf: [
          { type: 'object', properties: { x: { const: 1 } } },
          { properties: { y: { const: 2 } } },
        ],
      },
    },
    $defs: { inner: { type: 'object', properties: { on: { type: ['null', 'boolean'] } } } },
  }
  expect(fillSchema(schema, '')).toEqual({
    at: '2026-01-01',
    kind: 'fixed',
    count: 5,
    least: -2,
    code: 'sandbox-code--------',
    maybe: true,
    tags: ['sandbox-tags', 'sandbox-tags'],
    inner: { on: true },
    both: { x: 1, y: 2 },
  })
})

test('a schema that refers to itself comes to an end', () => {
  const schema = {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: {
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
          next: { $ref: '#/$defs/node' },
        },
        required: ['next'],
      },
    },
  }
  expect(JSON.stringify(fillSchema(schema, '')).length).toBeLessThan(100_000)
})

test('an invalid schema is filled too', () => {
  for (const schema of [
    undefined,
    null,
    7,
    [],
    { $ref: '#/nowhere' },
    { $ref: '#' },
    { enum: [] },
  ]) {
    expect(() => fillSchema(schema, 'x')).not.toThrow()
  }
})
