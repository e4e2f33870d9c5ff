/** An account as the control plane shows it: its plan and its usage. */
import { z } from 'zod'

const limit = z.number().min(0).nullable().meta({ description: 'null: no limit.' })
const amount = z.number().min(0)
const days = z.int().min(1)

export const accountBody = z
  .object({
    id: z.string(),
    name: z.string(),
    plan: z.string().meta({ example: 'pro' }),
    limits: z
      .object({
        requestsPerMinute: limit,
        tokensPerMinute: limit,
        concurrentCalls: limit,
        accountRequestsPerMinute: limit,
        accountConcurrentCalls: limit,
        monthlyTokens: limit,
        monthlySpendUsd: limit,
      })
      .meta({
        description:
          'The first three of each key; the next two of all keys of the account together, and ' +
          'the last two of the account in a month.',
      }),
    quota: z
      .object({
        tokens: z.object({ limit, used: amount, reserved: amount, resetsAt: z.iso.datetime() }),
        spend: z.object({
          limit: limit.meta({ description: 'The limit in US dollars; null: no limit.' }),
          used: amount,
          reserved: amount,
          resetsAt: z.iso.datetime(),
          unpricedCalls: z.int().meta({
            description: 'Calls of this month with unknown cost, which is not in `used`.',
          }),
        }),
      })
      .meta({
        description:
          "The quota of this calendar month, in UTC. Calls with the account's own provider keys and " +
          'to its own models are not counted.',
      }),
    retention: z
      .object({
        callLogDays: days.meta({
          description: 'Days for which single calls stay in the log; sums remain.',
        }),
        hourlySumsDays: days.meta({
          description: 'Days for which hourly sums are retained; daily sums remain.',
        }),
        auditLogDays: days.meta({ description: 'Days for which changes stay in the audit log.' }),
      })
      .meta({
        description:
          'How long the operator retains records. Prompts and completions are never stored.',
      }),
  })
  .meta({ id: 'Account' })

export type AccountBody = z.infer<typeof accountBody>
