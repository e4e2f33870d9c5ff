/**
 * The configuration file's entries for models, and the price of models without an entry. Checks
 * that concern several entries are in config/parse-models.ts.
 */
import { z } from 'zod'
import { DEFAULT_UNPRICED_PRICE, TOKEN_PRICES } from '../core/model-entry.ts'
import { modelFacts, tokens } from './model-facts.ts'

export const MAX_MODELS = 20_000
const MAX_USD_PER_MILLION = 1_000_000
const MAX_USD_PER_REQUEST = 10_000
const MAX_DATES = 100
const MAX_STEPS = 10
const MAX_TIERS = 10

const MODEL_NAME = 'must be provider/model, such as openai/gpt-5'

/** A provider's id, a slash, and the model's name at the provider, which may contain slashes. */
const modelName = z
  .string()
  .max(300)
  .regex(/^[a-z][a-z0-9-]{0,31}\/[^\s*]+$/, { error: MODEL_NAME })

const modelPattern = z
  .string()
  .max(300)
  .regex(/^[a-z][a-z0-9-]{0,31}\/(?:[^\s*]+\*?|\*)$/, {
    error: `${MODEL_NAME}; a * may only be its last character`,
  })

const usdPerMillion = z.number().min(0).max(MAX_USD_PER_MILLION).optional()

const priceMembers = {
  ...(Object.fromEntries(TOKEN_PRICES.map((member) => [member, usdPerMillion])) as Record<
    (typeof TOKEN_PRICES)[number],
    typeof usdPerMillion
  >),
  perRequest: z.number().min(0).max(MAX_USD_PER_REQUEST).optional(),
}

const pricesAbove = z.strictObject({ inputTokens: tokens, ...priceMembers })

const tier = z.string().regex(/^[a-z][a-z0-9_.-]{0,31}$/, {
  error: 'must be the name of a tier in small letters, such as priority',
})

const from = z.union([z.iso.date(), z.iso.datetime()], {
  error: 'must be a date such as 2026-11-20, or a time such as 2026-11-20T16:00:00Z',
})

const datedPrices = z.strictObject({
  from: from.optional(),
  ...priceMembers,
  above: z
    .array(pricesAbove)
    .max(MAX_STEPS)
    .refine(isAscending, { error: 'must have ascending inputTokens' })
    .optional(),
  tiers: z
    .record(tier, z.strictObject(priceMembers))
    .refine((tiers) => Object.keys(tiers).length <= MAX_TIERS, {
      error: `must have at most ${MAX_TIERS} members`,
    })
    .optional(),
})

function isAscending(steps: readonly { readonly inputTokens: number }[]): boolean {
  return steps.every(
    ({ inputTokens }, at) => at === 0 || inputTokens > (steps[at - 1]?.inputTokens ?? 0),
  )
}

export const modelEntry = z.strictObject({
  model: modelPattern,
  like: modelName.optional(),
  prices: z.array(datedPrices).min(1).max(MAX_DATES).optional(),
  facts: modelFacts.optional(),
})

const price = z.number().min(0).max(MAX_USD_PER_MILLION)

export const unpricedPriceSection = z.strictObject({
  input: price.default(DEFAULT_UNPRICED_PRICE.input),
  output: price.default(DEFAULT_UNPRICED_PRICE.output),
  embedding: price.default(DEFAULT_UNPRICED_PRICE.embedding),
})
