/**
 * Money in whole billionths of a US dollar. Prices stay rates in US dollars per million, so a
 * call's cost is rounded once, after the products were added up.
 */

const NANO_USD_PER_USD = 1_000_000_000
/** The highest limit in money. Its billionths are below 2^53 and therefore exact. */
export const MAX_LIMIT_USD = 9_000_000

/** The highest limit, and the highest amount of one call, in billionths of a US dollar. */
export const MAX_NANO_USD = MAX_LIMIT_USD * NANO_USD_PER_USD

/**
 * The highest sum in a row of the store. Two such sums still fit into a column's 63 bits. A sum
 * above 2^53 billionths (9 million dollars) loses its last digits.
 */
export const MAX_STORED_NANO_USD = 4_000_000_000_000_000_000

export function toNanoUsd(usd: number): number {
  return Math.round(usd * NANO_USD_PER_USD)
}

/** True for a whole number of billionths, at least one. */
export function isWholeNanoUsd(usd: number): boolean {
  return usd >= 1e-9 && Number(usd.toFixed(9)) === usd
}

export function toUsd(nanoUsd: number): number {
  return nanoUsd / NANO_USD_PER_USD
}

/** Without an exponent or trailing zeros: `0.0000004`. */
export function toUsdText(nanoUsd: number): string {
  const [whole, fraction = ''] = toUsd(nanoUsd).toFixed(9).split('.')
  const digits = fraction.replaceAll('0', ' ').trimEnd().replaceAll(' ', '0')
  return digits === '' ? `${whole}` : `${whole}.${digits}`
}

interface Priced {
  readonly count: number
  readonly usdPerMillion: number
}

/** Prices become whole steps of 1e-8 US dollars per million, so products and sums are exact. */
const PRICE_STEPS_PER_USD = 100_000_000
const STEPS_PER_NANO_USD = 100_000

/** Billionths of a US dollar, rounded once; at most `MAX_NANO_USD`. */
export function costOfParts(parts: readonly Priced[]): number {
  let steps = 0
  for (const { count, usdPerMillion } of parts)
    steps += count * Math.round(usdPerMillion * PRICE_STEPS_PER_USD)
  return Math.min(MAX_NANO_USD, Math.round(steps / STEPS_PER_NANO_USD))
}

/** US dollars, not rounded. */
export function usdOfPart({ count, usdPerMillion }: Priced): number {
  return (count * usdPerMillion) / 1_000_000
}

export function addCosts(one: number, other: number): number {
  return Math.min(MAX_NANO_USD, one + other)
}
