import { expect, test } from 'bun:test'
import { readFields } from './fields.ts'

const memory: string[] = []

function read(...lines: string[]): [string, string][] | undefined {
  const bytes = Buffer.from(lines.join('\r\n'), 'latin1')
  const fields = readFields(bytes, { from: 0, end: bytes.length }, memory)
  const found: [string, string][] = []
  fields?.forEach((value, name) => void found.push([name, value]))
  return fields === undefined ? undefined : found
}

test.each([
  ['the same', 'x-name', 'x-name'],
  ['in capitals', 'X-NAME', 'x-name'],
  ['longer', 'x-name-2', 'x-name-2'],
  ['shorter', 'x-nam', 'x-nam'],
  ['another of the same length', 'x-nane', 'x-nane'],
  ['one that differs in the bit that makes letters small', 'X\u005eNAME', 'x^name'],
])('a name is read alike where another one stood in the answer before: %s', (_, written, name) => {
  expect(read('x-name: before', 'other: 1')).toEqual([
    ['x-name', 'before'],
    ['other', '1'],
  ])
  expect(read(`${written}: now`, 'other: 2')).toEqual([
    [name, 'now'],
    ['other', '2'],
  ])
})

test('fields of a name are one, and of cookies one list of cookies', () => {
  expect(read('cookie: a=1', 'x: 1', 'Cookie: b=2', 'X: 2')).toEqual([
    ['cookie', 'a=1; b=2'],
    ['x', '1, 2'],
  ])
})

test.each(['x-name', 'x-name : 1', 'x-name\u00e9: 1', ': 1', ' x-name: 1', 'x-name\u0000: 1'])(
  'a malformed field is rejected where a field stood before: %j',
  (line) => {
    read('x-name: before')
    expect(read(line)).toBeUndefined()
    expect(read('x-name: 1')).toEqual([['x-name', '1']])
  },
)
