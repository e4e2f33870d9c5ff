/**
 * An account's use over time, summed up. Percentiles come from histograms and are within 2 %.
 */
import { z } from 'zod'
import { ERROR_KINDS } from './error-kinds.ts'
import { nameFields, refuseReversedRange, timeFields } from './usage-query.ts'

const count = z.int().min(0)

const rangeFields = {
  from: timeFields.from.describe('Rounded down to the hour. 30 days before `to` when absent.'),
  to: timeFields.to.describe('Rounded up to the hour. Now when absent.'),
  interval: z.enum(['hour', 'day', 'month', 'all']).default('day').meta({
    description:
      'Length of the steps, in UTC. `hour` takes a range of up to 7 days, `all` gives one step.',
  }),
}

export const latencyQuery = z
  .strictObject({ ...rangeFields, ...nameFields })
  .superRefine(refuseReversedRange)

export const analyticsQuery = z
  .strictObject({
    ...rangeFields,
    group_by: z
      .enum(['gate', 'target', 'key', 'status', 'credential'])
      .optional()
      .meta({
        description:
          'What is told apart in each step; `status` by class (`2xx`), `credential` as `own` ' +
          'and `platform`. Absent: nothing.',
      }),
    ...nameFields,
  })
  .superRefine(refuseReversedRange)

const percentiles = z
  .object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() })
  .meta({ id: 'Percentiles', description: 'Milliseconds, within 2 %; null: nothing to measure.' })

export const usageSum = z
  .object({
    start: z.iso.datetime().meta({ description: 'Where the step begins.' }),
    group: z
      .string()
      .nullable()
      .meta({
        description:
          'The gate, target, key, class of status or credential; null: nothing is told apart, ' +
          'or no upstream was asked.',
      }),
    isRest: z
      .boolean()
      .meta({ description: 'Whether it stands for all groups beyond the 50 with the most calls.' }),
    calls: count,
    errors: count.meta({
      description: 'Calls that failed. Those that their caller left are not among them.',
    }),
    refused: count.meta({
      description:
        'Of `errors`: calls that were admitted, and refused with a 4xx before any upstream ' +
        'was asked. No provider had a part in them.',
    }),
    cancelled: count,
    tokens: z.object({
      input: count,
      output: count,
      cachedInput: count.meta({ description: 'Part of `input`.' }),
      cacheWrite: count.meta({ description: 'Part of `input`.' }),
      reasoning: count.meta({ description: 'Part of `output`.' }),
      unreportedCalls: count.meta({ description: 'Calls whose provider reported none.' }),
    }),
    cost: z.object({
      usd: z.number().meta({ description: 'Of the calls whose cost is known.' }),
      estimatedCalls: count,
      unknownCalls: count,
    }),
    durationMs: percentiles,
    firstByteMs: percentiles,
  })
  .meta({ id: 'UsageSum' })

export const analyticsBody = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    interval: z.string(),
    groupBy: z.string().nullable(),
    data: z
      .array(usageSum)
      .meta({ description: 'In the order of time; steps without calls are left out.' }),
  })
  .meta({ id: 'Analytics' })

export const refusedQuery = z
  .strictObject({ ...rangeFields, gate: nameFields.gate, key: nameFields.key })
  .superRefine(refuseReversedRange)

export const refusedBody = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    interval: z.string(),
    data: z
      .array(
        z
          .object({
            start: z.iso.datetime().meta({ description: 'Where the step begins.' }),
            status: z.int().meta({ description: 'The HTTP status the callers saw.' }),
            errorKind: z.enum(ERROR_KINDS).nullable(),
            calls: count,
          })
          .meta({ id: 'RefusedSum' }),
      )
      .meta({
        description:
          'In the order of time, then the most first; steps without refused calls are left out.',
      }),
  })
  .meta({ id: 'RefusedCalls' })

export type UsageSumBody = z.infer<typeof usageSum>

const countsByRange = z.array(count).meta({ description: 'One for each of `ranges`.' })

export const latencyBody = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    interval: z.string(),
    ranges: z
      .array(
        z.object({ fromMs: count, toMs: count.nullable().meta({ description: 'null: no end.' }) }),
      )
      .meta({
        description:
          'What times are counted in: from `fromMs`, which is included, to `toMs`, which is not.',
      }),
    data: z
      .array(
        z
          .object({
            start: z.iso.datetime().meta({ description: 'Where the step begins.' }),
            calls: count,
            durationMs: countsByRange,
            firstByteMs: countsByRange,
          })
          .meta({ id: 'LatencyStep' }),
      )
      .meta({ description: 'In the order of time; steps without calls are left out.' }),
  })
  .meta({ id: 'Latencies' })
