/**
 * The record in memory and the record in the journal's line are one: a row does not tell which of
 * them it came from.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import type { CallColumn } from '../core/call-column.ts'
import { CALL_COLUMNS } from '../core/call-columns.ts'
import { toRow, toRowValues } from '../store/calls/call-rows.ts'
import { sumCalls } from '../store/usage/sum-calls.ts'
import { anyCallRecord, NUMBER_COLUMNS } from './any-call-record.fixture.ts'
import { toLineMembers, toWholeRecord } from './call-line.ts'
import { createCallRecord } from './call-record.fixture.ts'
import { decodeRecordLine, encodeRecordLine } from './record-line.ts'

/** Whatever arithmetic and providers make of one. */
const oddNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(-0, -0.2, 0.5, 1e30, Number.NaN, Number.POSITIVE_INFINITY, 3_599_999.6),
  fc.nat(),
)
const odd = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined })

/** Any record, some of whose numbers are no counts. */
const anyOddRecord: fc.Arbitrary<CallRecord> = fc
  .record({
    record: anyCallRecord,
    numbers: fc.record(Object.fromEntries(NUMBER_COLUMNS.map((name) => [name, odd(oddNumber)]))),
    usage: odd(
      fc.record({
        inputTokens: oddNumber,
        outputTokens: oddNumber,
        cachedInputTokens: oddNumber,
        reasoningTokens: oddNumber,
      }),
    ),
    cacheWriteTokens: odd(oddNumber),
    nanoUsd: odd(oddNumber),
    afterMs: odd(oddNumber),
  })
  .map(({ record, numbers, usage, nanoUsd, afterMs, cacheWriteTokens }) => ({
    ...record,
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
    ...(usage === undefined ? {} : { usage }),
    ...(cacheWriteTokens !== undefined && record.usage !== null
      ? { usage: { ...record.usage, cacheWriteTokens } }
      : {}),
    ...(nanoUsd === undefined
      ? {}
      : { cost: { nanoUsd, status: 'exact', source: 'test@1' } as const }),
    ...(afterMs === undefined
      ? {}
      : { attemptDetails: [{ target: 'p/m', status: 500, afterMs, durationMs: afterMs }] }),
  }))

function readBack(record: CallRecord): CallRecord {
  const read = decodeRecordLine(new TextEncoder().encode(encodeRecordLine(record).slice(0, -1)))
  if (typeof read !== 'object') throw new Error('its line is damaged')
  return read
}

test.each([
  ['any record', anyCallRecord],
  ['one with odd numbers', anyOddRecord],
])('row, bound values and sums are the same from memory as from the line: %s', (_name, records) => {
  fc.assert(
    fc.property(records, (record) => {
      const whole = toWholeRecord(record)
      const read = readBack(whole)
      expect(toRow(whole)).toStrictEqual(toRow(read))
      expect(toRowValues(whole)).toStrictEqual(Object.values(toRow(read)))
      expect(sumCalls([whole])).toStrictEqual(sumCalls([read]))
    }),
    { numRuns: 1000 },
  )
})

const columns: readonly (readonly [string, CallColumn])[] = Object.entries(CALL_COLUMNS)

test('line and row have each value at the position that the list of columns gives', () => {
  const plain = columns.flatMap(([name, column]) =>
    'parts' in column || column.type === 'attempts' ? [] : [{ name, ...column }],
  )
  const parts = columns.flatMap(([name, column]) =>
    'parts' in column
      ? Object.entries(column.parts).map(([part, { column }]) => ({ name, part, column }))
      : [],
  )
  const recordOf = (record: CallRecord): Readonly<Record<string, unknown>> => ({ ...record })
  fc.assert(
    fc.property(anyCallRecord, (record) => {
      const members = toLineMembers(record)
      const row: Readonly<Record<string, unknown>> = { ...toRow(record) }
      for (const { name, line, column } of plain) {
        const value = recordOf(record)[name] ?? null
        expect(members[line] ?? null).toBe(value)
        expect(row[column]).toBe(typeof value === 'boolean' ? Number(value) : value)
      }
      for (const { name, part, column } of parts) {
        const value = recordOf(record)[name] ?? null
        if (value !== null) expect(row[column]).toBe(Reflect.get(Object(value), part) ?? null)
      }
    }),
  )
})

test('a record that is whole already is not copied', () => {
  fc.assert(fc.property(anyCallRecord, (record) => toWholeRecord(record) === record))
})

test('-0, which no line can hold, is 0 in memory too', () => {
  expect(Object.is(toWholeRecord(createCallRecord({ durationMs: -0.2 })).durationMs, 0)).toBe(true)
})
