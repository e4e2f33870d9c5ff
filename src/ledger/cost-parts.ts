/** The parts of a cost: each count at its price. Knows no provider, no model and no table. */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { CostPart } from '../core/cost.ts'
import type { Usage } from '../core/usage.ts'

/** US cents per million tokens, as declared for an owned model. */
export interface DeclaredPrices {
  readonly input: number
  readonly output: number
  readonly cachedInput: number
}

/**
 * Half of a micro-dollar is rounded up also where binary fractions make it a little less: no
 * price has so many digits.
 */
const EPSILON = 1e-6

/** In whole micro-dollars. */
export function sumParts(parts: readonly CostPart[]): number {
  let microUsd = EPSILON
  for (const { count, microUsdEach } of parts) microUsd += count * microUsdEach
  return Math.round(microUsd)
}

/** A cent for a million tokens is a hundredth of a micro-dollar for one. */
export function partsOfOwned(prices: DeclaredPrices, usage: Usage): readonly CostPart[] {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const parts: CostPart[] = []
  add(parts, 'input', usage.inputTokens - cached, prices.input / 100)
  add(parts, 'cachedInput', cached, prices.cachedInput / 100)
  add(parts, 'output', usage.outputTokens, prices.output / 100)
  return parts
}

/**
 * Prices are US dollars per million tokens, which is micro-dollars per token. Tokens of a kind
 * without a price of its own are counted with the kind that they are part of.
 * @returns undefined when neither input nor output has a price
 */
export function partsOfListed(prices: ModelPrice, usage: Usage): readonly CostPart[] | undefined {
  const input = rateOf(prices.input_mtok, usage.inputTokens)
  const output = rateOf(prices.output_mtok, usage.inputTokens)
  if (input === undefined && output === undefined) return undefined
  const cacheRead = rateOf(prices.cache_read_mtok, usage.inputTokens)
  const cacheWrite = rateOf(prices.cache_write_mtok, usage.inputTokens)
  const ownReasoning = rateOf(prices.output_reasoning_mtok, usage.inputTokens)
  const cached = cacheRead === undefined ? 0 : Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = cacheWrite === undefined ? 0 : writtenTokens(usage)
  const reasoning =
    ownReasoning === undefined ? 0 : Math.min(usage.reasoningTokens, usage.outputTokens)
  const parts: CostPart[] = []
  add(parts, 'input', usage.inputTokens - cached - written, input ?? 0)
  add(parts, 'cachedInput', cached, cacheRead ?? 0)
  add(parts, 'cacheWrite', written, cacheWrite ?? 0)
  add(parts, 'output', usage.outputTokens - reasoning, output ?? 0)
  add(parts, 'reasoning', reasoning, ownReasoning ?? 0)
  // For a thousand requests, of which this is one.
  const requests = rateOf(prices.requests_kcount, usage.inputTokens)
  if (requests !== undefined) add(parts, 'request', 1, requests * 1000)
  return parts
}

/** Tokens read from the cache were not written to it in the same call. */
export function writtenTokens({
  inputTokens,
  cachedInputTokens,
  cacheWriteTokens = 0,
}: Usage): number {
  return Math.min(cacheWriteTokens, inputTokens - Math.min(cachedInputTokens, inputTokens))
}

/**
 * Above a tier's start all tokens have the tier's price, by the length of the input (as Google and
 * Anthropic state it).
 */
export function rateOf(price: ModelPrice[string], inputTokens: number): number | undefined {
  if (price === undefined || typeof price === 'number') return price
  let rate = price.base
  for (const tier of price.tiers) if (inputTokens > tier.start) rate = tier.price
  return rate
}

function add(parts: CostPart[], kind: CostPart['kind'], count: number, microUsdEach: number): void {
  if (count > 0) parts.push({ kind, count, microUsdEach })
}
