import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { objectText } from '../../test/support/json-texts.ts'
import { MemberReader } from './member-reader.ts'

const WANTED = new Set(['usage', 'meta'])

function read(text: string, pieceBytes = Number.POSITIVE_INFINITY): Record<string, unknown> {
  const bytes = Buffer.from(text)
  const reader = new MemberReader(WANTED)
  const size = Math.min(pieceBytes, bytes.length)
  for (let at = 0; at < bytes.length; at += size) {
    const lent = Buffer.from(bytes.subarray(at, at + size))
    reader.push(lent)
    // The reader must not use a chunk's bytes after `push`.
    lent.fill(0x20)
  }
  return reader.members
}

describe('reads a top-level member', () => {
  test.each([
    ['at the end', '{"data":[1,2],"usage":{"a":1}}', { usage: { a: 1 } }],
    ['at the start', ' {\n "usage" : { "a" : 1 } , "data":[] } ', { usage: { a: 1 } }],
    ['that is a number', '{"usage":12}', { usage: 12 }],
    ['beside another', '{"meta":{"b":[{}]},"usage":null}', { usage: null, meta: { b: [{}] } }],
    [
      'the last of two, as JSON.parse does',
      '{"usage":{"a":1},"usage":{"a":2}}',
      { usage: { a: 2 } },
    ],
    [
      'and none of the same name within another',
      '{"data":{"usage":{"a":1}},"x":[{"usage":2}]}',
      {},
    ],
    ['and none in text that looks like one', '{"x":"\\"usage\\":{\\"a\\":1},","y":"usage"}', {}],
    ['after text that ends in backslashes', '{"x":"\\\\","usage":1}', { usage: 1 }],
    [
      'with quotes and braces in its own text',
      '{"usage":{"a":"}\\",{"}}',
      { usage: { a: '}",{' } },
    ],
    ['and none of an array', '["usage",{"usage":1}]', {}],
    ['as far as it is there', '{"usage":{"a":1}', {}],
  ])('%s', (_, text, members) => {
    expect(read(text)).toEqual(members)
    for (const size of [1, 2, 3]) expect(read(text, size)).toEqual(members)
  })

  test('from any object, in pieces of any size', () => {
    fc.assert(
      fc.property(objectText, fc.integer({ min: 1, max: 7 }), (text, size) => {
        const inside = `{"usage":${text},"x":${text},"meta":[${text}]}`
        const { usage, meta } = JSON.parse(inside)
        expect(read(inside, size)).toEqual({ usage, meta })
      }),
    )
  })

  test('but not one that is implausibly long', () => {
    const reader = new MemberReader(WANTED)
    reader.push(Buffer.from('{"usage":"'))
    for (let piece = 0; piece < 20; piece++) reader.push(Buffer.from('x'.repeat(10_000)))
    reader.push(Buffer.from('","meta":1}'))
    expect(reader.members).toEqual({ meta: 1 })
  })
})

describe('the count of text', () => {
  const textBytes = (text: string) => {
    const reader = new MemberReader(WANTED)
    reader.push(Buffer.from(text))
    return reader.textBytes
  }

  test('leaves out numbers', () => expect(textBytes('{"data":[[0.25,-1e3]]}')).toBe(0))
  test('includes strings, and not the names of the top level', () =>
    expect(textBytes('{"aaaa":"bcd"}')).toBe(3))
  test('includes a long string in full if it has spaces, and at a flat size as media if it has none', () => {
    expect(textBytes(`{"a":"${'word '.repeat(10_000)}"}`)).toBe(50_000)
    expect(textBytes(`{"a":"${'A'.repeat(1_000_000)}"}`)).toBe(6 * 1024)
  })
})
