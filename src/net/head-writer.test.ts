import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fieldLine, HeadWriter } from './head-writer.ts'

const value = fc.oneof(
  fc.string({ unit: fc.nat(0x17f).map((code) => String.fromCharCode(code)), maxLength: 80 }),
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  }),
)

test('a field is the same as its line, or both are refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), value, (name, text) => {
      const head = new HeadWriter(Buffer.alloc(1_000), 7)
      let line: string | undefined
      try {
        line = fieldLine(name, text)
      } catch {}
      head.begin('GET\r\n')
      if (line === undefined) expect(() => head.field(name, text)).toThrow('an invalid value')
      else {
        head.field(name, text)
        expect(head.toString()).toBe(`GET\r\n${line}`)
        expect(head.end).toBe(7 + 5 + line.length)
      }
    }),
  )
})

test('nothing of one head is left for the next', () => {
  const head = new HeadWriter(Buffer.alloc(1_000), 0)
  head.begin('a'.repeat(500))
  head.begin(Buffer.from('b'))
  head.text('c'.repeat(100))
  expect(head.toString()).toBe(`b${'c'.repeat(100)}`)
})

test.each([
  ['a text', (head: HeadWriter) => head.text('12345678901')],
  ['a long text', (head: HeadWriter) => head.text('1'.repeat(40))],
  ['a first line', (head: HeadWriter) => head.begin('12345678901')],
  ['first bytes', (head: HeadWriter) => head.begin(Buffer.alloc(11))],
  ['a name', (head: HeadWriter) => head.field('12345678901', '')],
  ['a value', (head: HeadWriter) => head.field('a', '12345678')],
  ['the end of a line', (head: HeadWriter) => head.field('a', '1234567')],
])('%s that has no room is refused, and not cut', (_, write) => {
  expect(() => write(new HeadWriter(Buffer.alloc(12), 2))).toThrow('too long')
})
