import { MAX_LIMIT_USD } from '../../../src/contract/words.ts'
import { formatUsdExactly } from '../../format/figures.ts'
import { joinGroups } from '../../format/join-groups.ts'

type Parsed<Value> = { readonly value: Value } | { readonly problem: string }

export function parseTokens(text: string): Parsed<number> {
  const digits = joinGroups(text.trim())
  const value = Number(digits)
  if (!/^\d{1,13}$/.test(digits) || value < 1)
    return { problem: 'must be a whole number of at least 1' }
  return { value }
}

export function parseUsd(text: string): Parsed<number> {
  const digits = joinGroups(text.replaceAll('$', '').trim())
  const value = Number(digits)
  if (!/^\d{1,10}(?:\.\d{1,9})?$/.test(digits) || value <= 0)
    return { problem: 'must be above 0, with at most nine decimals after a point' }
  if (value > MAX_LIMIT_USD)
    return { problem: `must be at most ${formatUsdExactly(MAX_LIMIT_USD)}` }
  return { value }
}

const MAX_ALERTS = 10

/** `50, 80, 100` → shares of the limit. Empty text means no alerts. */
export function parseAlerts(text: string): Parsed<number[]> {
  const parts = text.split(/[\s,;%]+/).filter((part) => part !== '')
  const percents = parts.map(Number)
  if (
    parts.some((part) => !/^\d{1,3}$/.test(part)) ||
    percents.some((each) => each < 1 || each > 100)
  )
    return { problem: 'must be whole percents from 1 to 100, such as 50, 80, 100' }
  if (new Set(percents).size < percents.length) return { problem: 'must not hold a percent twice' }
  if (percents.length > MAX_ALERTS) return { problem: `must be at most ${MAX_ALERTS}` }
  return { value: percents.map((percent) => percent / 100) }
}

export function writeAlerts(shares: readonly number[]): string {
  return shares.map((share) => Math.round(share * 100)).join(', ')
}

const [MIN_WALL, MAX_WALL] = [100, 1_000]

/** `120` → 1.2. Empty text leaves the share to the gateway. */
export function parseWall(text: string): Parsed<number | undefined> {
  const digits = text.replaceAll('%', '').trim()
  if (digits === '') return { value: undefined }
  const percent = Number(digits)
  if (!/^\d{3,4}$/.test(digits) || percent < MIN_WALL || percent > MAX_WALL)
    return { problem: `must be a whole percent from ${MIN_WALL} to ${MAX_WALL}` }
  return { value: percent / 100 }
}

export function problemOf(parsed: Parsed<unknown>): string | undefined {
  return 'problem' in parsed ? parsed.problem : undefined
}
