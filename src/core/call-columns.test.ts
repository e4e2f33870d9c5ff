import { expect, test } from 'bun:test'
import type { CallColumn } from './call-column.ts'
import { CALL_COLUMNS, NAME_COLUMNS } from './call-columns.ts'

/** Columns 1 to 16 are in every line; a line ends with the last column that its call has. */
const IN_EVERY_LINE = 16

const list: readonly CallColumn[] = Object.values(CALL_COLUMNS)
const later = list
  .filter(({ line }) => line > IN_EVERY_LINE)
  .toSorted((left, right) => left.line - right.line)
const cells = list.flatMap((column): readonly { column: string; csv: number | null }[] =>
  'parts' in column ? Object.values(column.parts) : [column],
)
const fromOne = (length: number) => Array.from({ length }, (_, index) => index + 1)
const sorted = (places: readonly number[]) => places.toSorted((left, right) => left - right)

test('every place of the line is given once', () => {
  expect(sorted(list.map(({ line }) => line))).toEqual(fromOne(list.length))
})

test('every place of the export is given once', () => {
  const names = Object.values(NAME_COLUMNS).map(({ csv }) => csv)
  const places = [...names, ...cells.flatMap(({ csv }) => csv ?? [])]
  expect(sorted(places)).toEqual(fromOne(places.length))
})

test('every column of the table is given once', () => {
  const names = cells.map(({ column }) => column)
  expect(new Set(names).size).toBe(names.length)
})

test('each column after those of every line is optional', () => {
  expect(later.filter(({ presence }) => presence !== 'optional')).toEqual([])
})

test('what is exported or a fact of the dashboard is in the answers', () => {
  const unanswered = list.filter(({ body }) => body === null)
  expect(
    unanswered.filter((each) => 'parts' in each || each.csv !== null || each.fact !== undefined),
  ).toEqual([
    // Only lines and rows contain the account.
  ])
})
