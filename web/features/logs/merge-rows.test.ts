import { describe, expect, test } from 'bun:test'
import type { Log } from './log-filter.ts'
import { findFresh, mergeRows } from './merge-rows.ts'

const row = (second: number, id = `req_${second}`) =>
  ({ id, startedAt: new Date(second * 1_000).toISOString() }) as Log
const rows = (...seconds: readonly number[]) => seconds.map((second) => row(second))
const ids = (merged: readonly Log[]) => merged.map(({ id }) => id)

describe('calls that ended since', () => {
  test('come where they began, not where they ended', () => {
    expect(mergeRows(rows(9, 7, 5), rows(10, 6), false)).toEqual(rows(10, 9, 7, 6, 5))
  })

  test('are shown once, also when a page brings them again', () => {
    expect(mergeRows(rows(9, 7, 5), rows(9, 8, 7), false)).toEqual(rows(9, 8, 7, 5))
  })

  test('that are older than what is loaded wait for their page', () => {
    expect(mergeRows(rows(9, 7), rows(3), false)).toEqual(rows(9, 7))
    expect(mergeRows(rows(9, 7), rows(3), true)).toEqual(rows(9, 7, 3))
  })

  test('of one millisecond are ordered by their ids', () => {
    expect(ids(mergeRows([row(1, 'b')], [row(1, 'c'), row(1, 'a')], true))).toEqual(['c', 'b', 'a'])
  })
})

test('what is known is not fresh', () => {
  expect(findFresh(rows(9, 7, 5, 3), rows(10, 9, 8, 7))).toEqual(rows(10, 8))
  expect(findFresh([], rows(2, 1))).toEqual(rows(2, 1))
  expect(findFresh(rows(9), [])).toEqual([])
})
