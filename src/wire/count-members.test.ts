import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { hasMoreMembers } from './json-scan.ts'

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, each) => sum + countMembers(each), own)
}

test('members are counted at every depth, and not inside a text', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('":"', '\\', '\\"', '\\\\":', ':::', '"\\\\'))
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  })).value
  fc.assert(
    fc.property(json, (value) => {
      const bytes = Buffer.from(JSON.stringify(value))
      const members = countMembers(value)
      expect(hasMoreMembers(bytes, members)).toBeFalse()
      if (members > 0) expect(hasMoreMembers(bytes, members - 1)).toBeTrue()
    }),
  )
})

test('a text of endless backslashes is read once', () => {
  const text = JSON.stringify({ a: '\\'.repeat(100_000), b: '"'.repeat(100_000) })
  expect(hasMoreMembers(Buffer.from(text), 2)).toBeFalse()
  expect(hasMoreMembers(Buffer.from(text), 1)).toBeTrue()
})
