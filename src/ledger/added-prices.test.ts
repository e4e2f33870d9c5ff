/** Prices that the operator stored at run time apply to models without any other price. */
import { expect, test } from 'bun:test'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { ModelOverlay } from '../core/model-overlay.ts'
import type { ProviderPricing } from './known-target.ts'
import { PriceBook } from './price-book.ts'

const NOW = Date.parse('2026-11-28T12:00:00Z')
const providers: ReadonlyMap<string, ProviderPricing> = new Map([
  ['openai', { type: 'listed', name: 'openai' }],
  ['sandbox', { type: 'free' }],
])
const own = [{ input: 3, output: 9 }]
const usage = {
  ...{ inputTokens: 1_000_000, outputTokens: 0 },
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

function costOf(book: PriceBook, target: string) {
  const call = { accountId: DEFAULT_ACCOUNT, target, usage, startedAt: NOW }
  return book.costOf({ ...call, outcome: 'succeeded' })
}

const bookOf = (file: ConstructorParameters<typeof ModelOverlay>[0], ...models: string[]) =>
  new PriceBook({
    providers,
    overlay: new ModelOverlay(file),
    added: models.map((model) => ({ model, prices: own })),
  })

test('a stored price applies, and is a cost with an entry as its source', () => {
  const book = bookOf([], 'openai/zeta-1')
  expect(costOf(book, 'openai/zeta-1')).toEqual({
    ...{ nanoUsd: 3e9, status: 'exact' },
    source: expect.stringMatching(/^overlay:[0-9a-f]{12}$/),
  })
  expect(book.sourceWithoutAdded('openai/zeta-1', NOW)).toBeUndefined()
})

test('the file, a pattern of the file, the table and free providers come first', () => {
  const file = [
    { model: 'openai/zeta-1', prices: [{ from: '2027-01-01', input: 1, output: 1 }] },
    { model: 'openai/eta-*', prices: [{ input: 2, output: 2 }] },
  ]
  const book = bookOf(file, 'openai/zeta-1', 'openai/eta-1', 'openai/gpt-5', 'sandbox/echo')
  expect(costOf(book, 'openai/zeta-1').status).toBe('unknown')
  expect(costOf(book, 'openai/eta-1').nanoUsd).toBe(2e9)
  expect(costOf(book, 'openai/gpt-5').source).toStartWith('genai-prices@')
  expect(costOf(book, 'sandbox/echo').nanoUsd).toBe(0)
  expect(book.sourceWithoutAdded('openai/zeta-1', NOW)).toStartWith('overlay:')
  expect(book.sourceWithoutAdded('openai/gpt-5', NOW)).toStartWith('genai-prices@')
  expect(book.sourceWithoutAdded('sandbox/echo', NOW)).toBe('free')
})

test("the file's facts of a model stay when its price is stored", () => {
  const book = bookOf([{ model: 'openai/zeta-1', facts: { contextTokens: 7 } }], 'openai/zeta-1')
  expect(costOf(book, 'openai/zeta-1').nanoUsd).toBe(3e9)
  expect(book.factsOf('openai', 'zeta-1')).toEqual({ contextTokens: 7 })
})

test('a circle of the file and a stored price ends, and prices nothing', () => {
  const overlay = new ModelOverlay([{ model: 'openai/zeta-2', like: 'openai/zeta-1' }])
  const added = [{ model: 'openai/zeta-1', like: 'openai/zeta-2' }]
  const book = new PriceBook({ providers, overlay, added })
  expect(costOf(book, 'openai/zeta-1').status).toBe('unknown')
  expect(costOf(book, 'openai/zeta-2').status).toBe('unknown')
})
