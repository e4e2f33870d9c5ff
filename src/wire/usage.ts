/**
 * Reads what an upstream reports of its usage, and the steps that the dialects' readers share. Sums
 * nothing a provider did not report.
 */
import { toTrueUsage, type Usage } from '../core/usage.ts'
import { readReportedCost } from './billing.ts'
import { readTier, servedAs } from './served-as.ts'

/** A dialect's usage arithmetic, from its own names to ours. */
export type UsageReader = (reported: Record<string, unknown>) => Usage

/**
 * @returns null unless the provider sent an object whose sums are counts: a missing report is not a
 * report of zero, and neither is one that cannot be true. No call reads and writes nothing.
 * @param tier of the dialects that name the tier beside the usage
 */
export function readUsage(read: UsageReader, reported: unknown, tier?: unknown): Usage | null {
  if (typeof reported !== 'object' || reported === null || Array.isArray(reported)) return null
  const report = reported as Record<string, unknown>
  const trueUsage = toTrueUsage(read(report))
  if (trueUsage === null || trueUsage.inputTokens + trueUsage.outputTokens === 0) return null
  const usage = withReportedCost(trueUsage, report)
  return tier === undefined ? usage : { ...usage, ...served(readTier(tier)) }
}

const NOT_SERVED: Pick<Usage, 'served'> = {}

export function served(...as: Parameters<typeof servedAs>): Pick<Usage, 'served'> {
  const told = servedAs(...as)
  return told === undefined ? NOT_SERVED : { served: told }
}

/** The model that answered, as the upstream names it. */
export function modelOf(answer: { readonly model?: unknown } | undefined): string | undefined {
  const model = answer?.model
  return typeof model === 'string' && model !== '' ? model : undefined
}

/** A few vendors add it to the counts of any dialect. */
export function withReportedCost(usage: Usage, report: Readonly<Record<string, unknown>>): Usage {
  const cost = readReportedCost(report)
  return cost === undefined ? usage : { ...usage, billing: { ...usage.billing, cost } }
}

/** Absent is not zero: what was written to a cache has a price of its own. */
export function cacheWrites(reported: unknown): Pick<Usage, 'cacheWriteTokens'> {
  return typeof reported === 'number' ? { cacheWriteTokens: partOf(reported) } : {}
}

/** Some servers report the parts by their length of life, and not their sum. */
export function writtenOf(reported: unknown, parts: number): unknown {
  return parts > partOf(reported) ? parts : reported
}

export function hourWrites(tokens: number): Pick<Usage, 'cacheWriteHourTokens'> {
  return tokens === 0 ? NO_HOURS : { cacheWriteHourTokens: tokens }
}

const NO_HOURS: Pick<Usage, 'cacheWriteHourTokens'> = {}

export function audioOf(input: number, cachedInput: number, output: number): Pick<Usage, 'audio'> {
  return input + output === 0 ? NO_AUDIO : { audio: { input, cachedInput, output } }
}

const NO_AUDIO: Pick<Usage, 'audio'> = {}

export function detailOf(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A count as reported, 0 where there is none, and NaN for what is no whole number. */
export function countOf(value: unknown): number {
  if (value === undefined || value === null) return 0
  return isWholeNumber(value) ? value : Number.NaN
}

/** Of what is within another count, or beside it at a price of its own: 0 where it is no count. */
export function partOf(value: unknown): number {
  return isWholeNumber(value) ? value : 0
}

function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
