import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Cost, MAX_USES_OF_CALL } from '../core/cost.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { ModelOverlay } from '../core/model-overlay.ts'
import { costOfParts } from '../core/money.ts'
import type { Usage } from '../core/usage.ts'
import type { CallToPrice } from './call-to-price.ts'
import { partsOfOwned } from './cost-parts.ts'
import type { ProviderPricing } from './known-target.ts'
import { PriceBook } from './price-book.ts'
import { tableOf } from './price-table.fixture.ts'

const MIDDAY = Date.parse('2026-11-01T12:00:00Z')
const EVENING = Date.parse('2026-11-01T22:00:00Z')
const listed = (name: string): ProviderPricing => ({ type: 'listed', name })
const free: ProviderPricing = { type: 'free' }

const book = new PriceBook({
  providers: new Map<string, ProviderPricing>([
    ...['anthropic', 'openai', 'groq', 'deepseek', 'perplexity', 'nowhere'].map(
      (id) => [id, listed(id)] as const,
    ),
    ['gemini', listed('google')],
    ['bedrock', listed('aws')],
    ['sandbox', free],
  ]),
  declaredPrices: (_account, slug) =>
    slug === 'mine'
      ? { input: 250, output: 1000, cachedInput: 25 }
      : slug === 'gratis'
        ? { input: 0, output: 0, cachedInput: 0 }
        : undefined,
})

function usage(changes: Partial<Usage> = {}): Usage {
  return {
    inputTokens: 1000,
    outputTokens: 100,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    ...changes,
  }
}

function costOf(target: string | null, changes: Partial<CallToPrice> = {}): Cost {
  return book.costOf({
    accountId: DEFAULT_ACCOUNT,
    target,
    usage: usage(),
    startedAt: MIDDAY,
    ...changes,
  })
}

test('the table is loaded once, in an idle moment or when a caller needs it', () => {
  let loads = 0
  const table = tableOf({})
  const loadTable = () => {
    loads += 1
    return table
  }
  const lazy = new PriceBook({ providers: new Map([['openai', listed('openai')]]), loadTable })
  expect([lazy.isLoaded, loads]).toEqual([false, 0])
  lazy.load()
  expect([lazy.isLoaded, loads]).toEqual([true, 1])
  expect([lazy.source, lazy.modelsOf('openai', MIDDAY), loads]).toEqual(['test@1', [], 1])
})

describe('a listed model', () => {
  const rows: readonly (readonly [
    name: string,
    target: string,
    changes: Partial<CallToPrice>,
    microUsd: number | null,
    status: string,
  ])[] = [
    ['by its name', 'openai/gpt-5', {}, 1000 * 1.25 + 100 * 10, 'exact'],
    ['by its name with a date', 'openai/gpt-5-2025-08-07', {}, 2250, 'exact'],
    [
      'with cached input, and reasoning within the output',
      'openai/gpt-5',
      { usage: usage({ cachedInputTokens: 400, reasoningTokens: 90 }) },
      600 * 1.25 + 400 * 0.125 + 100 * 10,
      'exact',
    ],
    [
      'of a family, by date',
      'anthropic/claude-opus-4-5-20251101',
      { usage: usage({ cacheWriteTokens: 0 }) },
      1000 * 5 + 100 * 25,
      'exact',
    ],
    [
      'whose cache writes are not told of',
      'anthropic/claude-opus-4-5',
      {},
      1000 * 5 + 100 * 25,
      'estimated',
    ],
    [
      'whose cache was written to, for minutes or an hour',
      'anthropic/claude-opus-4-5',
      { usage: usage({ cachedInputTokens: 100, cacheWriteTokens: 200 }) },
      700 * 5 + 100 * 0.5 + 200 * 6.25 + 100 * 25,
      'estimated',
    ],
    [
      'that charges for what is written to its cache',
      'openai/gpt-6-sol',
      { usage: usage({ cachedInputTokens: 100, cacheWriteTokens: 200 }) },
      700 * 2 + 100 * 0.2 + 200 * 2.5 + 100 * 10,
      'exact',
    ],
    [
      'below the long context',
      'gemini/gemini-3-pro-preview',
      { usage: usage({ inputTokens: 200_000 }) },
      200_000 * 2 + 100 * 12,
      'exact',
    ],
    [
      'in the long context',
      'gemini/gemini-3-pro-preview',
      { usage: usage({ inputTokens: 200_001, cachedInputTokens: 1 }) },
      200_000 * 4 + 0.4 + 100 * 18,
      'exact',
    ],
    ['by day', 'deepseek/deepseek-chat', {}, 1000 * 0.27 + 100 * 1.1, 'estimated'],
    [
      'by night',
      'deepseek/deepseek-chat',
      { startedAt: EVENING },
      1000 * 0.135 + 100 * 0.55,
      'estimated',
    ],
    ['of a region', 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0', {}, 4950, 'estimated'],
    ['with a fee for each request', 'perplexity/sonar', {}, 1000 + 100 + 12_000, 'estimated'],
    [
      'with another price for audio',
      'gemini/gemini-2.5-flash',
      {},
      1000 * 0.3 + 100 * 2.5,
      'estimated',
    ],
    [
      'for embeddings',
      'openai/text-embedding-3-small',
      { usage: usage({ outputTokens: 0 }) },
      20,
      'exact',
    ],
    ['by a part of its name', 'anthropic/claude-v2', {}, 1000 * 8 + 100 * 24, 'exact'],
    [
      'of a family by a pattern',
      'gemini/gemini-3.5-flash-9',
      {},
      1000 * 1.5 + 100 * 9,
      'estimated',
    ],
    ['of a family only', 'deepseek/deepseek-chat-of-tomorrow', {}, 380, 'estimated'],
    ['whose call broke off', 'openai/gpt-5', { outcome: 'cancelled' }, 2250, 'estimated'],
    [
      'whose call failed after it had reported',
      'openai/gpt-5',
      { outcome: 'failed' },
      2250,
      'estimated',
    ],
    ['without reported usage', 'openai/gpt-5', { usage: null }, null, 'unknown'],
    ['of a failed call', 'openai/gpt-5', { usage: null, outcome: 'failed' }, null, 'unknown'],
    ['without a listing', 'openai/gpt-nonsense', {}, null, 'unknown'],
    ['of an unlisted provider', 'nowhere/model', {}, null, 'unknown'],
    ['of an unknown provider', 'unheard-of/model', {}, null, 'unknown'],
  ]
  for (const [name, target, changes, microUsd, status] of rows) {
    test(`${name}: ${target} → ${status}`, () => {
      const source =
        status === 'unknown' ? null : expect.stringMatching(/^genai-prices@\d+\.\d+\.\d+$/)
      const nanoUsd = microUsd === null ? null : Math.round(microUsd * 1_000)
      expect(costOf(target, changes)).toEqual({ nanoUsd, status, source } as Cost)
    })
  }
})

test('the sandbox, and a call without an upstream attempt, cost nothing, exactly', () => {
  const nothing: Cost = { nanoUsd: 0, status: 'exact', source: 'free' }
  expect(costOf('sandbox/echo')).toEqual(nothing)
  expect(costOf('sandbox/echo', { usage: null, outcome: 'failed' })).toEqual(nothing)
  expect(costOf(null, { usage: null })).toEqual(nothing)
})

describe('a provider with declared prices', () => {
  const declared = (prices: [string, { input: number; output: number; cachedInput?: number }][]) =>
    new PriceBook({
      providers: new Map<string, ProviderPricing>([
        ['acme', { type: 'declared', prices: new Map(prices) }],
      ]),
      loadTable: () => {
        throw new Error('the table was asked')
      },
    })
  const call = (target: string): CallToPrice => ({
    accountId: DEFAULT_ACCOUNT,
    target,
    usage: usage({ cachedInputTokens: 400 }),
    startedAt: MIDDAY,
  })

  test('charges its declared price exactly, and its earlier price when a cost is computed again', () => {
    const acme = declared([['large', { input: 2.5, output: 10, cachedInput: 0.07 }]])
    const cost = acme.costOf(call('acme/large'))
    expect(cost).toEqual({
      nanoUsd: 600 * 2500 + 400 * 70 + 100 * 10_000,
      status: 'exact',
      source: 'configured@250/7/1000',
    })
    expect(acme.partsOf(call('acme/large'), cost)).toHaveLength(3)
    const dearer = declared([['large', { input: 9, output: 9 }]])
    expect(dearer.recompute(call('acme/large'), cost)).toEqual(cost)
    expect(acme.costOf({ ...call('acme/large'), otherPrices: ['tier'] }).status).toBe('estimated')
  })

  test('prices every model where one price is declared for all, and otherwise the named models alone', () => {
    const some = declared([['large', { input: 2, output: 3 }]])
    expect(some.isPriced(DEFAULT_ACCOUNT, 'acme/large', { at: MIDDAY })).toBe(true)
    for (const name of ['small', 'constructor', '*'])
      expect(some.isPriced(DEFAULT_ACCOUNT, `acme/${name}`, { at: MIDDAY })).toBe(false)
    const every = declared([
      ['large', { input: 2, output: 3 }],
      ['*', { input: 0, output: 0 }],
    ])
    expect(every.costOf(call('acme/small'))).toMatchObject({ nanoUsd: 0, status: 'exact' })
    // Cached tokens without a separate price cost as much as the rest.
    expect(every.costOf(call('acme/large'))).toMatchObject({
      nanoUsd: (1000 * 2 + 100 * 3) * 1_000,
    })
    expect(every.modelsOf('acme', MIDDAY)).toMatchObject([
      { id: 'large', inputUsdPerMillion: 2, outputUsdPerMillion: 3 },
    ])
  })
})

test('an owned model costs its declared price, and its earlier price when it is computed again', () => {
  const call: CallToPrice = {
    accountId: DEFAULT_ACCOUNT,
    target: 'owned/mine',
    usage: usage({ cachedInputTokens: 400 }),
    startedAt: MIDDAY,
  }
  const cost = book.costOf(call)
  expect(cost).toEqual({
    nanoUsd: 600 * 2_500 + 400 * 250 + 100 * 10_000,
    status: 'exact',
    source: 'owned-model@250/25/1000',
  })
  const dearer = new PriceBook({
    providers: new Map(),
    declaredPrices: () => ({ input: 9, output: 9, cachedInput: 9 }),
  })
  expect(dearer.recompute(call, cost)).toEqual(cost)
  expect(costOf('owned/other').status).toBe('unknown')
})

describe('an owned model that costs nothing', () => {
  const nothing: Cost = { nanoUsd: 0, status: 'exact', source: 'owned-model@0/0/0' }

  test.each([
    ['whose usage was reported', {}],
    ['whose usage is a guess', { isEstimated: true }],
    ['without reported usage', { usage: null }],
    ['that was cut short', { outcome: 'cancelled' }],
    ['that failed', { outcome: 'failed', usage: null }],
  ] satisfies [string, Partial<CallToPrice>][])(
    'does so exactly, for a call %s',
    (_what, changes) => {
      expect(costOf('owned/gratis', changes)).toEqual(nothing)
      const asked = { accountId: DEFAULT_ACCOUNT, target: 'owned/gratis', startedAt: MIDDAY }
      const call: CallToPrice = { ...asked, usage: usage(), ...changes }
      expect(book.recompute(call, nothing)).toEqual(nothing)
      const counted = [
        { kind: 'input', count: 1000, usdPerMillion: 0 },
        { kind: 'output', count: 100, usdPerMillion: 0 },
      ]
      expect<unknown>(book.partsOf(call, nothing)).toEqual(call.usage === null ? [] : counted)
    },
  )

  test('has all prices at zero: a single one is not enough', () => {
    const half = new PriceBook({
      providers: new Map(),
      declaredPrices: () => ({ input: 0, output: 9, cachedInput: 0 }),
    })
    const call = { accountId: DEFAULT_ACCOUNT, target: 'owned/half', startedAt: MIDDAY }
    expect(half.costOf({ ...call, usage: usage(), isEstimated: true }).status).toBe('estimated')
    expect(half.costOf({ ...call, usage: null })).toEqual({
      nanoUsd: null,
      status: 'unknown',
      source: null,
    })
  })
})

test('a cost from another version of the table is computed anew, as is an unknown one', () => {
  const call: CallToPrice = {
    accountId: DEFAULT_ACCOUNT,
    target: 'openai/gpt-5',
    usage: usage(),
    startedAt: MIDDAY,
  }
  const cost = book.costOf(call)
  expect(book.recompute(call, cost)).toEqual(cost)
  const earlier = { ...cost, source: 'genai-prices@0.0.1' }
  expect(book.recompute(call, earlier)).toEqual(earlier)
  expect(book.recompute(call, { ...earlier, nanoUsd: 1 })).toEqual(cost)
  for (const source of ['reported', 'free', `${cost.source}+answered`])
    expect(book.recompute(call, { ...cost, source, nanoUsd: 1 })).toBeUndefined()
  expect(book.recompute(call, undefined)).toEqual(cost)
})

test('the table is loaded when a price is needed, once', () => {
  let loads = 0
  const table = tableOf({
    find: () => ({ prices: { input_mtok: 1, output_mtok: 2 }, isOwn: true }),
  })
  const lazy = new PriceBook({
    providers: new Map<string, ProviderPricing>([
      ['openai', listed('openai')],
      ['sandbox', free],
    ]),
    loadTable: () => {
      loads += 1
      return table
    },
  })
  const call = { accountId: DEFAULT_ACCOUNT, usage: usage(), startedAt: MIDDAY }
  lazy.costOf({ ...call, target: 'sandbox/echo' })
  lazy.costOf({ ...call, target: 'openai/gpt-5', usage: null })
  expect(loads).toBe(0)
  lazy.costOf({ ...call, target: 'openai/gpt-5' })
  lazy.costOf({ ...call, target: 'openai/gpt-5-mini' })
  expect(loads).toBe(1)
})

test('a price is looked up once a minute, whatever else is priced, and forgotten later', () => {
  const found: string[] = []
  const counting = new PriceBook({
    providers: new Map([['p', listed('p')]]),
    loadTable: () =>
      tableOf({
        find(_, model) {
          found.push(model)
          return { prices: { input_mtok: 1, output_mtok: 1 }, isOwn: true }
        },
      }),
  })
  const price = (model: string, startedAt = MIDDAY) =>
    counting.costOf({ accountId: DEFAULT_ACCOUNT, target: `p/${model}`, usage: usage(), startedAt })
  for (const model of ['a', 'b', 'a', 'b']) expect(price(model).nanoUsd).toBe(1_100_000)
  price('a', MIDDAY + 59_999)
  expect(found).toEqual(['a', 'b'])
  price('a', MIDDAY + 60_000)
  expect(found).toEqual(['a', 'b', 'a'])
  // Customers name targets: all of them together must not fill the memory.
  for (let other = 0; other < 20_000; other += 1) price(`other-${other}`)
  found.length = 0
  price('b')
  expect(found).toEqual(['b'])
})

test('a cost is a whole number from 0 up that grows with each count, whatever is reported', () => {
  const count = fc.nat({ max: 10_000_000 })
  fc.assert(
    fc.property(
      fc.record({
        inputTokens: count,
        outputTokens: count,
        cachedInputTokens: count,
        reasoningTokens: count,
      }),
      fc.constantFrom(
        'openai/gpt-5',
        'anthropic/claude-sonnet-4-5',
        'gemini/gemini-3-pro-preview',
        'owned/mine',
      ),
      (reported, target) => {
        const { nanoUsd } = costOf(target, { usage: reported })
        expect(Number.isSafeInteger(nanoUsd)).toBe(true)
        expect(nanoUsd).toBeGreaterThanOrEqual(0)
        const more = costOf(target, {
          usage: { ...reported, outputTokens: reported.outputTokens + 1000 },
        })
        expect(more.nanoUsd ?? 0).toBeGreaterThan(nanoUsd ?? 0)
      },
    ),
  )
})

describe('the parts of a cost', () => {
  const partsOf = (call: Partial<CallToPrice> & { target: string | null }, stored?: Cost) => {
    const whole = { accountId: DEFAULT_ACCOUNT, usage: usage(), startedAt: MIDDAY, ...call }
    return book.partsOf(whole, stored ?? book.costOf(whole))
  }

  test('include each count that has a separate price', () => {
    expect(partsOf({ target: 'openai/gpt-5', usage: usage({ cachedInputTokens: 400 }) })).toEqual([
      { kind: 'input', count: 600, usdPerMillion: 1.25 },
      { kind: 'cachedInput', count: 400, usdPerMillion: 0.125 },
      { kind: 'output', count: 100, usdPerMillion: 10 },
    ])
    expect(partsOf({ target: 'owned/mine', usage: usage({ cachedInputTokens: 400 }) })).toEqual([
      { kind: 'input', count: 600, usdPerMillion: 2.5 },
      { kind: 'cachedInput', count: 400, usdPerMillion: 0.25 },
      { kind: 'output', count: 100, usdPerMillion: 10 },
    ])
  })

  test('are empty for a free model, and use the earlier declared prices for an owned model', () => {
    expect(partsOf({ target: 'sandbox/echo' })).toEqual([])
    const stored: Cost = { nanoUsd: 1_100_000, status: 'exact', source: 'owned-model@100/0/100' }
    expect(partsOf({ target: 'owned/gone' }, stored)).toEqual([
      { kind: 'input', count: 1000, usdPerMillion: 1 },
      { kind: 'output', count: 100, usdPerMillion: 1 },
    ])
  })

  test('are left out when the cost would differ now', () => {
    const target = 'openai/gpt-5'
    expect(
      partsOf({ target }, { nanoUsd: 2_250_000, status: 'exact', source: 'genai-prices@0.0.1' }),
    ).toBeUndefined()
    expect(
      partsOf({ target }, { nanoUsd: 2_249_000, status: 'exact', source: book.source }),
    ).toBeUndefined()
    expect(partsOf({ target, usage: null })).toBeUndefined()
  })

  test('add up to the cost, also where binary fractions fall short of a half', () => {
    expect(
      costOfParts(
        partsOfOwned({ input: 29, output: 0, cachedInput: 0 }, usage({ inputTokens: 50 })),
      ),
    ).toBe(14_500)
  })
})

test.each([
  [undefined, 'exact'],
  ['succeeded', 'exact'],
  ['failed', 'estimated'],
  ['cancelled', 'estimated'],
] as const)(
  'a call with the outcome %p is %s, by a listed and by a declared price',
  (outcome, status) => {
    const ended = outcome === undefined ? {} : { outcome }
    expect(costOf('openai/gpt-5', ended).status).toBe(status)
    expect(costOf('owned/mine', ended).status).toBe(status)
  },
)

test('the table lists the models of a provider with their prices', () => {
  const models = book.modelsOf('openai', MIDDAY)
  expect(models.find(({ id }) => id === 'gpt-5')).toMatchObject({
    ...{ inputUsdPerMillion: 1.25, outputUsdPerMillion: 10 },
  })
  expect(book.modelsOf('nowhere', MIDDAY)).toEqual([])
})

describe('the known models', () => {
  const known = (id: string, prices?: Record<string, unknown>) => ({
    ...{ id, name: `The ${id}`, contextTokens: 1000 },
    prices: prices as never,
  })
  const tiered = { base: 3, tiers: [{ start: 200_000, price: 6 }] }
  const small = new PriceBook({
    providers: new Map<string, ProviderPricing>([
      ['all', { type: 'listed', name: 'all-of-it' }],
      ['some', { type: 'listed', name: 'all-of-it', models: /^b/ }],
      ['gift', { type: 'free', models: ['gift-1', 'gift-2'] }],
      ['bare', { type: 'free' }],
    ]),
    loadTable: () =>
      tableOf({
        models: (provider) =>
          provider === 'all-of-it'
            ? [
                known('a', { input_mtok: 1, output_mtok: 2 }),
                known('b', { input_mtok: tiered }),
                known('bc'),
              ]
            : [],
      }),
  })

  test('are those of the table, with the price of its first tier', () => {
    expect(small.modelsOf('all', MIDDAY)).toEqual([
      {
        ...{ id: 'a', name: 'The a', contextTokens: 1000 },
        inputUsdPerMillion: 1,
        outputUsdPerMillion: 2,
      },
      {
        ...{ id: 'b', name: 'The b', contextTokens: 1000 },
        ...{ inputUsdPerMillion: 3, outputUsdPerMillion: undefined },
      },
      {
        ...{ id: 'bc', name: 'The bc', contextTokens: 1000 },
        ...{ inputUsdPerMillion: undefined, outputUsdPerMillion: undefined },
      },
    ])
  })

  test('are a part of the table for a provider that has only those', () => {
    expect(small.modelsOf('some', MIDDAY).map(({ id }) => id)).toEqual(['b', 'bc'])
  })

  test('are those of a free provider with a price of zero, if it names them', () => {
    expect(small.modelsOf('gift', MIDDAY)).toEqual(
      ['gift-1', 'gift-2'].map((id) => ({
        ...{ id, name: undefined, contextTokens: undefined },
        ...{ inputUsdPerMillion: 0, outputUsdPerMillion: 0 },
      })),
    )
    expect(small.modelsOf('bare', MIDDAY)).toEqual([])
  })

  test('are described with their price, its source and whether it is their own', () => {
    const priced = new PriceBook({
      providers: new Map<string, ProviderPricing>([
        ['all', { type: 'listed', name: 'all-of-it', inPart: /^part/ }],
        ['gift', { type: 'free' }],
        ['own', { type: 'declared', prices: new Map([['x', { input: 2, output: 3 }]]) }],
      ]),
      overlay: new ModelOverlay([
        {
          model: 'all/mine-*',
          prices: [
            { from: '2020-01-01', input: 7, output: 8 },
            { from: '2999-01-01', input: 1, output: 1 },
          ],
        },
        { model: 'all/like-1', like: 'own/x' },
        { model: 'own/x', facts: { maxOutputTokens: 5 } },
      ]),
      loadTable: () =>
        tableOf({
          find: (_, model) =>
            /^[ap]/.test(model)
              ? { prices: { input_mtok: tiered, cache_read_mtok: 1 }, isOwn: model === 'a' }
              : undefined,
        }),
    })
    const describe = (target: string) => priced.describe(target, MIDDAY)
    expect(describe('all/a')).toMatchObject({
      ...{ inputUsdPerMillion: 3, cachedInputUsdPerMillion: 1, outputUsdPerMillion: undefined },
      ...{ priceSource: 'test@1', isPriceEstimated: false, isAlias: true },
    })
    expect(describe('all/ab-1')).toMatchObject({ isPriceEstimated: true, isAlias: false })
    expect(describe('all/part-1')).toMatchObject({ isPriceEstimated: true })
    expect(describe('all/mine-1')).toMatchObject({
      ...{ inputUsdPerMillion: 7, priceFrom: '2020-01-01', isPriceEstimated: false },
      priceSource: expect.stringMatching(/^overlay:/),
    })
    expect(describe('all/like-1')).toMatchObject({
      ...{ inputUsdPerMillion: 2, priceFrom: undefined, isPriceEstimated: true },
    })
    for (const provider of ['all', 'own'])
      for (const listed of priced.modelsOf(provider, MIDDAY)) {
        const target = `${provider}/${listed.id}`
        expect(priced.describe(target, MIDDAY, listed)).toEqual(describe(target))
      }
    expect(describe('gift/x')).toMatchObject({ inputUsdPerMillion: 0, priceSource: 'free' })
    expect(describe('own/x')).toMatchObject({
      ...{ outputUsdPerMillion: 3, priceSource: 'configured', isAlias: false },
      facts: { maxOutputTokens: 5 },
    })
    expect(describe('own/y')).toMatchObject({ priceSource: undefined, facts: undefined })
    expect(describe('all/new-1')).toMatchObject({
      ...{ priceSource: undefined, isPriceEstimated: false, inputUsdPerMillion: undefined },
    })
  })

  test('are empty for an unknown provider', () => {
    expect(small.modelsOf('stranger', MIDDAY)).toEqual([])
  })
})

test.each([
  'input_audio_mtok',
  'output_audio_mtok',
  'input_image_mtok',
  'output_image_mtok',
  'input_video_mtok',
  'output_video_mtok',
  'output_citation_mtok',
  'requests_kcount',
])('a model with a price in %s is estimated, because reports do not tell such use apart', (key) => {
  const bookWith = (prices: Record<string, number>) =>
    new PriceBook({
      providers: new Map([['p', listed('p')]]),
      loadTable: () =>
        tableOf({
          find: () => ({ prices: { input_mtok: 1, output_mtok: 1, ...prices }, isOwn: true }),
        }),
    })
  const call = { accountId: DEFAULT_ACCOUNT, target: 'p/m', usage: usage(), startedAt: MIDDAY }
  expect(bookWith({}).costOf(call).status).toBe('exact')
  expect(bookWith({ [key]: 1 }).costOf(call).status).toBe('estimated')
})

test.each([
  ['openai/gpt-5', true],
  ['openai/text-embedding-3-large', true],
  ['sandbox/echo', true],
  ['owned/mine', true],
  ['owned/other', false],
  ['openai/no-such-model', false],
  ['nowhere/gpt-5', false],
  ['acme/gpt-5', false],
])('whether %s has a price: %p', (target, isPriced) =>
  expect(book.isPriced(DEFAULT_ACCOUNT, target, { at: MIDDAY })).toBe(isPriced),
)

test.each([
  ['openai/gpt-5', false],
  ['sandbox/echo', true],
  ['owned/mine', true],
])('whether %s has a price for what costs more than the list says: %p', (target, isPriced) => {
  const asked = { at: MIDDAY, isSurcharged: true }
  expect(book.isPriced(DEFAULT_ACCOUNT, target, asked)).toBe(isPriced)
})

describe('a model with a price for one direction alone', () => {
  const bookWith = (prices: Record<string, number>) =>
    new PriceBook({
      providers: new Map([['p', listed('p')]]),
      loadTable: () =>
        tableOf({
          find: () => ({ prices, isOwn: true }),
        }),
    })
  test.each([
    [{ output_mtok: 3 }, { inputTokens: 0, outputTokens: 5 }, 15_000, 'exact'],
    [{ output_mtok: 3 }, { inputTokens: 1, outputTokens: 5 }, 15_000, 'estimated'],
    [{ input_mtok: 2 }, { inputTokens: 4, outputTokens: 0 }, 8_000, 'exact'],
    [{ input_mtok: 2 }, { inputTokens: 4, outputTokens: 1 }, 8_000, 'estimated'],
    [{ input_mtok: 2 }, { inputTokens: 0, outputTokens: 0 }, 0, 'exact'],
  ] as const)(
    '%j prices %j exactly, or estimates the cost where a price is missing',
    (prices, counts, nanoUsd, status) => {
      const call = {
        accountId: DEFAULT_ACCOUNT,
        target: 'p/m',
        usage: usage(counts),
        startedAt: MIDDAY,
      }
      expect(bookWith(prices).costOf(call)).toEqual({ nanoUsd, status, source: 'test@1' })
    },
  )
})

describe('a cost is an estimate', () => {
  test('if a part of the usage is a guess, even for a free model', () => {
    for (const target of ['openai/gpt-5', 'owned/mine', 'sandbox/echo']) {
      const exact = costOf(target)
      expect(exact.status).toBe('exact')
      const estimated: Cost = { ...exact, status: 'estimated' }
      expect(costOf(target, { isEstimated: true })).toEqual(estimated)
      // Rows do not say why: computed again, it stays one.
      const call = { accountId: DEFAULT_ACCOUNT, target, usage: usage(), startedAt: MIDDAY }
      expect(book.recompute(call, estimated)).toEqual(estimated)
    }
    expect(costOf('acme/x', { isEstimated: true }).status).toBe('unknown')
  })

  test('if it asked for another price than the table’s; an owned model has no such price', () => {
    expect(costOf('openai/gpt-5', { otherPrices: ['tier'] }).status).toBe('estimated')
    expect(costOf('owned/mine', { otherPrices: ['tier'] }).status).toBe('exact')
  })
})

describe('uses of tools that the vendor runs', () => {
  const fees = new PriceBook({
    providers: new Map<string, ProviderPricing>([
      [
        'openai',
        {
          type: 'listed',
          name: 'openai',
          toolFees: { webSearch: 10_000, fileSearch: 2_500 },
          usualToolFees: { webSearch: 25_000, codeInterpreter: 30_000, otherTool: 40_000 },
        },
      ],
      ['anthropic', { type: 'listed', name: 'anthropic', usualToolFees: { webSearch: 14_000 } }],
      [
        'acme',
        {
          type: 'declared',
          prices: new Map([['*', { input: 1, output: 2 }]]),
          toolFees: { webSearch: 1, imageGeneration: 0 },
        },
      ],
      ['sandbox', free],
    ]),
    declaredPrices: () => ({ input: 100, output: 200, cachedInput: 100 }),
  })
  const call = (changes: Partial<CallToPrice> = {}): CallToPrice => ({
    accountId: DEFAULT_ACCOUNT,
    target: 'openai/gpt-5',
    usage: usage(),
    startedAt: MIDDAY,
    ...changes,
  })
  const tokens = fees.costOf(call())

  test('are in the cost, in its source and in its parts, also when it is computed again', () => {
    const cost = fees.costOf(call({ toolUses: { fileSearch: 2, webSearch: 30 } }))
    expect(cost).toEqual({
      nanoUsd: (2250 + 30 * 10_000 + 2 * 2_500) * 1_000,
      status: 'estimated',
      source: `${tokens.source}+webSearch:30@10000+fileSearch:2@2500`,
    })
    expect(fees.recompute(call(), cost)).toEqual(cost)
    expect(fees.partsOf(call(), cost)).toEqual([
      { kind: 'input', count: 1000, usdPerMillion: 1.25 },
      { kind: 'output', count: 100, usdPerMillion: 10 },
      { kind: 'webSearch', count: 30, usdPerMillion: 10_000 },
      { kind: 'fileSearch', count: 2, usdPerMillion: 2_500 },
    ])
    // With the fee of its time.
    expect(book.recompute(call(), cost)).toEqual(cost)
    expect(fees.recompute(call(), { ...cost, source: `${cost.source}+hedge` })).toBeUndefined()
  })

  test('are the whole cost where no tokens were reported', () => {
    const asked = call({ usage: null, outcome: 'failed' })
    const cost = fees.costOf({ ...asked, toolUses: { webSearch: 3 } })
    expect(cost).toEqual({ nanoUsd: 30_000_000, status: 'estimated', source: '+webSearch:3@10000' })
    expect(fees.recompute(asked, cost)).toEqual(cost)
    expect(fees.partsOf(asked, cost)).toEqual([
      { kind: 'webSearch', count: 3, usdPerMillion: 10_000 },
    ])
  })

  test('make a cost an estimate where they have no published fee, or are not counted', () => {
    const statusOf = (changes: Partial<CallToPrice>) => fees.costOf(call(changes)).status
    expect(statusOf({ tools: ['webSearch'], toolUses: {} })).toBe('exact')
    expect(statusOf({ tools: ['codeInterpreter'], toolUses: {} })).toBe('exact')
    expect(statusOf({ tools: ['otherTool'] })).toBe('estimated')
    expect(statusOf({ toolUses: { codeInterpreter: 1 } })).toBe('estimated')
  })

  test('cost the vendor’s usual fee where none is published', () => {
    const searched = call({ target: 'anthropic/claude-opus-4-5', toolUses: { webSearch: 9 } })
    expect(fees.costOf(searched)).toMatchObject({
      status: 'estimated',
      source: `${tokens.source}+webSearch:9@14000`,
    })
    const ran = fees.costOf(call({ toolUses: { codeInterpreter: 2 } }))
    expect(ran.source).toBe(`${tokens.source}+codeInterpreter:2@30000`)
    expect(fees.recompute(call(), ran)).toEqual(ran)
  })

  test('are one for each call that offers tools whose uses no answer shows', () => {
    const offered = fees.costOf(call({ tools: ['otherTool', 'webSearch'], toolUses: {} }))
    expect(offered).toEqual({
      nanoUsd: (tokens.nanoUsd ?? 0) + 40_000_000,
      status: 'estimated',
      source: `${tokens.source}+otherTool:1@40000`,
    })
  })

  test('at the operator’s own fees, which may be nothing', () => {
    const acme = { target: 'acme/large', tools: ['webSearch', 'imageGeneration'] as const }
    const drawn = fees.costOf(call({ ...acme, toolUses: { imageGeneration: 5 } }))
    expect(drawn).toMatchObject({ nanoUsd: 1_200_000, status: 'exact' })
    const searched = fees.costOf(call({ ...acme, toolUses: { webSearch: 2 } }))
    expect(searched).toMatchObject({
      nanoUsd: 1_202_000,
      source: 'configured@100/100/200+webSearch:2@1',
    })
    expect(fees.recompute(call(acme), searched)).toEqual(searched)
  })

  test('cost nothing at an account’s own model, however many it reports', () => {
    for (const target of ['owned/mine', 'sandbox/echo']) {
      const many = { tools: ['webSearch'] as const, toolUses: { webSearch: MAX_USES_OF_CALL } }
      expect(fees.costOf(call({ target, ...many }))).toEqual(fees.costOf(call({ target })))
    }
  })

  test.each([
    ['openai/gpt-5', [], 0],
    ['openai/gpt-5', ['webSearch', 'fileSearch'], 12_500],
    ['openai/gpt-5', ['webSearch', 'codeInterpreter', 'otherTool'], 80_000],
    ['anthropic/claude-opus-4-5', ['webSearch', 'fileSearch'], 14_000],
    ['acme/x', ['webSearch'], 1],
    ['owned/mine', ['webSearch'], 0],
    ['sandbox/echo', ['webSearch'], 0],
    ['nobody/knows', ['webSearch'], 0],
  ] as const)('at %s, one use of each of %p costs %d', (target, tools, microUsd) =>
    expect(fees.feesOf(target, tools)).toBe(microUsd * 1_000),
  )

  test('in any number make a cost that a row can hold, and that is found again', () => {
    const count = fc.integer({ min: 0, max: MAX_USES_OF_CALL })
    fc.assert(
      fc.property(count, count, fc.boolean(), (webSearch, fileSearch, isReported) => {
        const asked = call(isReported ? {} : { usage: null })
        const cost = fees.costOf({ ...asked, toolUses: { webSearch, fileSearch } })
        if (webSearch + fileSearch === 0) return
        expect(Number.isSafeInteger(cost.nanoUsd)).toBe(true)
        expect(fees.recompute(asked, cost)).toEqual(cost)
        const parts = fees.partsOf(asked, cost)
        expect(parts && costOfParts(parts)).toBe(cost.nanoUsd as never)
      }),
    )
  })
})

describe('what stays in a cache for an hour costs more than what stays for minutes', () => {
  const target = 'anthropic/claude-opus-4-5'
  const minutes = usage({ cachedInputTokens: 100, cacheWriteTokens: 200 })
  const some = { ...minutes, cacheWriteHourTokens: 120 }
  const call: CallToPrice = { accountId: DEFAULT_ACCOUNT, target, usage: some, startedAt: MIDDAY }
  const cost = costOf(target, { usage: some })

  test('and that is in its cost', () => {
    const before = costOf(target, { usage: minutes })
    expect(cost).toEqual({
      nanoUsd: (before.nanoUsd ?? 0) + 120 * 3_750,
      status: 'estimated',
      source: `${before.source}+cacheWriteHour:120@3.75`,
    })
  })

  test('and its row, which does not tell it apart, gives the same cost, and its parts', () => {
    const row = { ...call, usage: minutes }
    expect(book.recompute(row, cost)).toEqual(cost)
    expect(book.partsOf(row, cost)).toContainEqual({
      kind: 'cacheWriteHour',
      count: 120,
      usdPerMillion: 3.75,
    })
    expect(costOfParts(book.partsOf(row, cost) ?? [])).toBe(cost.nanoUsd ?? Number.NaN)
  })

  test('beside uses of tools, too', () => {
    const searched: CallToPrice = { ...call, tools: ['webSearch'], toolUses: { webSearch: 2 } }
    const both = book.costOf(searched)
    const row = { ...searched, usage: minutes }
    expect(both.source).toContain('+cacheWriteHour:120@3.75')
    expect(book.recompute(row, both)).toEqual(both)
  })

  test('but never for more tokens than were written', () => {
    const usage = { ...minutes, cacheWriteHourTokens: 1_000_000 }
    expect(costOf(target, { usage }).source).toEndWith('+cacheWriteHour:200@3.75')
  })

  test('and where no price for hours is known, the cost is an estimate', () => {
    const written = { cachedInputTokens: 100, cacheWriteTokens: 200 }
    const cost = costOf('openai/gpt-6-sol', {
      usage: usage({ ...written, cacheWriteHourTokens: 1 }),
    })
    expect(cost).toEqual({
      ...costOf('openai/gpt-6-sol', { usage: usage(written) }),
      status: 'estimated',
    })
    const row = { ...call, target: 'openai/gpt-6-sol', usage: usage(written) }
    expect(book.recompute(row, cost)).toEqual(cost)
  })

  test('and nothing is added where no price for an hour is known', () => {
    const hours = { ...some, cacheWriteTokens: 200 }
    expect(costOf('openai/gpt-5', { usage: hours }).source).not.toContain('+')
    expect(costOf('owned/mine', { usage: hours })).toEqual(costOf('owned/mine', { usage: minutes }))
  })
})

test('a call that is free at a provider that charges for others stays free, and has no parts', () => {
  const free: Cost = { nanoUsd: 0, status: 'exact', source: 'free' }
  const call = {
    accountId: DEFAULT_ACCOUNT,
    target: 'anthropic/claude-opus-4-8',
    usage: null,
    startedAt: MIDDAY,
  }
  expect(book.costOf(call).status).toBe('unknown')
  expect(book.recompute(call, free)).toEqual(free)
  expect(book.partsOf(call, free)).toEqual([])
})

test('a report with a part greater than its whole costs an estimate, at the part that fits', () => {
  const whole = usage({ inputTokens: 56_322, cachedInputTokens: 56_322 })
  const cut = { ...whole, hasCutParts: true } as const
  for (const target of ['openai/gpt-5', 'owned/mine']) {
    const cost = costOf(target, { usage: cut })
    expect(cost).toEqual({ ...costOf(target, { usage: whole }), status: 'estimated' })
    // Rows do not know of it.
    const row = { accountId: DEFAULT_ACCOUNT, target, usage: whole, startedAt: MIDDAY }
    expect(book.recompute(row, cost)).toEqual(cost)
  }
  expect(costOf('owned/gratis', { usage: cut }).status).toBe('exact')
})

test("a model's facts are those of its entry, completed by the table's", () => {
  const known = new PriceBook({
    providers: new Map<string, ProviderPricing>([['openai', listed('openai')]]),
    overlay: new ModelOverlay([
      { model: 'openai/new', facts: { maxOutputTokens: 7 }, like: 'openai/gpt-4o' },
      { model: 'acme/large', facts: { contextTokens: 9 } },
    ]),
  })
  expect(known.factsOf('openai', 'new')).toEqual({ maxOutputTokens: 7, contextTokens: 128_000 })
  expect(known.factsOf('openai', 'gpt-4o')).toEqual({ contextTokens: 128_000 })
  expect(known.factsOf('acme', 'large')).toEqual({ contextTokens: 9 })
  expect(known.factsOf('acme', 'small')).toBeUndefined()
})
