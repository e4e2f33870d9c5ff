/** The list price of a gate, for clients that show costs. */
import type { Gate } from '../../core/gate.ts'
import type { Usage } from '../../core/usage.ts'
import type { PricedRecord, Prices } from '../ports.ts'

/** In US dollars per token, as OpenRouter spells them. */
export interface ListPrice {
  readonly prompt: string
  readonly completion: string
  readonly input_cache_read: string
}

/**
 * Number of tokens below every provider's first price tier by length, and large enough to compute
 * the price of one token exactly.
 */
const TOKENS = 1_000

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }

/**
 * Undefined when the price of a target is unknown, or when targets have different prices.
 * @param priceOf returns the price of one of the gate's targets
 */
export function listPriceOf(
  { targets }: Pick<Gate, 'targets'>,
  priceOf: (target: string) => ListPrice | undefined,
): ListPrice | undefined {
  const found = targets.map(({ model }) => priceOf(model))
  const [first] = found
  const isSame = found.every((price) => JSON.stringify(price) === JSON.stringify(first))
  return isSame ? first : undefined
}

export function priceOfTarget(
  prices: Prices,
  priced: Pick<PricedRecord, 'accountId' | 'target' | 'startedAt'>,
): ListPrice | undefined {
  const costOf = (used: Partial<Usage>): number | undefined => {
    const usage = { ...NOTHING, ...used }
    const cost = prices.priceOf({ ...priced, usage, outcome: 'succeeded' })
    return cost?.status === 'exact' ? (cost.nanoUsd ?? undefined) : undefined
  }
  const input = costOf({ inputTokens: TOKENS })
  const output = costOf({ outputTokens: TOKENS })
  const cached = costOf({ inputTokens: TOKENS, cachedInputTokens: TOKENS })
  // Each of the three costs includes the fee per request, so the fee is subtracted.
  const fee = costOf({})
  if (input === undefined || output === undefined || cached === undefined || fee === undefined)
    return undefined
  const perToken = (nanoUsd: number) => toPriceText((nanoUsd - fee) / (TOKENS * NANO_USD_PER_USD))
  return {
    prompt: perToken(input),
    completion: perToken(output),
    input_cache_read: perToken(cached),
  }
}

const NANO_USD_PER_USD = 1e9

/** A decimal number without an exponent or trailing zeros: `0.00000125`. */
function toPriceText(usdPerToken: number): string {
  const text = usdPerToken.toFixed(12)
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}
