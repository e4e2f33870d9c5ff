import { expect, test } from 'bun:test'
import { type Schema, toApiTypes } from './api-types.ts'

function typeOf(schema: Schema): string {
  const types = toApiTypes({ paths: {}, components: { schemas: { It: schema } } })
  return /"It": (.*)$/m.exec(types)?.[1] ?? ''
}

test.each<[Schema, string]>([
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
  [
    { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }] },
    '{ readonly "a"?: string | undefined }',
  ],
  [{ anyOf: [{ type: 'string' }, { type: 'string' }, { type: 'null' }] }, 'string | null'],
  [{ type: 'array', items: { $ref: '#/components/schemas/Gate' } }, 'readonly (Schemas["Gate"])[]'],
  [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
  [
    { type: 'object', additionalProperties: { type: 'number' } },
    '{ readonly [name: string]: number }',
  ],
  [
    {
      type: 'object',
      properties: { a: {}, b: { type: 'boolean' } },
      required: ['b'],
      additionalProperties: {},
    },
    '{ readonly "a"?: unknown | undefined; readonly "b": boolean; readonly [name: string]: unknown }',
  ],
])('%j is %s', (schema, type) => {
  expect(typeOf(schema)).toBe(type)
})

test('an operation has its parameters, its body and its answer, as far as there are any', () => {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } }
  const json = (type: string) => ({ content: { 'application/json': { schema: { type } } } })
  const types = toApiTypes({
    paths: {
      '/things/{id}': {
        patch: {
          parameters: [id, limit],
          requestBody: { required: true, ...json('string') },
          responses: { 200: json('number') },
        },
        delete: { parameters: [id], responses: { 204: {} } },
      },
    },
    components: { schemas: {} },
  })
  expect(types).toContain(`"PATCH /things/{id}": {
    readonly question: { readonly path: { readonly "id": string }; readonly query?: { readonly "limit"?: number | undefined }; readonly body: string }
    readonly answer: number
  }`)
  expect(types).toContain(`"DELETE /things/{id}": {
    readonly question: { readonly path: { readonly "id": string } }
    readonly answer: null
  }`)
})
