/**
 * Reads the costs that providers report: the cost of a call, and the attempts of several models.
 */
import {
  type BilledAttempt,
  type Billing,
  type ReportedCost,
  toTrueUsage,
  type Usage,
} from '../core/usage.ts'
import { isRecord } from './read-json.ts'

type Report = Readonly<Record<string, unknown>>

/**
 * Maximum cost of one call, in US dollars: more than a million tokens of the most expensive model.
 */
const MAX_USD_OF_CALL = 1_000
/** https://docs.x.ai/developers/cost-tracking */
const TICKS_PER_USD = 1e10

export function readReportedCost({
  cost,
  cost_in_usd_ticks: ticks,
  is_byok: isOwnKey,
  cost_details: details,
}: Report): ReportedCost | undefined {
  if (ticks !== undefined && ticks !== null) {
    const usd = typeof ticks === 'number' ? ticks / TICKS_PER_USD : undefined
    return { form: 'usage.cost_in_usd_ticks', usd: toUsd(usd), isPartial: false }
  }
  if (cost === undefined || cost === null) return undefined
  // https://docs.perplexity.ai/api-reference/sonar-post
  if (isRecord(cost))
    return { form: 'usage.cost.total_cost', usd: toUsd(cost.total_cost), isPartial: false }
  const elsewhere = isRecord(details) ? details.upstream_inference_cost : undefined
  return { form: 'usage.cost', ...addUpstream(toUsd(cost), { elsewhere, isOwnKey }) }
}

/**
 * With the account's own upstream key, `cost` is only the router's fee, and the upstream charges
 * the rest (https://openrouter.ai/docs/cookbook/administration/usage-accounting). Otherwise `cost`
 * is the total.
 */
function addUpstream(
  usd: number | undefined,
  { elsewhere, isOwnKey }: { readonly elsewhere: unknown; readonly isOwnKey: unknown },
): Omit<ReportedCost, 'form'> {
  const upstream = toUsd(elsewhere)
  const isOwn = isOwnKey === true || (isOwnKey !== false && (upstream ?? 0) > (usd ?? 0))
  if (!isOwn || usd === undefined) return { usd, isPartial: false }
  if (upstream === undefined) return { usd, isPartial: true }
  return { usd: toUsd(usd + upstream), isPartial: isOwnKey !== true }
}

function toUsd(reported: unknown): number | undefined {
  const isTrue = typeof reported === 'number' && reported >= 0 && reported <= MAX_USD_OF_CALL
  return isTrue ? Math.abs(reported) : undefined
}

/**
 * Iterations that the provider charges but excludes from its counts
 * (https://platform.claude.com/docs/en/build-with-claude/compaction#understanding-usage and
 * …/agents-and-tools/tool-use/advisor-tool). Advice is charged at the price of another model.
 */
const BESIDE: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message'])
/**
 * Another model took over: each iteration has its own model's price, and the counts are only those
 * of the last model
 * (https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback#billing-and-rate-limits).
 */
const TAKEN_OVER = 'fallback_message'

export function withIterations(report: Report, readCounts: (counts: Report) => Usage): Usage {
  const whole = readCounts(report)
  const { iterations } = report
  const isRepriced = isCreditRedeemed(report.fallback_credit)
  const listed = Array.isArray(iterations)
    ? iterations.filter(isRecord).map((iteration) => toIteration(iteration, readCounts))
    : NO_ITERATIONS
  const hasTakenOver = listed.some(({ type }) => type === TAKEN_OVER)
  const billed = hasTakenOver ? listed : listed.filter(({ type }) => BESIDE.has(type))
  if (billed.length === 0) return isRepriced ? { ...whole, billing: { isUnsure: true } } : whole
  const attempts = hasTakenOver ? billed : [{ model: undefined, usage: whole }, ...billed]
  const { reasoningTokens } = whole
  const usage = { ...attempts.map((attempt) => attempt.usage).reduce(addUsage), reasoningTokens }
  // The provider's counts are those of its last turn, so a smaller total over all turns is
  // implausible.
  if (tokensOf(usage) < tokensOf(whole)) return { ...whole, billing: { isUnsure: true } }
  const isUnsure = isRepriced || (hasTakenOver && mayBillLess(billed))
  const hasOtherModels = attempts.some(({ model }) => model !== undefined)
  return { ...usage, ...toBilling(hasOtherModels ? attempts : undefined, isUnsure) }
}

interface Iteration extends BilledAttempt {
  readonly type: unknown
}

const NO_ITERATIONS: readonly Iteration[] = []
const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

function toIteration(iteration: Report, readCounts: (counts: Report) => Usage): Iteration {
  const { type, model } = iteration
  return {
    type,
    model: typeof model === 'string' && model !== '' ? model : undefined,
    usage: toTrueUsage(readCounts(iteration)) ?? NO_USAGE,
  }
}

/** Tokens in the previous model's cache are charged as cached by this model. */
function isCreditRedeemed(credit: unknown): boolean {
  return isRecord(credit) && isRecord(credit.status) && credit.status.type === 'redeemed'
}

/**
 * A model that declined before writing is charged for some reasons only, and the next model's cache
 * writes are credited.
 */
function mayBillLess(billed: readonly Iteration[]): boolean {
  return billed.some(
    ({ type, usage }, index) =>
      usage.outputTokens === 0 ||
      (index > 0 && type === TAKEN_OVER && (usage.cacheWriteTokens ?? 0) > 0),
  )
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens
}

function toBilling(
  attempts: readonly BilledAttempt[] | undefined,
  isUnsure: boolean,
): { readonly billing?: Billing } {
  if (attempts === undefined && !isUnsure) return NO_BILLING
  return {
    billing: {
      ...(attempts === undefined ? {} : { attempts }),
      ...(isUnsure ? { isUnsure } : {}),
    },
  }
}

const NO_BILLING = {}

function addUsage(usage: Usage, more: Usage): Usage {
  const written = addKnown(usage.cacheWriteTokens, more.cacheWriteTokens)
  const forHours = addKnown(usage.cacheWriteHourTokens, more.cacheWriteHourTokens)
  return {
    inputTokens: usage.inputTokens + more.inputTokens,
    outputTokens: usage.outputTokens + more.outputTokens,
    cachedInputTokens: usage.cachedInputTokens + more.cachedInputTokens,
    reasoningTokens: usage.reasoningTokens + more.reasoningTokens,
    ...(written === undefined ? {} : { cacheWriteTokens: written }),
    ...(forHours === undefined ? {} : { cacheWriteHourTokens: forHours }),
  }
}

function addKnown(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0)
}
