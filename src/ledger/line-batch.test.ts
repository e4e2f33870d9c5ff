/** Lines of one turn: all of them, whole, in their order, whatever their number and length. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { LineBatch } from './journal.ts'

const textOf = (batch: LineBatch) => Buffer.from(batch.bytes).toString()
const lineOf = (content: string) =>
  `${Bun.hash.crc32(Buffer.from(content)).toString(16).padStart(8, '0')} ${content}\n`

test('each added content is a whole line, turn after turn', () => {
  const content = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 50 }),
    // Far more than the buffer begins with.
    fc.integer({ min: 1, max: 9_000 }).map((length) => 'é𝄞x'.repeat(length)),
  )
  fc.assert(
    fc.property(fc.array(fc.array(content, { maxLength: 6 }), { maxLength: 4 }), (turns) => {
      const batch = new LineBatch()
      for (const contents of turns) {
        for (const each of contents) batch.add(each)
        expect(batch.lines).toBe(contents.length)
        expect(textOf(batch) === contents.map(lineOf).join('')).toBe(true)
        batch.clear()
        expect(batch.lines).toBe(0)
        expect(batch.bytes).toHaveLength(0)
      }
    }),
    { numRuns: 20 },
  )
})

test('many small lines fill the buffer to its last byte and go on', () => {
  const batch = new LineBatch()
  const count = 30_000
  for (let index = 0; index < count; index += 1) batch.add('ab')
  expect(batch.lines).toBe(count)
  expect(textOf(batch)).toBe(lineOf('ab').repeat(count))
})
