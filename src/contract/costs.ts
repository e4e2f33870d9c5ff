import { z } from 'zod'
import { COST_PART_KINDS, COST_STATUSES } from '../core/cost.ts'
import { refuseReversedRange, timeParameter } from './usage-query.ts'

const MAX_WRONG = 20
const WRONG = 'must be the source of a cost of an entry, such as overlay:7d89ce077233'

export const verifyCostsBody = z
  .strictObject({
    from: timeParameter.optional().meta({ type: 'string', format: 'date-time' }),
    to: timeParameter.optional().meta({ type: 'string', format: 'date-time' }),
    target: z
      .string()
      .max(300)
      .optional()
      .meta({ description: 'Only calls of this `provider/model`.' }),
    wrong: z
      .array(z.string().regex(/^overlay:[0-9a-f]{12}$/, { error: WRONG }))
      .max(MAX_WRONG)
      .default([])
      .meta({
        description:
          'Sources of costs whose entry was wrong: these costs are computed with the prices of ' +
          'today. Costs of other entries stay as they were declared at the time.',
        example: ['overlay:7d89ce077233'],
      }),
    fix: z
      .boolean()
      .default(false)
      .meta({
        description:
          'Replace the costs that differ, in the rows and in the sums. A request replaces those of ' +
          'one day, in one transaction with its entry in the audit log.',
      }),
    cursor: z.string().optional().meta({ description: 'The `nextCursor` of the previous answer.' }),
  })
  .superRefine(refuseReversedRange)
  .meta({ id: 'VerifyCosts' })

const cost = z
  .object({
    usd: z.number().nullable().meta({ description: 'Null: unknown.' }),
    status: z.enum(COST_STATUSES),
    source: z
      .string()
      .nullable()
      .meta({
        description:
          'The source of the price, with its version. Behind it, the multiples of that price for the ' +
          'served tier, speed and region: `*priority:2`. Behind those, uses of tools that the vendor runs: ' +
          '`+webSearch:3@10000` is three at 10,000 US dollars for a million. ' +
          '`+cacheWriteHour` counts tokens in the same way. `+answered`: priced by the models that ' +
          'answered. `reported`: the vendor reported the cost itself.',
      }),
  })
  .meta({ id: 'Cost' })

export const costBody = cost

const costPart = z
  .object({
    kind: z.enum(COST_PART_KINDS).meta({
      description:
        'The units that were counted. Cached input, cache writes and reasoning are parts of their own ' +
        'only where they have a price of their own; `cacheWriteHour` is what an hour in the cache ' +
        'costs more, and `inputAudio`, `cachedInputAudio` and `outputAudio` what audio costs more than ' +
        'text. `webSearch` and what follows it are uses of tools ' +
        'that the vendor runs itself, at its fee.',
    }),
    count: z.int().min(0).meta({
      description: 'The number of tokens, of requests for `request`, or of uses for tools.',
    }),
    usdPerMillion: z.number(),
    usd: z.number(),
  })
  .meta({ id: 'CostPart' })

export const costWithPartsBody = z
  .object({
    ...cost.shape,
    parts: z
      .array(costPart)
      .nullable()
      .meta({
        description:
          'The parts of the cost, computed with the price at the time of the call. Null: the ' +
          'cost is unknown, or that price is no longer available.',
      }),
  })
  .meta({ id: 'CostWithParts' })

export const verifiedCostsBody = z
  .object({
    source: z.string().meta({ description: 'The price table of the computation.' }),
    checked: z.int(),
    fixed: z.int(),
    incomparable: z.array(z.object({ source: z.string().nullable(), calls: z.int() })).meta({
      description:
        'The number of calls whose costs stay, by source: reported costs, costs of entries that ' +
        'are no longer in force, and costs whose price cannot be found again.',
    }),
    models: z
      .array(
        z.object({
          target: z.string().nullable(),
          calls: z.int(),
          storedUsd: z.number(),
          computedUsd: z.number(),
        }),
      )
      .meta({ description: 'The differences by model. Unknown costs count as 0.' }),
    differences: z
      .array(
        z.object({ id: z.string(), target: z.string().nullable(), stored: cost, computed: cost }),
      )
      .meta({ description: 'The first 1,000 differences of this answer.' }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'The cursor for the next request; null: this was the last page.' }),
  })
  .meta({ id: 'VerifiedCosts' })
