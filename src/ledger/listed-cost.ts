import type { ModelPrice } from '@pydantic/genai-prices'
import type { CallOutcome } from '../core/call.ts'
import { type Cost, type CostPart, UNKNOWN_COST } from '../core/cost.ts'
import { costOfParts } from '../core/money.ts'
import type { Usage } from '../core/usage.ts'
import {
  isWhole,
  partsOfHours,
  partsOfListed,
  rateOf,
  withUses,
  writtenTokens,
} from './cost-parts.ts'
import type { ListedPrice, PricedKinds } from './price-table.ts'
import { type ServedPrice, scaleParts } from './served-price.ts'

interface Reported {
  readonly usage: Usage
  readonly outcome: CallOutcome | undefined
  readonly source: string
  readonly as: ServedPrice
}

export function costOfListed(
  { prices, isOwn, borrowed }: ListedPrice & PricedKinds,
  reported: Reported,
): Cost {
  const { usage, outcome, source, as } = reported
  const parts = partsOfListed(prices, usage)
  if (parts === undefined) return UNKNOWN_COST
  const isReportWhole =
    (usage.inputTokens === 0 || prices.input_mtok !== undefined) &&
    (usage.outputTokens === 0 || prices.output_mtok !== undefined) &&
    (prices.cache_write_mtok === undefined || usage.cacheWriteTokens !== undefined) &&
    (prices.cache_write_1h_mtok === undefined || writtenTokens(usage) === 0) &&
    usage.cacheWriteHourTokens === undefined &&
    !hasOtherPrices(prices) &&
    !(borrowed !== undefined && parts.some(({ kind }) => borrowed.has(kind)))
  const status = isOwn && isReportWhole && isWhole(outcome) ? 'exact' : 'estimated'
  const nanoUsd = costOfParts(scaleParts(parts, as))
  const cost: Cost = { nanoUsd, status, source: source + as.inSource }
  if (usage.audio === undefined && usage.cacheWriteHourTokens === undefined) return cost
  const beside = [...partsOfHours(prices, usage), ...partsOfAudio(prices, usage)]
  return withUses(cost, scaleParts(beside, as))
}

function hasOtherPrices(prices: ListedPrice['prices']): boolean {
  for (const key of OTHER_TOKENS) if (prices[key] !== undefined) return true
  return false
}

/**
 * Token kinds that have their own price but are not reported separately, and fees that depend on
 * more than a count.
 */
const OTHER_TOKENS = [
  'input_audio_mtok',
  'output_audio_mtok',
  'input_image_mtok',
  'output_image_mtok',
  'input_video_mtok',
  'output_video_mtok',
  'output_citation_mtok',
  'requests_kcount',
]

// Rows count audio tokens as text, so the difference between the two prices is a separate part.

const NO_PARTS: readonly CostPart[] = []
/** More digits than any price has, so that a source contains no binary fraction. */
const PRECISION = 1e6

export function partsOfAudio(prices: ModelPrice, usage: Usage): readonly CostPart[] {
  const { audio, inputTokens, outputTokens, cachedInputTokens } = usage
  if (audio === undefined) return NO_PARTS
  const cachedInput = Math.min(audio.cachedInput, cachedInputTokens, inputTokens)
  const uncached = inputTokens - Math.min(cachedInputTokens, inputTokens)
  const input = Math.min(audio.input - cachedInput, uncached)
  const rate = (price: ModelPrice[string]) => rateOf(price, inputTokens)
  const text = rate(prices.input_mtok)
  return [
    ...surcharge('inputAudio', input, rate(prices.input_audio_mtok), text),
    ...surcharge(
      'cachedInputAudio',
      cachedInput,
      rate(prices.cache_audio_read_mtok),
      rate(prices.cache_read_mtok) ?? text,
    ),
    ...surcharge(
      'outputAudio',
      Math.min(audio.output, outputTokens),
      rate(prices.output_audio_mtok),
      rate(prices.output_mtok),
    ),
  ]
}

function surcharge(
  kind: CostPart['kind'],
  count: number,
  audio: number | undefined,
  text = 0,
): readonly CostPart[] {
  if (audio === undefined || audio <= text || count <= 0) return NO_PARTS
  return [{ kind, count, usdPerMillion: Math.round((audio - text) * PRECISION) / PRECISION }]
}
