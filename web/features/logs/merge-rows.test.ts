import { describe, expect, test } from 'bun:test'
import type { Log } from './log-filter.ts'
import { findFresh, mergeRows } from './use-log-rows.ts'

const row = (second: number, id = `req_${second}`) =>
  ({ id, startedAt: new Date(second * 1_000).toISOString() }) as Log
const rows = (...seconds: readonly number[]) => seconds.map((second) => row(second))
const ids = (merged: readonly Log[]) => merged.map(({ id }) => id)

describe('calls that ended since', () => {
  test('are placed by their beginning, not by their end', () => {
    expect(mergeRows(rows(9, 7, 5), rows(10, 6), false)).toEqual(rows(10, 9, 7, 6, 5))
  })

  test('are shown once, even if a page brings them again', () => {
    expect(mergeRows(rows(9, 7, 5), rows(9, 8, 7), false)).toEqual(rows(9, 8, 7, 5))
  })

  test('wait for their page if they are older than the loaded rows', () => {
    expect(mergeRows(rows(9, 7), rows(3), false)).toEqual(rows(9, 7))
    expect(mergeRows(rows(9, 7), rows(3), true)).toEqual(rows(9, 7, 3))
  })

  test('are ordered by their ids within a millisecond', () => {
    expect(ids(mergeRows([row(1, 'b')], [row(1, 'c'), row(1, 'a')], true))).toEqual(['c', 'b', 'a'])
  })
})

test('a known row is not fresh', () => {
  expect(findFresh(rows(9, 7, 5, 3), rows(10, 9, 8, 7))).toEqual(rows(10, 8))
  expect(findFresh([], rows(2, 1))).toEqual(rows(2, 1))
  expect(findFresh(rows(9), [])).toEqual([])
})
