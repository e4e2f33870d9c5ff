/**
 * Reads an upstream's report of usage and of the service tier, speed and region. Counts only what
 * the provider reported.
 */
import { type ServedAs, USUAL } from '../core/cost.ts'
import { toTrueUsage, type Usage } from '../core/usage.ts'
import { readReportedCost } from './billing.ts'
import { isRecord } from './read-json.ts'

/** A dialect's usage arithmetic, from its own names to the gateway's. */
export type UsageReader = (reported: Record<string, unknown>) => Usage

/**
 * Null for invalid counts and for counts of zero: every real call has tokens, so a report of zero
 * is a missing report.
 * @param tier for dialects that report the tier besides the usage
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
  const service = servedAs(...as)
  return service === undefined ? NOT_SERVED : { served: service }
}

export function modelOf(answer: { readonly model?: unknown } | undefined): string | undefined {
  const model = answer?.model
  return typeof model === 'string' && model !== '' ? model : undefined
}

/** A few providers add their cost to the counts, in any dialect. */
export function withReportedCost(usage: Usage, report: Readonly<Record<string, unknown>>): Usage {
  const cost = readReportedCost(report)
  return cost === undefined ? usage : { ...usage, billing: { ...usage.billing, cost } }
}

/** Absent is not zero: cache writes have their own price. */
export function cacheWrites(reported: unknown): Pick<Usage, 'cacheWriteTokens'> {
  return typeof reported === 'number' ? { cacheWriteTokens: partOf(reported) } : {}
}

/** Some servers report the parts by lifetime, and not their sum. */
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

/** A missing count is 0; a count that is not a whole number is NaN. */
export function countOf(value: unknown): number {
  if (value === undefined || value === null) return 0
  return isWholeNumber(value) ? value : Number.NaN
}

/** For a part of another count, or a separately priced count: an invalid part is 0. */
export function partOf(value: unknown): number {
  return isWholeNumber(value) ? value : 0
}

function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Names of the usual tier, in answers and in requests. */
export const USUAL_TIERS: ReadonlySet<string> = new Set([
  'default',
  'standard',
  'standard_only',
  'on_demand',
])
/** Words that repeat the request, so the tier is unknown. */
const NO_TIERS: ReadonlySet<string> = new Set([
  '',
  'auto',
  'unspecified',
  'traffic_type_unspecified',
])
/** Models without a choice of region report `not_available`. */
const USUAL_REGIONS: ReadonlySet<string> = new Set(['global', 'not_available'])
/** Tiers are part of a cost's source, so they must be names. */
const NAME = /^[a-z][a-z0-9_.-]{0,31}$/

export function readTier(word: unknown): string | undefined {
  const value = lowerCase(word)
  if (value === undefined || NO_TIERS.has(value)) return undefined
  if (USUAL_TIERS.has(value)) return USUAL.tier
  // `ON_DEMAND_PRIORITY`
  // (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo).
  return toName(value.replace(/^on_demand_/, ''))
}

export function readSpeed(word: unknown): string | undefined {
  const value = lowerCase(word)
  return value === undefined || value === '' ? undefined : toName(value)
}

export function readRegion(word: unknown): string | undefined {
  const value = lowerCase(word)
  if (value === undefined || value === '') return undefined
  return USUAL_REGIONS.has(value) ? USUAL.region : toName(value)
}

function servedAs(
  tier: string | undefined,
  speed?: string | undefined,
  region?: string | undefined,
): ServedAs | undefined {
  if (tier === undefined && speed === undefined && region === undefined) return undefined
  return {
    ...(tier === undefined ? {} : { tier }),
    ...(speed === undefined ? {} : { speed }),
    ...(region === undefined ? {} : { region }),
  }
}

function lowerCase(word: unknown): string | undefined {
  return typeof word === 'string' ? word.toLowerCase() : undefined
}

/** An invalid name is still reported, because the price is not the list price. */
function toName(value: string): string {
  return NAME.test(value) ? value : 'other'
}

/** The author of an item of an answer. `result`: the item is the provider's result of a program. */
type Authorship = 'program' | 'result' | 'model'

/**
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling and
 * https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling
 * @param item a block of a message, or an item of a response's output
 */
function authorOf(item: unknown): Authorship {
  if (!isRecord(item)) return 'model'
  const { type, caller } = item
  const by = isRecord(caller) ? caller.type : undefined
  if (by === 'program' || (typeof by === 'string' && by.startsWith('code_execution_')))
    return 'program'
  const isResult =
    type === 'program_output' || (typeof type === 'string' && type.endsWith('_tool_result'))
  return isResult ? 'result' : 'model'
}

function isProgramTurn(items: unknown): boolean {
  if (!Array.isArray(items)) return false
  const authors = items.map(authorOf)
  return authors.includes('program') && !authors.includes('model')
}

const NOTHING_USED: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
}

interface ProgramReport {
  readonly reported: unknown
  readonly tier?: unknown
  readonly items: unknown
}

/** Like `readUsage`, but a report of zero counts if a program wrote the answer. */
export function readUsageOfTurn(
  read: UsageReader,
  { reported, tier, items }: ProgramReport,
): Usage | null {
  const usage = readUsage(read, reported, tier)
  return usage ?? (reportsNothing(reported) && isProgramTurn(items) ? NOTHING_USED : null)
}

export function reportsNothing(reported: unknown): boolean {
  if (!isRecord(reported)) return false
  const { input_tokens, output_tokens } = reported
  const { cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = reported
  return (
    input_tokens === 0 &&
    output_tokens === 0 &&
    (cache_read_input_tokens ?? 0) === 0 &&
    (cache_creation_input_tokens ?? 0) === 0
  )
}

/** `isProgramTurn` for the blocks of a streamed message, which arrive one by one. */
export class ProgramBlocks {
  #hasProgram = false
  #hasModel = false

  note(block: unknown): void {
    const author = authorOf(block)
    if (author === 'program') this.#hasProgram = true
    else if (author === 'model') this.#hasModel = true
  }

  usageOf(reported: unknown): Usage | null {
    const isTurn = this.#hasProgram && !this.#hasModel
    return isTurn && reportsNothing(reported) ? NOTHING_USED : null
  }
}
