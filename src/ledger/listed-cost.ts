/** The cost of a report at a listed price, and whether that report has all that the price asks for. */
import type { CallOutcome } from '../core/call.ts'
import { type Cost, UNKNOWN_COST } from '../core/cost.ts'
import { costOfParts } from '../core/money.ts'
import type { Usage } from '../core/usage.ts'
import { partsOfAudio } from './audio-parts.ts'
import { isWhole, partsOfHours, partsOfListed, withUses, writtenTokens } from './cost-parts.ts'
import type { ListedPrice } from './price-table.ts'
import { type ServedPrice, scaleParts } from './served-price.ts'

interface Reported {
  readonly usage: Usage
  readonly outcome: CallOutcome | undefined
  /** The table's name and version. */
  readonly source: string
  readonly as: ServedPrice
}

export function costOfListed({ prices, isOwn }: ListedPrice, reported: Reported): Cost {
  const { usage, outcome, source, as } = reported
  const parts = partsOfListed(prices, usage)
  if (parts === undefined) return UNKNOWN_COST
  const isReportWhole =
    (usage.inputTokens === 0 || prices.input_mtok !== undefined) &&
    (usage.outputTokens === 0 || prices.output_mtok !== undefined) &&
    // Tokens written to a cache cost more than those read, and for an hour more than for
    // minutes.
    (prices.cache_write_mtok === undefined || usage.cacheWriteTokens !== undefined) &&
    (prices.cache_write_1h_mtok === undefined || writtenTokens(usage) === 0) &&
    usage.cacheWriteHourTokens === undefined &&
    !hasOtherPrices(prices)
  const status = isOwn && isReportWhole && isWhole(outcome) ? 'exact' : 'estimated'
  const nanoUsd = costOfParts(scaleParts(parts, as))
  const cost: Cost = { nanoUsd, status, source: source + as.inSource }
  const beside = [...partsOfHours(prices, usage), ...partsOfAudio(prices, usage)]
  return withUses(cost, scaleParts(beside, as))
}

function hasOtherPrices(prices: ListedPrice['prices']): boolean {
  for (const key of OTHER_TOKENS) if (prices[key] !== undefined) return true
  return false
}

/**
 * Tokens with a price of their own that reports do not tell apart, and fees that depend on more
 * than their number.
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
