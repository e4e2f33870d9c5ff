/**
 * A report counts where each of its numbers is a count, and a zero is a zero however it was
 * spelled.
 */
import { describe, expect, test } from 'bun:test'
import { isCount, toTrueUsage } from './usage.ts'

const USAGE = { inputTokens: 12, outputTokens: 5, cachedInputTokens: 2, reasoningTokens: 1 }

test('a report of counts is passed on unchanged', () => {
  expect(toTrueUsage(USAGE)).toBe(USAGE)
  const withWrites = { ...USAGE, cacheWriteTokens: 3 }
  expect(toTrueUsage(withWrites)).toBe(withWrites)
})

describe.each([...Object.keys(USAGE), 'cacheWriteTokens'])('%s', (name) => {
  test('of -0 counts as 0', () => {
    const usage = toTrueUsage({ ...USAGE, [name]: -0 })
    expect(usage).toStrictEqual({ ...USAGE, [name]: 0 })
    expect(Object.values(usage ?? {}).every(isCount)).toBe(true)
  })

  test.each([
    -1,
    1.5,
    1e30,
    1_000_000_001,
    Number.MAX_SAFE_INTEGER,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('of %d invalidates the report', (count) => {
    expect(toTrueUsage({ ...USAGE, [name]: count })).toBeNull()
  })
})

test('an answer without usage has no reported usage', () => {
  expect([toTrueUsage(null), toTrueUsage(undefined)]).toEqual([null, null])
})
