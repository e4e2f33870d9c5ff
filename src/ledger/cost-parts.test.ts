/**
 * Each count at its price, and tokens without a price of their own with those that they are part
 * of.
 */
import { describe, expect, test } from 'bun:test'
import type { Usage } from '../core/usage.ts'
import { partsOfListed, partsOfOwned, rateOf, writtenTokens } from './cost-parts.ts'

function usage(changes: Partial<Usage> = {}): Usage {
  return {
    inputTokens: 1000,
    outputTokens: 100,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    ...changes,
  }
}

describe('a listed price', () => {
  test('prices every kind that has a separate price', () => {
    const prices = {
      ...{ input_mtok: 2, output_mtok: 8, cache_read_mtok: 0.5, cache_write_mtok: 3 },
      ...{ output_reasoning_mtok: 20, requests_kcount: 5 },
    }
    const counts = { cachedInputTokens: 300, cacheWriteTokens: 200, reasoningTokens: 40 }
    expect(partsOfListed(prices, usage(counts))).toEqual([
      { kind: 'input', count: 500, usdPerMillion: 2 },
      { kind: 'cachedInput', count: 300, usdPerMillion: 0.5 },
      { kind: 'cacheWrite', count: 200, usdPerMillion: 3 },
      { kind: 'output', count: 60, usdPerMillion: 8 },
      { kind: 'reasoning', count: 40, usdPerMillion: 20 },
      { kind: 'request', count: 1, usdPerMillion: 5000 },
    ])
  })

  test('counts a kind without a price under the kind that contains it', () => {
    const counts = { cachedInputTokens: 300, cacheWriteTokens: 200, reasoningTokens: 40 }
    expect(partsOfListed({ input_mtok: 2, output_mtok: 8 }, usage(counts))).toEqual([
      { kind: 'input', count: 1000, usdPerMillion: 2 },
      { kind: 'output', count: 100, usdPerMillion: 8 },
    ])
  })

  test.each([
    ['input', { output_mtok: 8 }, { kind: 'input' as const, count: 1000, usdPerMillion: 0 }],
    ['output', { input_mtok: 2 }, { kind: 'output' as const, count: 100, usdPerMillion: 0 }],
  ])('charges nothing for %s without a price', (_, prices, part) => {
    expect(partsOfListed(prices, usage())).toContainEqual(part)
  })

  test('is unknown without a price for both input and output', () => {
    expect(partsOfListed({ cache_read_mtok: 1, requests_kcount: 5 }, usage())).toBeUndefined()
  })

  test('never counts more of a part than there is of the whole', () => {
    const prices = { input_mtok: 2, output_mtok: 8, cache_read_mtok: 1, output_reasoning_mtok: 20 }
    const counts = { cachedInputTokens: 5000, reasoningTokens: 700 }
    expect(partsOfListed(prices, usage(counts))).toEqual([
      { kind: 'cachedInput', count: 1000, usdPerMillion: 1 },
      { kind: 'reasoning', count: 100, usdPerMillion: 20 },
    ])
  })

  test('applies a tier to all tokens once the input is longer than its start', () => {
    const tiered = {
      base: 1,
      tiers: [
        { start: 1000, price: 2 },
        { start: 5000, price: 3 },
      ],
    }
    expect([1000, 1001, 5000, 5001].map((tokens) => rateOf(tiered, tokens))).toEqual([1, 2, 2, 3])
    expect(
      partsOfListed({ input_mtok: 1, output_mtok: tiered }, usage({ inputTokens: 1001 })),
    ).toContainEqual({
      ...{ kind: 'output', count: 100, usdPerMillion: 2 },
    })
  })
})

test('a declared price is cents for a million tokens', () => {
  const prices = { input: 250, output: 1000, cachedInput: 25 }
  expect(partsOfOwned(prices, usage({ cachedInputTokens: 400 }))).toEqual([
    { kind: 'input', count: 600, usdPerMillion: 2.5 },
    { kind: 'cachedInput', count: 400, usdPerMillion: 0.25 },
    { kind: 'output', count: 100, usdPerMillion: 10 },
  ])
  expect(partsOfOwned(prices, usage({ cachedInputTokens: 4000, outputTokens: 0 }))).toEqual([
    { kind: 'cachedInput', count: 1000, usdPerMillion: 0.25 },
  ])
})

test('tokens read from the cache do not count as written to it', () => {
  expect(writtenTokens(usage())).toBe(0)
  expect(writtenTokens(usage({ cachedInputTokens: 900, cacheWriteTokens: 300 }))).toBe(100)
  expect(writtenTokens(usage({ cachedInputTokens: 100, cacheWriteTokens: 300 }))).toBe(300)
  expect(writtenTokens(usage({ cachedInputTokens: 2000, cacheWriteTokens: 300 }))).toBe(0)
})
