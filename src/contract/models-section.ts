/**
 * The configuration file's entries for models, and the price of models without an entry. Checks
 * that concern several entries are in config/parse-models.ts.
 */
import { z } from 'zod'
import {
  DEFAULT_UNPRICED_PRICE,
  type ModelEntry,
  type PriceMember,
  TOKEN_PRICES,
} from '../core/model-entry.ts'
import { modelFacts, tokens } from './model-facts.ts'
import { modelTakes } from './model-takes.ts'

export const MAX_MODELS = 20_000
const MAX_USD_PER_MILLION = 1_000_000
const MAX_USD_PER_REQUEST = 10_000
const MAX_DATES = 100
const MAX_STEPS = 10
const MAX_TIERS = 10

const MODEL_NAME = 'must be provider/model, such as openai/gpt-5'

/** A provider's id, a slash, and the model's name at the provider, which may contain slashes. */
export const modelName = z
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

export const datedPrices = z.strictObject({
  from: from.optional(),
  ...priceMembers,
  above: z
    .array(pricesAbove)
    .max(MAX_STEPS)
    .refine(isAscending, { error: 'must have ascending inputTokens' })
    .readonly()
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

export const listOfPrices = z.array(datedPrices).min(1).max(MAX_DATES)

export const modelEntry = z.strictObject({
  model: modelPattern,
  like: modelName.optional(),
  prices: listOfPrices.optional(),
  facts: modelFacts.optional(),
  takes: modelTakes.optional(),
  retiresOn: z.iso.date({ error: 'must be a date such as 2027-03-01' }).optional(),
})

export type EntryFault = readonly [path: readonly PropertyKey[], message: string]

/** Faults of an entry's prices that the schema of a single price cannot find. */
export function* faultsOfPrices({
  prices = [],
  like,
}: Pick<ModelEntry, 'prices' | 'like'>): Generator<EntryFault> {
  const dates = new Set<number | undefined>()
  for (const [index, price] of prices.entries()) {
    const { from, input, output, above = [] } = price
    const date = from === undefined ? undefined : Date.parse(from)
    if (dates.has(date)) yield [['prices', index], 'must have another date than those before it']
    dates.add(date)
    for (const [at, { inputTokens: _, ...step }] of above.entries())
      for (const member of Object.keys(step) as PriceMember[])
        if (price[member] === undefined)
          yield [['prices', index, 'above', at, member], 'must also be a price without above']
    if (like !== undefined) continue
    if (input === undefined) yield [['prices', index], 'must have input, or the entry like']
    if (output === undefined) yield [['prices', index], 'must have output, or the entry like']
  }
}

const price = z.number().min(0).max(MAX_USD_PER_MILLION)

export const unpricedPriceSection = z.strictObject({
  input: price.default(DEFAULT_UNPRICED_PRICE.input),
  output: price.default(DEFAULT_UNPRICED_PRICE.output),
  embedding: price.default(DEFAULT_UNPRICED_PRICE.embedding),
})
