/**
 * The difference between the prices of audio tokens and those of the text that they are counted as:
 * parts of their own, since rows do not know how many of the tokens were audio.
 */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { CostPart } from '../core/cost.ts'
import type { Usage } from '../core/usage.ts'
import { rateOf } from './cost-parts.ts'

/** More digits than any price has; binary fractions are in no source of a cost. */
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
    ...more('inputAudio', input, rate(prices.input_audio_mtok), text),
    ...more(
      'cachedInputAudio',
      cachedInput,
      rate(prices.cache_audio_read_mtok),
      rate(prices.cache_read_mtok) ?? text,
    ),
    ...more(
      'outputAudio',
      Math.min(audio.output, outputTokens),
      rate(prices.output_audio_mtok),
      rate(prices.output_mtok),
    ),
  ]
}

const NO_PARTS: readonly CostPart[] = []

function more(
  kind: CostPart['kind'],
  count: number,
  audio: number | undefined,
  text = 0,
): readonly CostPart[] {
  if (audio === undefined || audio <= text || count <= 0) return NO_PARTS
  return [{ kind, count, usdPerMillion: Math.round((audio - text) * PRECISION) / PRECISION }]
}
