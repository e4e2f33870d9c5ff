/** Costs by the operator's entries: which entry, which date, length and tier, and what `like` adds. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { DatedPrices, ModelEntry } from '../core/model-entry.ts'
import { ModelOverlay } from '../core/model-overlay.ts'
import type { Usage } from '../core/usage.ts'
import type { CallToPrice } from './call-to-price.ts'
import type { ProviderPricing } from './known-target.ts'
import { PriceBook } from './price-book.ts'

const AT = Date.parse('2026-11-20T12:00:00Z')

function bookOf(entries: readonly ModelEntry[], used: string[] = []): PriceBook {
  return new PriceBook({
    providers: new Map<string, ProviderPricing>([
      ['openai', { type: 'listed', name: 'openai' }],
      ['mistral', { type: 'listed', name: 'mistral' }],
      ['sandbox', { type: 'free' }],
      [
        'acme',
        {
          type: 'declared',
          prices: new Map([
            ['large', { input: 2, output: 8, cachedInput: 1 }],
            ['*', { input: 20, output: 80 }],
          ]),
        },
      ],
    ]),
    overlay: new ModelOverlay(entries),
    onUsed: ({ hash, text }) => used.push(`${hash} ${text}`),
  })
}

function usageOf(changes: Partial<Usage> = {}): Usage {
  return {
    ...{ inputTokens: 1000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 },
    ...changes,
  }
}

function costOf(
  entries: readonly ModelEntry[],
  target: string,
  { usage = usageOf(), ...changes }: Partial<CallToPrice> = {},
) {
  return bookOf(entries).costOf({
    ...{ accountId: DEFAULT_ACCOUNT, target, usage, startedAt: AT, ...changes },
  })
}

const prices: readonly DatedPrices[] = [{ input: 4, output: 10 }]

describe('an entry', () => {
  test.each([
    ['of a model that the table does not list', 'openai/gpt-next'],
    ['of one that it lists', 'openai/gpt-5'],
    ["of a configured provider's model", 'acme/new'],
    ["of one with a price beside its provider's address", 'acme/large'],
    ['of a provider that nothing else is known of', 'other/model'],
    ['of a free provider', 'sandbox/echo'],
  ])('%s decides the price', (_name, target) => {
    const cost = costOf([{ model: target, prices }], target)
    expect(cost).toEqual({
      nanoUsd: 5_000_000,
      status: 'exact',
      source: expect.stringMatching(/^overlay:[0-9a-f]{12}$/),
    })
  })

  test('has the price at the end of a chain of thousands', () => {
    const chain = Array.from({ length: 15_000 }, (_, at) => ({
      ...{ model: `openai/m-${at}`, facts: { contextTokens: at } },
      ...(at === 14_999 ? { prices } : { like: `openai/m-${at + 1}` }),
    }))
    expect(costOf(chain, 'openai/m-0')).toMatchObject({ nanoUsd: 5_000_000, status: 'estimated' })
    expect(bookOf(chain).factsOf('openai', 'm-7')?.contextTokens).toBe(7)
  })

  test('prices its model by its own price, whatever name the answer gives', () => {
    const model = 'mistral/mistral-large-latest'
    const cost = costOf([{ model, prices }], model, { answeredBy: 'mistral-large-2512' })
    expect(cost).toMatchObject({ nanoUsd: 5_000_000, status: 'exact' })
  })

  test('has no effect before its first date, on any provider', () => {
    const from = '2026-11-20T12:01:00Z'
    for (const target of ['openai/gpt-5', 'acme/large', 'sandbox/echo', 'openai/gpt-next']) {
      const entries = [{ model: target, prices: [{ from, input: 4, output: 10 }] }]
      expect(costOf(entries, target)).toEqual(costOf([], target))
      const startedAt = AT + 60_000
      expect(costOf(entries, target, { startedAt }).nanoUsd).toBe(5_000_000)
    }
  })

  test('of facts alone leaves the price as it is', () => {
    const facts = [{ model: 'openai/gpt-5', facts: { contextTokens: 1 } }]
    expect(costOf(facts, 'openai/gpt-5')).toEqual(costOf([], 'openai/gpt-5'))
  })

  test("with a pattern comes after a provider's own price by name, and before that of all others", () => {
    const entries = [{ model: 'acme/*', prices }]
    expect(costOf(entries, 'acme/large').nanoUsd).toBe(2_800_000)
    expect(costOf(entries, 'acme/other').nanoUsd).toBe(5_000_000)
  })

  test('is reported with its text when a call uses it', () => {
    const used: string[] = []
    const entry = { model: 'openai/gpt-next', like: 'openai/gpt-5', prices }
    const book = bookOf([entry], used)
    const call = { accountId: DEFAULT_ACCOUNT, usage: usageOf(), startedAt: AT }
    book.costOf({ ...call, target: 'openai/gpt-5' })
    expect(used).toEqual([])
    const { source } = book.costOf({ ...call, target: 'openai/gpt-next' })
    expect(used).toEqual([
      `${source?.slice('overlay:'.length)} ${JSON.stringify([entry, book.source])}`,
    ])
  })

  test('can be recomputed and explained while it stays, also for a tier', () => {
    const model = 'openai/gpt-next'
    const tiers = { priority: { input: 8, output: 20 } }
    const book = bookOf([{ model, prices: [{ input: 4, output: 10, tiers }] }])
    const call = { accountId: DEFAULT_ACCOUNT, target: model, startedAt: AT }
    const cost = book.costOf({ ...call, usage: usageOf({ served: { tier: 'priority' } }) })
    expect(cost).toMatchObject({ nanoUsd: 10_000_000, status: 'exact' })
    // Rows do not store how the call was served.
    const row = { ...call, usage: usageOf() }
    expect(book.recompute(row, cost)).toEqual(cost)
    expect(book.partsOf(row, cost)).toEqual([
      { kind: 'input', count: 1000, usdPerMillion: 8 },
      { kind: 'output', count: 100, usdPerMillion: 20 },
    ])
    const corrected = { priority: { input: 9, output: 20 } }
    const other = bookOf([{ model, prices: [{ input: 5, output: 10, tiers: corrected }] }])
    expect(other.recompute(row, cost)).toBeUndefined()
    const [wrong = ''] = cost.source?.split('*') ?? []
    expect(other.recompute(row, cost, [wrong])).toMatchObject({
      ...{ nanoUsd: 11_000_000, status: 'exact' },
      source: expect.stringMatching(/^overlay:[0-9a-f]{12}\*priority:1$/),
    })
    expect(other.recompute(row, cost, ['overlay:000000000000'])).toBeUndefined()
  })
})

describe('like', () => {
  const like = 'openai/gpt-5'

  test('fills absent prices, and the cost is estimated where one was needed', () => {
    const entries = [{ model: 'openai/gpt-next', like, prices }]
    expect(costOf(entries, 'openai/gpt-next')).toMatchObject({
      nanoUsd: 5_000_000,
      status: 'exact',
    })
    const cached = usageOf({ cachedInputTokens: 400 })
    expect(costOf(entries, 'openai/gpt-next', { usage: cached })).toMatchObject({
      nanoUsd: 600 * 4_000 + 400 * 125 + 1_000_000,
      status: 'estimated',
    })
  })

  test('alone is an estimate at the price of the other model', () => {
    const cost = costOf([{ model: 'openai/gpt-next', like }], 'openai/gpt-next')
    expect(cost).toMatchObject({ nanoUsd: 2_250_000, status: 'estimated' })
  })

  test('leads on, also to providers with declared prices', () => {
    const entries = [
      { model: 'openai/c', like: 'openai/b', prices: [{ output: 1 }] },
      { model: 'openai/b', like: 'acme/large', prices: [{ input: 3 }] },
    ]
    const usage = usageOf({ cachedInputTokens: 500 })
    expect(costOf(entries, 'openai/c', { usage }).nanoUsd).toBe(500 * 3_000 + 500 * 1_000 + 100_000)
    expect(costOf(entries, 'openai/b', { usage }).nanoUsd).toBe(500 * 3_000 + 500 * 1_000 + 800_000)
  })

  test('gives its tiers', () => {
    const entries = [
      { model: 'openai/b', like: 'openai/a', prices },
      {
        model: 'openai/a',
        prices: [{ input: 1, output: 1, tiers: { priority: { input: 9 } } }],
      },
    ]
    const usage = usageOf({ served: { tier: 'priority' } })
    expect(costOf(entries, 'openai/b', { usage })).toMatchObject({
      nanoUsd: 9_000_000 + 1_000_000,
      status: 'estimated',
    })
  })
})

test('a call keeps the prices that it holds, however many reloads follow', () => {
  const entry = (input: number) =>
    new ModelOverlay([{ model: 'openai/gpt-next', prices: [{ input, output: 0 }] }])
  const book = bookOf([])
  const costIn = (held: PriceBook) =>
    held.costOf({
      ...{ accountId: DEFAULT_ACCOUNT, target: 'openai/gpt-next', startedAt: AT },
      usage: usageOf(),
    }).nanoUsd
  const held = [book.inForce]
  for (const input of [1, 2, 3]) {
    book.replaceOverlay(entry(input))
    held.push(book.inForce)
  }
  expect(held.map(costIn)).toEqual([null, 1_000_000, 2_000_000, 3_000_000])
  expect(costIn(book)).toBe(3_000_000)
  expect(book.inForce).toBe(book.inForce)
})

// The choice of a price, against the rules in the plainest form.

const TARGETS = ['p/a', 'p/ab', 'p/abc', 'p/b'] as const
const PATTERNS = ['p/*', 'p/a*', 'p/ab*', 'p/abc*'] as const
const FROMS = [undefined, '2026-11-01', '2026-11-19T23:00:00Z', '2026-12-01'] as const
const MEMBERS = ['input', 'output', 'cachedInput'] as const

const halfDollars = fc.integer({ min: 0, max: 40 }).map((count) => count / 2)
const members = fc.record(
  { input: halfDollars, output: halfDollars, cachedInput: halfDollars },
  { requiredKeys: [] },
)
const dated: fc.Arbitrary<DatedPrices> = fc
  .record({
    from: fc.constantFrom(...FROMS),
    all: fc.record({ input: halfDollars, output: halfDollars, cachedInput: halfDollars }),
    above: fc.uniqueArray(fc.record({ inputTokens: fc.constantFrom(100, 500, 900), members }), {
      selector: ({ inputTokens }) => inputTokens,
      maxLength: 3,
    }),
    priority: fc.option(members, { nil: undefined }),
  })
  .map(({ from, all, above, priority }) => ({
    from,
    ...all,
    above: above
      .toSorted((one, other) => one.inputTokens - other.inputTokens)
      .map((step) => ({ inputTokens: step.inputTokens, ...step.members })),
    ...(priority === undefined ? {} : { tiers: { priority } }),
  }))
const entries: fc.Arbitrary<readonly ModelEntry[]> = fc.uniqueArray(
  fc.record({
    model: fc.constantFrom(...TARGETS, ...PATTERNS),
    prices: fc.uniqueArray(dated, { selector: ({ from }) => from, minLength: 1, maxLength: 4 }),
  }),
  { selector: ({ model }) => model },
)

interface AskedFor {
  readonly target: string
  readonly at: number
  readonly usage: Usage
}

function plainCost(all: readonly ModelEntry[], { target, at, usage }: AskedFor): number | null {
  const matching = all
    .filter(
      ({ model }) =>
        model === target || (model.endsWith('*') && target.startsWith(model.slice(0, -1))),
    )
    .toSorted((one, other) =>
      one.model === target
        ? -1
        : other.model === target
          ? 1
          : other.model.length - one.model.length,
    )
  const inForce = (matching[0]?.prices ?? [])
    .filter(({ from }) => from === undefined || Date.parse(from) <= at)
    .toSorted(
      (one, other) => Date.parse(other.from ?? '1970-01-01') - Date.parse(one.from ?? '1970-01-01'),
    )
  const [price] = inForce
  if (price === undefined) return null
  const rate = (member: (typeof MEMBERS)[number]): number => {
    const ofTier = usage.served?.tier === 'priority' ? price.tiers?.priority?.[member] : undefined
    if (ofTier !== undefined) return ofTier
    const steps = (price.above ?? []).filter(({ inputTokens }) => usage.inputTokens > inputTokens)
    return steps.findLast((step) => step[member] !== undefined)?.[member] ?? price[member] ?? 0
  }
  const uncached = usage.inputTokens - usage.cachedInputTokens
  return (
    (uncached * rate('input') +
      usage.cachedInputTokens * rate('cachedInput') +
      usage.outputTokens * rate('output')) *
    1_000
  )
}

test('entry, date, length and tier are chosen as the rules say', () => {
  fc.assert(
    fc.property(
      entries,
      fc.constantFrom(...TARGETS),
      fc.constantFrom(
        '2026-10-31T23:59:00Z',
        '2026-11-01T00:00:00Z',
        '2026-11-20T00:00:00Z',
        '2026-12-01T00:00:00Z',
      ),
      fc.record({
        inputTokens: fc.constantFrom(0, 100, 101, 500, 501, 1000),
        outputTokens: fc.nat(1000),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        tier: fc.constantFrom(undefined, 'standard', 'priority'),
      }),
      (all, target, time, { inputTokens, outputTokens, share, tier }) => {
        const usage = {
          ...usageOf({ inputTokens, outputTokens }),
          cachedInputTokens: Math.floor(inputTokens * share),
          ...(tier === undefined ? {} : { served: { tier } }),
        }
        const at = Date.parse(time)
        const { nanoUsd } = costOf(all, target, { usage, startedAt: at })
        expect(nanoUsd).toBe(plainCost(all, { target, at, usage }))
      },
    ),
    { numRuns: 2_000 },
  )
})
