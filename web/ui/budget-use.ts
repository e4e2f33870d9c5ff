import type { RowOf } from '../api/ask.ts'
import { formatCount, formatUsdExactly, formatUsdInCents } from '../format/figures.ts'

export type Budget = RowOf<'GET /v1/budgets'>

export const PERIOD_WORDS = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
} as const satisfies Record<Budget['period'], string>

export interface BudgetUse {
  readonly used: number
  readonly reserved: number
  /** With the raise that is in force. */
  readonly limit: number
  readonly raisedBy: number
  readonly format: (amount: number) => string
  readonly formatLimit: (amount: number) => string
}

export function toUse({ limitTokens, limitUsd, used, reserved, raise }: Budget): BudgetUse {
  const raisedBy = raise !== null && Date.parse(raise.until) > Date.now() ? raise.by : 0
  if (limitTokens === null)
    return {
      used: used?.usd ?? 0,
      reserved: reserved?.usd ?? 0,
      limit: (limitUsd ?? 0) + raisedBy,
      raisedBy,
      format: formatUsdInCents,
      formatLimit: formatUsdExactly,
    }
  const format = (tokens: number) => `${formatCount(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`
  return {
    used: used?.tokens ?? 0,
    reserved: reserved?.tokens ?? 0,
    limit: limitTokens + raisedBy,
    raisedBy,
    format,
    formatLimit: format,
  }
}
