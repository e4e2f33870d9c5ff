import { expect, test } from 'bun:test'
import { parseJson } from './json-scan.ts'

const lists = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth)
const objects = (depth: number) => '{"a":'.repeat(depth) + 1 + '}'.repeat(depth)

test.each([
  ['lists in lists', lists(9_000)],
  ['objects in objects', objects(9_000)],
  ['both, with space between', '[ {"a" : '.repeat(9_000) + 1 + '} ]'.repeat(9_000)],
  ['lists behind much that is flat', `[${'[],'.repeat(9_000)}${lists(300)}]`],
  ['lists that never end', '['.repeat(9_000)],
])('%s are refused before they are read', (_, text) => {
  expect(() => parseJson(text)).toThrow('nested deeper than 256 levels')
})

test.each([
  ['very many brackets that are text', JSON.stringify({ a: '[{"\\"['.repeat(9_000) })],
  ['very many flat lists', `[${Array(9_000).fill('[]').join()}]`],
  [
    'the deepest that a request may be, among very many',
    `[${'[],'.repeat(9_000)}${lists(255, '1')}]`,
  ],
  ['a text that is small', lists(4_000)],
  ['many numbers', JSON.stringify(Array(20_000).fill(0.25))],
  [
    'a quote behind a backslash at the end of a text',
    JSON.stringify([...Array(9_000).fill('\\'), '"', '[']),
  ],
])('%s are read', (_, text) => {
  expect(JSON.stringify(parseJson(text))).toBe(text)
})

test('invalid JSON is a SyntaxError, as with JSON.parse', () => {
  for (const text of ['', '{', `${'['.repeat(10)}x`, 'x'.repeat(9_000)])
    expect(() => parseJson(text)).toThrow(SyntaxError)
})
