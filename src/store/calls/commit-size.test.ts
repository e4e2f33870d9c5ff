import { expect, test } from 'bun:test'
import { CommitSize, MOST_ROWS } from './commit-size.ts'

test('grows while commits are quick, up to its bound, and is halved when one takes long', () => {
  const size = new CommitSize()
  const first = size.rows
  size.note(first, 0.1)
  expect(size.rows).toBe(2 * first)
  for (let commits = 0; commits < 10; commits += 1) size.note(size.rows, 0.1)
  expect(size.rows).toBe(MOST_ROWS)
  size.note(MOST_ROWS, 0.7)
  expect(size.rows).toBe(MOST_ROWS)
  size.note(MOST_ROWS, 16)
  expect(size.rows).toBe(MOST_ROWS / 2)
})

test('never falls to zero, and a small commit that took long counts by its own size', () => {
  const size = new CommitSize()
  size.note(64, 5)
  expect(size.rows).toBe(32)
  for (let commits = 0; commits < 10; commits += 1) size.note(size.rows, 5)
  expect(size.rows).toBe(32)
})

test('does not grow after a quick commit of few rows', () => {
  const size = new CommitSize()
  const first = size.rows
  size.note(1, 0.01)
  expect(size.rows).toBe(first)
})
