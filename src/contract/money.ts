/** Amounts in US dollars that callers and operators give. */

/** The highest limit in money: its billionths are still exact numbers (core/money.ts). */
export const MAX_LIMIT_USD = 9_000_000

/** The smallest unit is a billionth. Less than one would be stored as 0. */
export function isWholeNanoUsd(usd: number): boolean {
  return usd >= 1e-9 && Number(usd.toFixed(9)) === usd
}
