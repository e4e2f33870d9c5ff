/** Audio costs what audio costs, where the answer tells it from text. */
import { describe, expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { Usage } from '../core/usage.ts'
import { partsOfAudio } from './listed-cost.ts'
import { PriceBook } from './price-book.ts'
import { tableOf } from './price-table.fixture.ts'

const PRICES = {
  input_mtok: 0.3,
  cache_read_mtok: 0.03,
  output_mtok: 2.5,
  input_audio_mtok: 1,
  cache_audio_read_mtok: 0.1,
  output_audio_mtok: 12.5,
}
const book = new PriceBook({
  providers: new Map([['p', { type: 'listed', name: 'p' }]]),
  loadTable: () =>
    tableOf({
      find: () => ({ prices: PRICES, isOwn: true }),
    }),
})
const usage = (audio: Usage['audio'], changes: Partial<Usage> = {}): Usage => ({
  inputTokens: 100_000,
  outputTokens: 10_000,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  ...(audio === undefined ? {} : { audio }),
  ...changes,
})
/** Billionths of a dollar. */
const costOf = (used: Usage) =>
  book.costOf({ accountId: DEFAULT_ACCOUNT, target: 'p/m', usage: used, startedAt: 0 })

describe('audio', () => {
  test('is priced as audio, each kind at its price', () => {
    const audio = { input: 60_000, cachedInput: 20_000, output: 4_000 }
    const used = usage(audio, { cachedInputTokens: 30_000 })
    const text = (30_000 * 0.3 + 10_000 * 0.03 + 6_000 * 2.5) * 1_000
    const cost = costOf(used)
    expect(cost.nanoUsd).toBe(text + (40_000 * 1 + 20_000 * 0.1 + 4_000 * 12.5) * 1_000)
    expect(cost.source).toBe(
      'test@1+inputAudio:40000@0.7+cachedInputAudio:20000@0.07+outputAudio:4000@10',
    )
  })

  test('is computed again from the row, which knows of no audio', () => {
    const used = usage({ input: 60_000, cachedInput: 0, output: 0 })
    const { audio: _, ...stored } = used
    const call = { accountId: DEFAULT_ACCOUNT, target: 'p/m', usage: stored, startedAt: 0 }
    expect(book.recompute(call, costOf(used))).toEqual(costOf(used))
    expect(book.partsOf(call, costOf(used))?.map(({ kind }) => kind)).toEqual([
      'input',
      'output',
      'inputAudio',
    ])
  })

  test('that nobody told apart is an estimate at the price of text', () => {
    expect(costOf(usage(undefined))).toEqual({
      nanoUsd: (100_000 * 0.3 + 10_000 * 2.5) * 1_000,
      status: 'estimated',
      source: 'test@1',
    })
  })

  test.each([
    ['more audio than input', { input: 900_000, cachedInput: 0, output: 900_000 }, 100_000],
    ['more cached than audio', { input: 1, cachedInput: 50, output: 0 }, 1],
  ])('is never more than its whole: %s', (_, audio, count) => {
    const parts = partsOfAudio(PRICES, usage(audio))
    expect(parts.every((part) => part.count <= 100_000)).toBe(true)
    expect(parts.find(({ kind }) => kind === 'inputAudio')?.count ?? 0).toBeLessThanOrEqual(count)
  })

  test('at no higher price than text has no part', () => {
    const prices = { ...PRICES, input_audio_mtok: 0.3, output_audio_mtok: 1 }
    expect(partsOfAudio(prices, usage({ input: 9, cachedInput: 0, output: 9 }))).toEqual([])
  })
})
