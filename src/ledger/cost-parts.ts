import type { ModelPrice } from '@pydantic/genai-prices'
import type { CallOutcome } from '../core/call.ts'
import {
  type Cost,
  type CostPart,
  TOOL_KINDS,
  type ToolFees,
  type ToolUses,
  UNKNOWN_COST,
  USES_IN_SOURCE,
} from '../core/cost.ts'
import { addCosts, costOfParts } from '../core/money.ts'
import type { DeclaredPrices } from '../core/owned-model.ts'
import type { Usage } from '../core/usage.ts'

export function partsOfUses(fees: ToolFees, uses: ToolUses): readonly CostPart[] {
  const parts: CostPart[] = []
  for (const kind of TOOL_KINDS) {
    const fee = fees[kind] ?? 0
    if (fee > 0) add(parts, kind, uses[kind] ?? 0, fee)
  }
  return parts
}

/** More digits than any price has, so that a source contains no binary fraction. */
const PRECISION = 1e6

/**
 * Tokens cached for an hour cost more than `partsOfListed` counts. The difference is a separate
 * part, because rows only store the number of written tokens.
 */
export function partsOfHours(prices: ModelPrice, usage: Usage): readonly CostPart[] {
  const tokens = Math.min(usage.cacheWriteHourTokens ?? 0, writtenTokens(usage))
  const hour = rateOf(prices.cache_write_1h_mtok, usage.inputTokens)
  if (tokens === 0 || hour === undefined) return []
  const counted = prices.cache_write_mtok ?? prices.input_mtok
  const more = hour - (rateOf(counted, usage.inputTokens) ?? 0)
  const parts: CostPart[] = []
  if (more > 0) add(parts, 'cacheWriteHour', tokens, Math.round(more * PRECISION) / PRECISION)
  return parts
}

// Rows have no column for tool uses, so a cost's source lists the uses, by which the cost can be
// explained and recomputed.

export function withUses(cost: Cost, parts: readonly CostPart[]): Cost {
  if (parts.length === 0) return cost
  const nanoUsd = addCosts(cost.nanoUsd ?? 0, costOfParts(parts))
  const said = parts.map(({ kind, count, usdPerMillion }) => `+${kind}:${count}@${usdPerMillion}`)
  return { nanoUsd, status: 'estimated', source: (cost.source ?? '') + said.join('') }
}

/** The inverse of `withUses`. A cost without uses is returned unchanged, without parts. */
export function splitUses(cost: Cost): { readonly cost: Cost; readonly uses: readonly CostPart[] } {
  const { nanoUsd, status, source } = cost
  if (source === null || nanoUsd === null) return { cost, uses: [] }
  const uses = [...source.matchAll(USES_IN_SOURCE)].map(([, kind, count, each]) => ({
    kind: kind as CostPart['kind'],
    count: Number(count),
    usdPerMillion: Number(each),
  }))
  const base = source.replaceAll(USES_IN_SOURCE, '')
  // A sum over several targets cannot be split.
  if (uses.length === 0 || base.includes('+')) return { cost, uses: [] }
  return base === ''
    ? { cost: UNKNOWN_COST, uses }
    : { cost: { nanoUsd: nanoUsd - costOfParts(uses), status, source: base }, uses }
}

/** Declared prices are in US cents per million tokens. */
export function partsOfOwned(prices: DeclaredPrices, usage: Usage): readonly CostPart[] {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const parts: CostPart[] = []
  add(parts, 'input', usage.inputTokens - cached, prices.input / 100)
  add(parts, 'cachedInput', cached, prices.cachedInput / 100)
  add(parts, 'output', usage.outputTokens, prices.output / 100)
  return parts
}

// The source of a declared cost contains the prices, so that the cost can be recomputed.

/**
 * The declarer: an account for its own model, the operator in the configuration file, or the
 * provider's data for models missing from the table.
 */
type Declarer = 'owned-model' | 'configured' | 'assumed'

export function costOfDeclared(
  by: Declarer,
  prices: DeclaredPrices,
  { usage, outcome }: { readonly usage: Usage | null; readonly outcome: CallOutcome | undefined },
): Cost {
  const source = `${by}@${prices.input}/${prices.cachedInput}/${prices.output}`
  if (isNothing(prices)) return { nanoUsd: 0, status: 'exact', source }
  if (usage === null) return UNKNOWN_COST
  const nanoUsd = costOfParts(partsOfOwned(prices, usage))
  return { nanoUsd, status: isWhole(outcome) ? 'exact' : 'estimated', source }
}

export function parseDeclaredSource(
  source: string,
): { readonly by: Declarer; readonly prices: DeclaredPrices } | undefined {
  const [, by, ...rates] = DECLARED_SOURCE.exec(source) ?? []
  if (by !== 'owned-model' && by !== 'configured' && by !== 'assumed') return undefined
  const [input = 0, cachedInput = 0, output = 0] = rates.map(Number)
  return { by, prices: { input, cachedInput, output } }
}

const DECLARED_SOURCE =
  /^(owned-model|configured|assumed)@(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/

export function isNothing({ input, output, cachedInput }: DeclaredPrices): boolean {
  return input === 0 && output === 0 && cachedInput === 0
}

/** False when a call was cut short, and so used more than was reported. */
export function isWhole(outcome: CallOutcome | undefined): boolean {
  return outcome === undefined || outcome === 'succeeded'
}

/**
 * Tokens of a kind without its own price count with the kind that contains them.
 * @returns undefined when neither input nor output has a price
 */
export function partsOfListed(prices: ModelPrice, usage: Usage): readonly CostPart[] | undefined {
  const input = rateOf(prices.input_mtok, usage.inputTokens)
  const output = outputRateOf(prices, usage.inputTokens)
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
  // The listed price is per thousand requests, and a call is one request.
  const requests = rateOf(prices.requests_kcount, usage.inputTokens)
  if (requests !== undefined) add(parts, 'request', 1, requests * 1000)
  return parts
}

/**
 * Reports do not separate pictures and films from text, and media models write almost no text, so
 * all output gets the media price.
 */
function outputRateOf(prices: ModelPrice, inputTokens: number): number | undefined {
  const text = rateOf(prices.output_mtok, inputTokens)
  const image = rateOf(prices.output_image_mtok, inputTokens)
  const video = rateOf(prices.output_video_mtok, inputTokens)
  if (image === undefined && video === undefined) return text
  return Math.max(text ?? 0, image ?? 0, video ?? 0)
}

/** Tokens read from the cache were not written to the cache in the same call. */
export function writtenTokens({
  inputTokens,
  cachedInputTokens,
  cacheWriteTokens = 0,
}: Usage): number {
  return Math.min(cacheWriteTokens, inputTokens - Math.min(cachedInputTokens, inputTokens))
}

/**
 * Above a tier's start all tokens have the tier's price, by input length, as Google and Anthropic
 * document.
 */
export function rateOf(price: ModelPrice[string], inputTokens: number): number | undefined {
  if (price === undefined || typeof price === 'number') return price
  let rate = price.base
  for (const tier of price.tiers) if (inputTokens > tier.start) rate = tier.price
  return rate
}

function add(
  parts: CostPart[],
  kind: CostPart['kind'],
  count: number,
  usdPerMillion: number,
): void {
  if (count > 0) parts.push({ kind, count, usdPerMillion })
}
