/**
 * Providers whose name in the price table is another one are found there; those of no table have no
 * price.
 */
import { expect, test } from 'bun:test'
import type { Cost } from '../../src/core/cost.ts'
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import { PriceBook } from '../../src/ledger/price-book.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { pricingOf } from '../../src/providers/define.ts'

const book = new PriceBook({
  providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
})

const AT = Date.parse('2026-11-01T12:00:00Z')

test.each<[target: string, status: Cost['status']]>([
  ['openai/gpt-4o', 'exact'],
  ['azure-openai/gpt-4o', 'estimated'],
  ['azure-openai/our-deployment', 'unknown'],
  ['gemini/gemini-2.5-pro', 'exact'],
  ['vertex/gemini-2.5-pro', 'exact'],
  ['vertex-anthropic/claude-sonnet-4-5@20250929', 'exact'],
  ['sandbox/fast', 'exact'],
  ['our-own-provider/gpt-4o', 'unknown'],
])('%s is priced: %s', (target, status) => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    cacheWriteTokens: 0,
  }
  const cost = book.costOf({
    accountId: DEFAULT_ACCOUNT,
    target,
    usage,
    startedAt: Date.parse('2026-11-01T12:00:00Z'),
  })
  expect(cost.status).toBe(status)
  if (status === 'unknown') expect(cost.nanoUsd).toBeNull()
})

test.each([
  'openai/gpt-4o-mini-search-preview',
  'openai/gpt-5-search-api',
  'openai/gpt-4o-audio-preview',
  'openai/gpt-audio-mini',
  'azure-openai/gpt-4o-search-preview',
  'openrouter/openai/gpt-4o-search-preview',
  'openrouter/perplexity/sonar',
  'openrouter/perplexity/llama-3.1-sonar-small-128k-online',
  'openrouter/relace/relace-search',
  'openrouter/google/gemini-2.5-flash-image',
  'openrouter/openai/gpt-audio',
  'openrouter/openai/o4-mini-deep-research',
  'perplexity/sonar-deep-research',
  'perplexity/sonar-pro-search',
  'perplexity/llama-3.1-sonar-small-128k-online',
])('%s charges for more than the table lists: it has no price for a limit in money', (target) => {
  expect(book.isPriced(DEFAULT_ACCOUNT, target, { at: AT })).toBe(false)
  const { status } = book.costOf({
    accountId: DEFAULT_ACCOUNT,
    target,
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      cacheWriteTokens: 0,
    },
    startedAt: AT,
  })
  expect(status).not.toBe('exact')
})

test.each([
  'openai/gpt-4o-mini',
  'openai/o3-deep-research',
  'openrouter/openai/gpt-4o',
  'perplexity/sonar',
  'gemini/gemini-2.5-flash-image',
])('%s has a price for a limit in money', (target) => {
  expect(book.isPriced(DEFAULT_ACCOUNT, target, { at: AT })).toBe(true)
})

test('what a model for pictures writes is counted at the price of pictures: no report tells them from text', () => {
  const usage = {
    inputTokens: 0,
    outputTokens: 1_290,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  }
  const target = 'gemini/gemini-2.5-flash-image'
  const cost = book.costOf({ accountId: DEFAULT_ACCOUNT, target, usage, startedAt: AT })
  expect(cost).toMatchObject({ nanoUsd: 38_700_000, status: 'estimated' })
})

const idsOf = (providerId: string) => book.modelsOf(providerId, AT).map(({ id }) => id)

test('the offered models of a provider are its own, with their prices', () => {
  expect(book.modelsOf('openai', AT).find(({ id }) => id === 'gpt-4o')).toMatchObject({
    inputUsdPerMillion: 2.5,
    outputUsdPerMillion: 10,
    contextTokens: 128_000,
  })
  expect(idsOf('vertex').every((id) => id.startsWith('gem'))).toBe(true)
  expect(idsOf('vertex-anthropic').every((id) => id.startsWith('claude'))).toBe(true)
  expect(idsOf('vertex-anthropic').length).toBeGreaterThan(3)
  expect(book.modelsOf('sandbox', AT)[0]).toMatchObject({ id: 'echo', inputUsdPerMillion: 0 })
  expect(idsOf('our-own-provider')).toEqual([])
})

test('a time-dependent price is that of the moment, and each listed model has a price or none', () => {
  for (const { id } of catalog) {
    for (const model of book.modelsOf(id, AT)) {
      const { inputUsdPerMillion: input, outputUsdPerMillion: output } = model
      const isPriced = [input, output].every((price) => price === undefined || price >= 0)
      expect({ id, model: model.id, isPriced }).toEqual({ id, model: model.id, isPriced: true })
    }
  }
})
