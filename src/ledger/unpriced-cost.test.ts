/** Costs of models without a known price, where a limit counts them at an estimate. */
import { describe, expect, test } from 'bun:test'
import { UNKNOWN_COST } from '../core/cost.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { ModelOverlay } from '../core/model-overlay.ts'
import type { CallToPrice } from './call-to-price.ts'
import type { ProviderPricing } from './known-target.ts'
import { familyOf } from './model-family.ts'
import { PriceBook } from './price-book.ts'
import { tableOf } from './price-table.fixture.ts'

const AT = Date.parse('2026-11-20T12:00:00Z')
const listedModel = (id: string, input: number, output: number) => ({
  ...{ id, name: undefined, contextTokens: undefined },
  prices: { input_mtok: input, output_mtok: output },
})

const book = new PriceBook({
  providers: new Map<string, ProviderPricing>([
    ['p', { type: 'listed', name: 'p' }],
    ['local', { type: 'listed', name: 'local', isSelfHosted: true }],
    ['acme', { type: 'declared', prices: new Map() }],
  ]),
  overlay: new ModelOverlay([{ model: 'p/nova-3-max', prices: [{ input: 9, output: 30 }] }], {
    input: 6,
    output: 20,
    embedding: 0.5,
  }),
  loadTable: () =>
    tableOf({
      models: () => [
        listedModel('nova-1', 1, 50),
        listedModel('nova-2', 7, 10),
        listedModel('nova-2-mini', 100, 100),
        listedModel('embed-1', 0.7, 0),
      ],
    }),
})

const costOf = (target: string, changes: Partial<CallToPrice> = {}) =>
  book.costOf({
    ...{ accountId: DEFAULT_ACCOUNT, target, startedAt: AT, estimateAs: 'text' },
    usage: { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 900, reasoningTokens: 0 },
    ...changes,
  })

describe('a model without a known price', () => {
  test.each([
    ["is charged at the operator's price", 'p/other-4', 6_000_000 + 2_000_000],
    ['or at the highest of its family, each kind for itself', 'p/nova-2.5', 7_000_000 + 5_000_000],
    ["which includes the operator's entries", 'p/nova-4-max', 9_000_000 + 3_000_000],
    ["also at a provider of the operator's own", 'acme/large', 6_000_000 + 2_000_000],
    ["as an account's own model without prices", 'owned/mine', 6_000_000 + 2_000_000],
    ['is free on a self-hosted server', 'local/llama', 0],
  ])('%s', (_name, target, nanoUsd) => {
    const cost = { nanoUsd, status: 'estimated', source: 'unpriced' } as const
    expect(costOf(target)).toEqual(cost)
    expect(costOf(target, { estimateAs: undefined }).status).toBe('unknown')
    // Without usage there is nothing to charge.
    expect(costOf(target, { usage: null }).status).toBe('unknown')
  })

  test('has a price of its own for embeddings', () => {
    expect(costOf('p/vectors-1', { estimateAs: 'embedding' }).nanoUsd).toBe(500_000)
    expect(costOf('p/embed-2', { estimateAs: 'embedding' }).nanoUsd).toBe(700_000)
  })

  test('is charged for the tools that it used too', () => {
    const cost = costOf('p/other-4', { tools: ['webSearch'], toolUses: { webSearch: 2 } })
    expect(cost).toMatchObject({ nanoUsd: 8_000_000, status: 'estimated' })
  })

  test('keeps its estimate until it has a price', () => {
    const call = {
      ...{ accountId: DEFAULT_ACCOUNT, target: 'p/other-4', startedAt: AT },
      usage: { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 },
    }
    const cost = book.costOf({ ...call, estimateAs: 'text' })
    expect(book.recompute(call, cost)).toEqual(cost)
    const priced = new PriceBook({
      providers: new Map([['p', { type: 'listed', name: 'p' }]]),
      overlay: new ModelOverlay([{ model: 'p/other-4', prices: [{ input: 1, output: 1 }] }]),
    })
    // Rows of earlier versions do not say why their cost is an estimate.
    expect(priced.recompute(call, cost)).toMatchObject({ nanoUsd: 1_100_000, status: 'estimated' })
    for (const [isUsageEstimated, status] of [
      [false, 'exact'],
      [true, 'estimated'],
    ] as const)
      expect(priced.recompute({ ...call, isUsageEstimated }, cost)).toMatchObject({
        ...{ nanoUsd: 1_100_000, status, source: expect.stringMatching(/^overlay:/) },
      })
  })

  test('stays an estimate with a price, where the price is that of a similar model', () => {
    const call = {
      ...{ accountId: DEFAULT_ACCOUNT, target: 'p/other-4', startedAt: AT },
      usage: { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 },
      isUsageEstimated: false,
    }
    const similar = new PriceBook({
      providers: new Map([['p', { type: 'listed', name: 'p' }]]),
      overlay: new ModelOverlay([
        { model: 'p/other-4', like: 'p/other-3' },
        { model: 'p/other-3', prices: [{ input: 1, output: 1 }] },
      ]),
    })
    const cost = similar.recompute(call, book.costOf({ ...call, estimateAs: 'text' }))
    expect(cost).toMatchObject({ nanoUsd: 1_100_000, status: 'estimated' })
    const [wrong = ''] = [cost?.source ?? undefined]
    const declared = new PriceBook({
      providers: new Map([['p', { type: 'listed', name: 'p' }]]),
      overlay: new ModelOverlay([{ model: 'p/other-4', prices: [{ input: 1, output: 1 }] }]),
    })
    expect(declared.recompute(call, cost, [wrong])).toMatchObject({
      ...{ nanoUsd: 1_100_000, status: 'exact', source: expect.not.stringMatching(wrong) },
    })
  })

  test('is an estimate again when its unknown cost gets a price, if its usage was estimated', () => {
    const call = {
      ...{ accountId: DEFAULT_ACCOUNT, target: 'p/nova-3-max', startedAt: AT },
      usage: { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 },
    }
    const status = (isUsageEstimated?: boolean) =>
      book.recompute({ ...call, isUsageEstimated }, UNKNOWN_COST)?.status
    expect([status(), status(false), status(true)]).toEqual(['exact', 'exact', 'estimated'])
  })
})

test.each([
  ['gpt-6.2-sol', 'gpt-6-sol'],
  ['claude-fable-5-2', 'claude-fable-5-1-20261001'],
  ['deepseek-v4.1-flash', 'deepseek-v4-flash'],
  ['gemini-4-neon-preview', 'gemini-3-neon'],
  ['grok-4.7', 'grok-4-latest'],
])('%s is of the family of %s', (one, other) => {
  expect(familyOf(one)).toBe(familyOf(other))
  expect(familyOf(one)).not.toBe(familyOf(`${other}-mini`))
})
