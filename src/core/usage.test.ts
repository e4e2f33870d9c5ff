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
    const whole = { ...USAGE, cachedInputTokens: 0, reasoningTokens: 0 }
    const usage = toTrueUsage({ ...whole, [name]: -0 })
    expect(usage).toStrictEqual({ ...whole, [name]: 0 })
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

describe('a part that is greater than its whole is cut to it, which the usage says', () => {
  test.each([
    ['cached input', { cachedInputTokens: 13 }, { cachedInputTokens: 12 }],
    ['cache writes', { cacheWriteTokens: 11 }, { cacheWriteTokens: 10 }],
    [
      'cache writes of an input that was all cached',
      { cachedInputTokens: 30, cacheWriteTokens: 4 },
      { cachedInputTokens: 12, cacheWriteTokens: 0 },
    ],
    ['reasoning', { reasoningTokens: 6 }, { reasoningTokens: 5 }],
    [
      'audio input',
      { audio: { input: 13, cachedInput: 0, output: 0 } },
      { audio: { input: 12, cachedInput: 0, output: 0 } },
    ],
    [
      'cached audio',
      { audio: { input: 2, cachedInput: 3, output: 0 } },
      { audio: { input: 2, cachedInput: 2, output: 0 } },
    ],
    [
      'audio output',
      { audio: { input: 0, cachedInput: 0, output: 6 } },
      { audio: { input: 0, cachedInput: 0, output: 5 } },
    ],
  ])('%s', (_name, reported, cut) => {
    const usage = toTrueUsage({ ...USAGE, ...reported })
    expect(usage).toEqual({ ...USAGE, ...cut, hasCutParts: true })
    // The ledger checks the usage again.
    expect(toTrueUsage(usage)).toBe(usage as never)
  })

  test('but a part as great as its whole is as reported', () => {
    const all = {
      ...USAGE,
      ...{ cachedInputTokens: 8, cacheWriteTokens: 4, reasoningTokens: 5 },
      audio: { input: 12, cachedInput: 12, output: 5 },
    }
    expect(toTrueUsage(all)).toBe(all)
  })
})
