/** Names that may stand for another model than the table says, and days without peak hours. */
import { describe, expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { catalog } from '../providers/catalog.ts'
import { pricingOf } from '../providers/define.ts'
import { PriceBook } from './price-book.ts'

const book = new PriceBook({
  providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
})
const USAGE = { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 }
const costOf = (target: string, answeredBy?: string, time = '2026-11-20T12:00:00Z') =>
  book.costOf({
    ...{ accountId: DEFAULT_ACCOUNT, target, usage: USAGE, startedAt: Date.parse(time) },
    answeredBy,
  })

describe('an alias', () => {
  test.each([
    ['mistral/mistral-large-latest', 'mistral-large-2512', 500_000 + 150_000],
    ['mistral/mistral-large', 'mistral-large-2512', 500_000 + 150_000],
    ['mistral/codestral-latest', 'codestral-2508', 300_000 + 90_000],
    ['deepseek/deepseek-chat', 'deepseek-v4-flash', 220_000 + 66_000],
  ])('%s is priced as the model %s that the answer names', (target, answeredBy, nanoUsd) => {
    const source = `${book.source}+answered`
    expect(costOf(target, answeredBy)).toEqual({ nanoUsd, status: 'exact', source })
  })

  test.each([
    ['mistral/mistral-large-latest', 'mistral-large-latest'],
    ['mistral/mistral-large-latest', 'mistral-large'],
    ['mistral/mistral-large-latest', 'mistral-large-9912'],
    ['mistral/mistral-large-latest', undefined],
    ['deepseek/deepseek-reasoner', 'deepseek-reasoner'],
  ])('%s is an estimate where the answer names %p', (target, answeredBy) => {
    expect(costOf(target, answeredBy)).toMatchObject({ status: 'estimated', source: book.source })
  })

  test('is no name with a version, and its cost in a row is not recomputed as another', () => {
    expect(costOf('openai/gpt-5', 'gpt-5-2025-08-07').status).toBe('exact')
    expect(costOf('openai/gpt-5').status).toBe('exact')
    const target = 'mistral/mistral-large-latest'
    const cost = costOf(target, 'mistral-large-2512')
    const row = { accountId: DEFAULT_ACCOUNT, target, usage: USAGE, startedAt: Date.now() }
    expect(book.recompute(row, cost)).toBeUndefined()
  })
})

test('a retired name is an estimate', () => {
  expect(costOf('mistral/devstral-small-2505', 'devstral-small-2505').status).toBe('estimated')
})

test.each([
  ['a weekday at a peak hour', '2026-11-20T02:00:00Z', 440_000 + 132_000],
  ['a weekday off peak', '2026-11-20T12:00:00Z', 220_000 + 66_000],
  ['a Saturday at a peak hour', '2026-11-21T02:00:00Z', 220_000 + 66_000],
  ['a Sunday at a peak hour', '2026-11-22T09:59:00Z', 220_000 + 66_000],
  ['a Monday at a peak hour', '2026-11-23T01:00:00Z', 440_000 + 132_000],
  ['a Saturday before the rule', '2026-08-22T02:00:00Z', 440_000 + 132_000],
])('%s has its own price', (_name, time, nanoUsd) => {
  expect(costOf('deepseek/deepseek-v4-flash', 'deepseek-v4-flash', time)).toMatchObject({
    nanoUsd,
    status: 'exact',
  })
})
