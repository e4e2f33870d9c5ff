/** Costs of a vendor's own report or of other models: how they are told and computed again later. */
import { describe, expect, test } from 'bun:test'
import { catalog } from '../providers/catalog.ts'
import { pricingOf } from '../providers/define.ts'
import type { CallToPrice } from './call-to-price.ts'
import { PriceBook } from './price-book.ts'
import { isNameOf } from './price-table.ts'

const book = new PriceBook({
  providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
})
const counts = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0 }
const report = { form: 'usage.cost', usd: 0.5, isPartial: false } as const
const call = (members: Partial<CallToPrice> = {}): CallToPrice => ({
  accountId: 'acct_1' as CallToPrice['accountId'],
  target: 'openrouter/openrouter/auto',
  usage: { ...counts, billing: { cost: report } },
  startedAt: 1_790_000_000_000,
  outcome: 'succeeded',
  ...members,
})
/** As the store has it. */
const row = (members: Partial<CallToPrice> = {}) => call({ usage: counts, ...members })

describe('a cost that was reported', () => {
  const cost = book.costOf(call())

  test('is not computed again, and has no parts', () => {
    expect(cost).toMatchObject({ status: 'exact', source: 'reported' })
    expect(book.recompute(row(), cost)).toBeUndefined()
    expect(book.partsOf(row(), cost)).toEqual([])
  })

  test('has all that the vendor charges for in it', () => {
    expect(book.costOf(call({ tools: ['webSearch'], toolUses: { webSearch: 3 } }))).toEqual(cost)
  })

  test.each(['cancelled', 'failed'] as const)('of a call that was %s is an estimate', (outcome) => {
    expect(book.costOf(call({ outcome }))).toEqual({ ...cost, status: 'estimated' })
  })

  test('is the least where text came behind it', () => {
    const much = { ...counts, outputTokens: 1_000_000, billing: { cost: report } }
    const guessed = book.costOf(call({ usage: much, isEstimated: true }))
    expect(guessed).toMatchObject({ status: 'estimated', source: 'assumed@1500/1500/7500' })
    expect(book.costOf(call({ isEstimated: true }))).toEqual({ ...cost, status: 'estimated' })
  })

  test('is none of an owned model or a provider that the operator configured', () => {
    const prices = new Map([['*', { input: 1, output: 1 }]])
    const others = new PriceBook({
      providers: new Map([['mine', { type: 'declared', prices }]]),
      declaredPrices: () => ({ input: 100, output: 100, cachedInput: 100 }),
    })
    for (const target of ['mine/m', 'owned/m'])
      expect(others.costOf(call({ target })).source).not.toBe('reported')
  })
})

test('an assumed price is computed again and has its parts', () => {
  const cost = book.costOf(row())
  expect(cost).toMatchObject({ status: 'estimated', source: 'assumed@1500/1500/7500' })
  expect(book.recompute(row(), cost)).toEqual(cost)
  expect(book.partsOf(row(), cost)).toMatchObject([{ kind: 'input' }, { kind: 'output' }])
})

test('the price of another model that answered is not computed again', () => {
  const of = { target: 'openai/gpt-4.1-mini', answeredBy: 'gpt-4.1-2025-04-14' }
  const cost = book.costOf(row(of))
  expect(cost.source).toBe(`${book.source}+answered`)
  const stored = row({ target: of.target })
  expect(book.recompute(stored, cost)).toBeUndefined()
  expect(book.partsOf(stored, cost)).toBeUndefined()
})

test('attempts at a price that was asked for cost an estimate: the answer tells it of one', () => {
  const served = { speed: 'standard' }
  const attempts = [{ model: 'claude-opus-4-8', usage: { ...counts, cacheWriteTokens: 0 } }]
  const of = {
    target: 'anthropic/claude-fable-5',
    usage: { ...counts, served, billing: { attempts } },
  }
  expect(book.costOf(call(of)).status).toBe('exact')
  expect(book.costOf(call({ ...of, otherPrices: ['speed'] })).status).toBe('estimated')
})

test('an owned model that several models answered for costs an estimate', () => {
  const owned = new PriceBook({
    providers: new Map(),
    declaredPrices: () => ({ input: 100, output: 100, cachedInput: 100 }),
  })
  const attempts = [{ model: 'another', usage: counts }]
  const of = { target: 'owned/m', usage: { ...counts, billing: { attempts } } }
  expect(owned.costOf(call(of)).status).toBe('estimated')
})

describe('an answer’s name for its model', () => {
  test.each([
    ['gpt-4o', 'gpt-4o'],
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['grok-4', 'grok-4-0709'],
    ['gemini-2.0-flash', 'gemini-2.0-flash-001'],
    ['command-a', 'command-a-03-2025'],
    ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5-20250929'],
    ['mistral-large-latest', 'mistral-large-2512'],
  ])('%s leads to %s', (asked, answered) => {
    expect(isNameOf(asked, answered)).toBe(true)
  })

  test.each([
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4', 'gpt-4-32k'],
    ['gpt-5', 'gpt-5.5'],
    ['claude-opus-4', 'claude-opus-4-1'],
    ['gpt-4o-mini', 'gpt-4o'],
  ])('%s is another model than %s', (asked, answered) => {
    expect(isNameOf(asked, answered)).toBe(false)
  })
})
