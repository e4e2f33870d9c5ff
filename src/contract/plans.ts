/**
 * The section `plans` of the operator's configuration file. Must not know what a plan's limits do.
 */
import { z } from 'zod'
import { MAX_LIMIT_USD } from '../core/money.ts'
import { BUILT_IN_PLANS } from '../core/plan.ts'

/** A year of the busiest account is far below; counts stay exact numbers with room to spare. */
const MAX_LIMIT = 1_000_000_000_000
const BUILT_IN = Object.keys(BUILT_IN_PLANS)

const limit = z.int().min(0).max(MAX_LIMIT).nullable()

const planName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error:
    'must be 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit',
})

const planLimits = z
  .strictObject({
    requestsPerMinute: limit.meta({
      description: 'Calls that one key may make a minute; null: no limit.',
    }),
    tokensPerMinute: limit.meta({ description: 'Input and output tokens of one key a minute.' }),
    concurrentCalls: limit.meta({ description: 'Calls that one key may have open at once.' }),
    accountRequestsPerMinute: limit.meta({
      description: 'Calls that all keys of the account together may make a minute.',
    }),
    accountConcurrentCalls: limit.meta({
      description: 'Calls that all keys of the account together may have open at once.',
    }),
    monthlyTokens: limit.meta({ description: 'Tokens of the account in a calendar month (UTC).' }),
    monthlySpendUsd: z.number().min(0).max(MAX_LIMIT_USD).nullable().meta({
      description: 'The most that the account may cost in a calendar month (UTC), in US dollars.',
    }),
    unpriced: z.enum(['refuse', 'allow']).meta({
      description:
        'With monthlySpendUsd: whether calls may go to targets whose price is not known, ' +
        'which count nothing. refuse is the default.',
    }),
  })
  .partial()

/** Parses to a `PlansSection` of core/plan.ts; absent members keep their built-in values. */
export const plansSection = z
  .strictObject({
    default: planName
      .optional()
      .meta({ description: 'The plan of every account that is not named.' }),
    accounts: z.record(z.string(), planName).optional().meta({ description: 'Account id → plan.' }),
    definitions: z
      .record(planName, planLimits)
      .optional()
      .meta({ description: 'Further plans, and changes to free, pro and unlimited.' }),
  })
  .superRefine((section, context) => {
    const known = new Set([...BUILT_IN, ...Object.keys(section.definitions ?? {})])
    const message = `is not a plan; there are ${[...known].join(', ')}`
    if (section.default !== undefined && !known.has(section.default))
      context.addIssue({ code: 'custom', path: ['default'], message })
    for (const [accountId, name] of Object.entries(section.accounts ?? {}))
      if (!known.has(name))
        context.addIssue({ code: 'custom', path: ['accounts', accountId], message })
  })
