/**
 * Lines of one turn: all of them, whole, in their order, whatever their number and length. Those of
 * a segment: read back in any order, and never out of memory that is another segment's.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { anyCallRecord } from './any-call-record.fixture.ts'
import { toWholeRecord } from './call-line.ts'
import { createCallRecord, recordsIn } from './call-record.fixture.ts'
import { KeptLines, LineBatch, SpareBuffers } from './journal-lines.ts'
import { encodeRecordLine, toLineContent } from './record-line.ts'

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
        for (const each of contents) batch.add(each, DEFAULT_ACCOUNT)
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
  for (let index = 0; index < count; index += 1) batch.add('ab', DEFAULT_ACCOUNT)
  expect(batch.lines).toBe(count)
  expect(textOf(batch)).toBe(lineOf('ab').repeat(count))
})

function linesOf(records: readonly CallRecord[]): LineBatch {
  const batch = new LineBatch()
  for (const record of records) batch.add(toLineContent(record), record.accountId)
  return batch
}

test('segments that use the same memory one after another each read back what they were given', () => {
  // Of a megabyte: these turns make a segment larger than its memory begins with, too.
  const long = createCallRecord({ target: `owned/${'é'.repeat(300_000)}` })
  const records = fc.array(fc.oneof({ weight: 9, arbitrary: anyCallRecord }, fc.constant(long)), {
    maxLength: 12,
  })
  const segments = fc.array(fc.array(records, { maxLength: 4 }), { minLength: 2, maxLength: 5 })
  fc.assert(
    fc.property(segments, fc.integer({ min: 1, max: 3 }), (turnsOfSegments, mostOpen) => {
      const spare = new SpareBuffers()
      const open: { lines: KeptLines; expected: CallRecord[] }[] = []
      for (const turns of turnsOfSegments) {
        const lines = new KeptLines(spare)
        const expected: CallRecord[] = []
        for (const turn of turns) {
          const whole = turn.map(toWholeRecord)
          lines.append(linesOf(whole))
          expected.push(...whole)
        }
        open.push({ lines, expected })
        for (const each of open) {
          expect(recordsIn(each.lines)).toEqual(each.expected)
          const accounts = each.expected.map((_, index) => each.lines.accountOf(index))
          expect(accounts).toEqual(each.expected.map(({ accountId }) => accountId))
        }
        while (open.length >= mostOpen) open.shift()?.lines.letGo()
      }
    }),
    { numRuns: 30 },
  )
})

test('lines of a file say what their calls are, and whose, whatever their texts hold', () => {
  fc.assert(
    fc.property(fc.array(anyCallRecord, { maxLength: 20 }), (records) => {
      const whole = records.map(toWholeRecord)
      const lines = new KeptLines(new SpareBuffers())
      for (const record of whole)
        lines.appendLine(Buffer.from(encodeRecordLine(record).slice(0, -1)))
      expect(recordsIn(lines)).toEqual(whole)
      const heads = whole.map((_, index) => [lines.idOf(index), lines.accountOf(index)])
      expect(heads).toEqual(whole.map(({ id, accountId }) => [id, accountId]))
    }),
  )
})

test('lines that were let go are read no more, and a call that is not there is an error', () => {
  const lines = new KeptLines(new SpareBuffers())
  lines.append(linesOf([createCallRecord()]))
  expect(() => lines.read(1)).toThrow(RangeError)
  expect(() => lines.accountOf(1)).toThrow(RangeError)
  lines.letGo()
  expect(() => lines.read(0)).toThrow('was released')
})
