import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonRecord } from './chat-request.ts'
import { parseCutRecord } from './read-json.ts'

test.each([
  ['{"path":"a.ts","content":"one\\ntw', { path: 'a.ts', content: 'one\ntw' }],
  ['{"path":"a.ts","conte', { path: 'a.ts' }],
  ['{"path":"a.ts","content":', { path: 'a.ts' }],
  ['{"path":"a.ts",', { path: 'a.ts' }],
  ['{"list":[1,2,{"a":tr', { list: [1, 2, {}] }],
  ['{"text":"a\\u00', {}],
  ['{"text":"a\\', {}],
  ['{', {}],
  ['', undefined],
  ['no object', undefined],
])('%j is read as far as it is whole', (text, record) => {
  expect(parseCutRecord(text)).toEqual(record as JsonRecord | undefined)
})

test('every beginning of an object is an object, and the whole is itself', () => {
  const records = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
  fc.assert(
    fc.property(records, fc.nat(), (record, at) => {
      const text = JSON.stringify(record)
      expect(parseCutRecord(text)).toEqual(JSON.parse(text))
      expect(parseCutRecord(text.slice(0, 1 + (at % text.length)))).toBeObject()
    }),
    { numRuns: 500 },
  )
})
