/**
 * What a call used and what that costs: what its upstreams reported, and an estimate of the rest
 * where the gateway itself ended it. Knows neither why it ended nor any price.
 */
import type { Cost } from '../../core/cost.ts'
import type { Usage } from '../../core/usage.ts'
import type { AcceptedRequest } from '../../wire/dialect.ts'
import type { JsonObject } from '../../wire/json-splice.ts'
import type { AttemptRecord } from '../attempt/attempt-record.ts'
import type { Prices } from '../ports.ts'
import { estimateInputTokens, estimateTextTokens } from './estimate-tokens.ts'

/** What one target used. */
export interface UsedPart {
  /** `provider/model`; null where the gateway answered itself. */
  readonly target: string | null
  readonly usage: Usage
  readonly isEstimated: boolean
}

export interface EndedCall {
  readonly request: AcceptedRequest
  /** The target that answered, or was asked last. */
  readonly target: string | null
  readonly reported: Usage | null
  /** Undefined: what was not reported is not estimated. */
  readonly unreportedBytes: number | undefined
  readonly attempts: readonly AttemptRecord[]
}

/** Nothing where nobody knows, and nothing is to be guessed. */
export function listUsed(call: EndedCall): readonly UsedPart[] {
  const parts: UsedPart[] = []
  const { target, reported, unreportedBytes, request } = call
  if (unreportedBytes !== undefined) parts.push(withEstimate(call, unreportedBytes))
  else if (reported !== null) parts.push({ target, usage: reported, isEstimated: false })
  for (const attempt of call.attempts) {
    if (!attempt.isGivenUp) continue
    const usage = onlyInput(estimateInputTokens(request.body))
    parts.push({ target: attempt.target, usage, isEstimated: true })
  }
  return parts
}

export function sumUsed(parts: readonly UsedPart[]): Usage | null {
  const [first, ...others] = parts
  if (first === undefined) return null
  let { usage } = first
  // Others were given up before they wrote anything: they read, and nothing is known of their
  // caches.
  for (const { usage: other } of others)
    usage = { ...usage, inputTokens: usage.inputTokens + other.inputTokens }
  return usage
}

/**
 * The report counts as it is; text behind it is added, and without any report what went in as well.
 */
function withEstimate({ reported, request, target }: EndedCall, bytes: number): UsedPart {
  const written = estimateTextTokens(bytes)
  if (reported === null) {
    const usage = { ...onlyInput(estimateInputTokens(request.body)), outputTokens: written }
    return { target, usage, isEstimated: true }
  }
  if (written === 0) return { target, usage: reported, isEstimated: false }
  const outputTokens = reported.outputTokens + written
  return { target, usage: { ...reported, outputTokens }, isEstimated: true }
}

function onlyInput(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
}

type PricedCall = Parameters<Prices['priceOf']>[0]

interface UnpricedCall extends Omit<PricedCall, 'isEstimated' | 'hasExtraFees'> {
  readonly request: AcceptedRequest
}

/** Each target's part at its own price. */
export function priceUsed(
  prices: Prices | undefined,
  used: readonly UsedPart[],
  call: UnpricedCall,
): Cost | undefined {
  if (prices === undefined) return undefined
  const [first] = used
  if (first === undefined) return prices.priceOf(call)
  const { accountId, startedAt, outcome } = call
  const hasFees = hasExtraFees(call.request.body)
  const price = ({ target, usage, isEstimated }: UsedPart) =>
    prices.priceOf({
      accountId,
      target,
      usage,
      startedAt,
      outcome,
      isEstimated,
      hasExtraFees: hasFees,
    })
  if (used.length === 1 && first.target === call.target) return price(first)
  const costs = used.map(price)
  return costs.some((cost) => cost === undefined) ? undefined : sumCosts(costs as readonly Cost[])
}

/**
 * Marks a cost that the price of the row's target does not make again: others were asked beside it.
 */
const SUM_MARK = '+hedge'

function sumCosts(costs: readonly Cost[]): Cost {
  const known = costs.filter((cost) => cost.microUsd !== null)
  const source = known[0]?.source
  if (source === undefined) return UNKNOWN_COST
  const microUsd = known.reduce((sum, cost) => sum + (cost.microUsd ?? 0), 0)
  return { microUsd, status: 'estimated', source: `${source ?? ''}${SUM_MARK}` }
}

export const UNKNOWN_COST: Cost = { microUsd: null, status: 'unknown', source: null }

/** Spellings of the tier that everybody gets. */
const USUAL_TIERS: ReadonlySet<unknown> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
])
/** Beginnings of the types of tools that vendors run and charge for; a version may follow. */
const HOSTED_TOOLS = [
  'web_search',
  'file_search',
  'code_interpreter',
  'code_execution',
  'image_generation',
  'document_library',
  'x_search',
]
const HOSTED_MEMBERS = ['web_search_options', 'search_parameters', 'plugins']

/** Reads no more than the tools, and those only where one of the names is in them. */
function hasExtraFees(body: JsonObject): boolean {
  const tier = body.get('service_tier')
  if (tier !== undefined && body.type(tier) === 'string' && !USUAL_TIERS.has(body.value(tier)))
    return true
  for (const name of HOSTED_MEMBERS) {
    const member = body.get(name)
    if (member !== undefined && body.type(member) !== 'null') return true
  }
  const tools = body.get('tools')
  if (tools === undefined || body.type(tools) !== 'array') return false
  const raw = body.raw(tools)
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (!HOSTED_TOOLS.some((name) => text.includes(`"${name}`))) return false
  // A function of the caller's own may have such a name too.
  const listed = body.value(tools) as readonly unknown[]
  return listed.some((tool) => isHosted((tool as { type?: unknown } | null)?.type))
}

function isHosted(type: unknown): boolean {
  return typeof type === 'string' && HOSTED_TOOLS.some((name) => type.startsWith(name))
}
