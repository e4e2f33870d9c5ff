/** An account's usage over time, as sums. Percentiles come from histograms and are within 2 %. */
import { z } from 'zod'
import { ERROR_KINDS } from '../core/errors.ts'
import { GROUP_ORDERS, USAGE_GROUPS, USAGE_INTERVALS } from '../core/usage.ts'
import { callerFields, nameFields, refuseReversedRange, timeFields } from './usage-query.ts'
import { callCounts, costSums, count, tokenCounts } from './usage-sums.ts'

const rangeFields = {
  from: timeFields.from.describe(
    'Start of the range, rounded down to the hour; 30 days before `to` when absent.',
  ),
  to: timeFields.to.describe('End of the range, rounded up to the hour; now when absent.'),
  interval: z.enum(USAGE_INTERVALS).default('day').meta({
    description:
      'Length of the steps, in UTC. `hour` allows a range of up to 7 days, `all` gives one step.',
  }),
}

export const latencyQuery = z
  .strictObject({ ...rangeFields, ...nameFields })
  .superRefine(refuseReversedRange)

const MOST_GROUPS = 1_000
const MOST_GROUPS_OF_STEPS = 50
/** Of a search. Each word is looked for in each name. */
const MOST_WORDS = 10
const GROUPS_PROBLEM = `must be a whole number from 1 to ${MOST_GROUPS}`

const pageFields = {
  order: z
    .enum(GROUP_ORDERS)
    .optional()
    .meta({
      description:
        'What groups are ranked by over the whole range, the greatest first; `name`: by their ' +
        'ids. `calls` when absent.',
    }),
  limit: z
    .string({ error: GROUPS_PROBLEM })
    .regex(/^[0-9]{1,9}$/, { error: GROUPS_PROBLEM, abort: true })
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MOST_GROUPS, { error: GROUPS_PROBLEM })
    .optional()
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: MOST_GROUPS,
      description:
        'How many groups are summed up one by one; 50 when absent. More than ' +
        `${MOST_GROUPS_OF_STEPS} need the interval \`all\`.`,
    }),
  cursor: z
    .string({ error: 'must be given once' })
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page, with the same `order`.' }),
}

const yesOrNo = z.enum(['true', 'false']).transform((text) => text === 'true')

export const analyticsQuery = z
  .strictObject({
    ...rangeFields,
    group_by: z
      .enum(USAGE_GROUPS)
      .optional()
      .meta({
        description:
          'The dimension of the groups in each step; `status` by class (`2xx`), `credential` as `own` ' +
          'and `platform`. `model` and `provider` are the parts of the target. A call with several ' +
          'tags counts in each, so sums by tag may exceed the total. Absent: no groups.',
      }),
    then_by: z
      .enum(USAGE_GROUPS)
      .optional()
      .meta({
        description:
          'A second dimension, with `group_by`: groups are pairs such as a user and a model. Pairs ' +
          'with `user`, `session`, `agent` or `tag` are read from the calls that the operator still ' +
          'keeps.',
      }),
    ...pageFields,
    search: z
      .string({ error: 'must be given once' })
      .regex(/^[^\p{Cc}\p{Cs}]{1,300}$/u, { error: 'must be 1 to 300 characters', abort: true })
      .refine((text) => text.trim().split(/\s+/).length <= MOST_WORDS, {
        error: `must have at most ${MOST_WORDS} words`,
      })
      .optional()
      .meta({
        type: 'string',
        description:
          'Only users or tags whose name contains each of these words or whose id contains the text, ' +
          'and the member with this e-mail address. Needs `group_by=user` or `group_by=tag`, and ' +
          'the interval `all`. The other groups are in no sum.',
      }),
    percentiles: z
      .enum(['true', 'false', 'totals'])
      .transform((text) => (text === 'totals' ? text : text === 'true'))
      .optional()
      .meta({
        type: ['boolean', 'string'],
        enum: [true, false, 'totals'],
        description:
          'Whether percentiles are read; `true` when absent. Without them they are null, and the ' +
          'answer takes less time. `totals`: with `totals=true`, only `total` and `groupTotals` ' +
          'have them, and with the interval `all` the sums.',
      }),
    totals: yesOrNo.optional().meta({
      type: 'boolean',
      description:
        'Whether the answer also has `total` and `groupTotals`, which saves a second request ' +
        'with the interval `all`; not with `cursor` or `search`.',
    }),
    ...nameFields,
    ...callerFields,
  })
  .superRefine(refuseReversedRange)
  .superRefine((query, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    for (const field of ['group_by', 'then_by'] as const) {
      if (query[field] === 'session' && query.interval !== 'all')
        refuse(field, 'needs the interval "all" for sessions')
      if (query[field] === 'agent' && query.session === undefined && query.user === undefined)
        refuse(field, 'needs session or user for agents')
    }
    const isOfNamed = query.group_by === 'user' || query.group_by === 'tag'
    const isSearchable = isOfNamed && query.then_by === undefined && query.interval === 'all'
    if (query.search !== undefined && !isSearchable)
      refuse('search', 'needs group_by=user or group_by=tag alone, and the interval "all"')
    if (query.totals === true && (query.cursor ?? query.search) !== undefined)
      refuse('totals', 'must be absent with cursor and search')
    if (query.percentiles === 'totals' && query.totals !== true)
      refuse('percentiles', 'must not be totals without totals=true')
    if (query.then_by !== undefined && query.then_by === query.group_by)
      refuse('then_by', 'must differ from group_by')
    if (query.group_by === undefined) {
      for (const field of ['then_by', 'order', 'limit', 'cursor'] as const)
        if (query[field] !== undefined) refuse(field, 'needs group_by')
    } else if (query.interval !== 'all' && (query.limit ?? 1) > MOST_GROUPS_OF_STEPS)
      refuse('limit', `must be at most ${MOST_GROUPS_OF_STEPS} unless the interval is "all"`)
  })

const percentiles = z
  .object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() })
  .meta({
    id: 'Percentiles',
    description: 'Percentiles in milliseconds, within 2 %; null: no call had a measurement.',
  })

export const usageSum = z
  .object({
    start: z.iso.datetime().meta({ description: 'The start of the step.' }),
    group: z
      .string()
      .nullable()
      .meta({
        description:
          'The gate, target, model, provider, key, class of status, credential, user, session, ' +
          'agent or tag. Users, sessions, agents and tags are ids or hashes as in the log. Null: the ' +
          'request names no `group_by`, no upstream was asked, or the calls have no such caller.',
      }),
    name: z
      .string()
      .nullable()
      .meta({
        description:
          'The name of a key, or of the member who used the playground; the name of a user; the ' +
          'text of a tag. Null: the groups have no names, or the name is not known.',
      }),
    thenGroup: z
      .string()
      .nullable()
      .meta({ description: 'The group of the second dimension, with `then_by`.' }),
    thenName: z
      .string()
      .nullable()
      .meta({ description: 'The name of `thenGroup`, as `name` is of `group`.' }),
    isRest: z.boolean().meta({
      description:
        'Whether the row is the sum of all groups that rank behind those of this page. The ' +
        'following pages list these groups.',
    }),
    lastDay: z.iso
      .date()
      .nullable()
      .meta({
        description:
          'The latest day (UTC) on which the user called, with `group_by=user` and the interval ' +
          '`all`. Null: other questions, also with a filter other than `user`.',
      }),
    ...callCounts,
    tokens: z.object({
      ...tokenCounts,
      unreportedCalls: count.meta({
        description: 'Successful calls for which the provider reported no tokens.',
      }),
    }),
    cost: z.object({
      ...costSums,
      unknownCalls: count.meta({
        description:
          'Calls whose cost is unknown: their provider reported no tokens, or the model has no ' +
          'price. Failed calls without a report are in `errors` alone.',
      }),
      unpricedCalls: count.meta({
        description: 'The part of `unknownCalls` with known tokens and a model without a price.',
      }),
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
    thenBy: z.string().nullable(),
    onlyUser: z
      .string()
      .nullable()
      .meta({
        description:
          'The member whom the answer is limited to, because it is grouped by user and the caller ' +
          'sees no figures of other people (`peopleFigures` of `/v1/account/attribution`). Null: no ' +
          'such limit.',
      }),
    data: z.array(usageSum).meta({
      description:
        'In the order of time, then of the ranks, the rest last; steps without calls are left ' +
        'out.',
    }),
    nextCursor: z
      .string()
      .nullable()
      .meta({
        description:
          'Give it as `cursor` for the groups that follow; null: there are none. Pages of a range ' +
          'that is over do not shift.',
      }),
    total: usageSum
      .nullable()
      .optional()
      .meta({
        description:
          'With `totals`: the sum over the whole range and all groups; null without calls. A call ' +
          'with several tags counts once.',
      }),
    groupTotals: z
      .array(usageSum)
      .optional()
      .meta({
        description:
          'With `totals`: the sum of each group over the whole range, in the order of the ranks, ' +
          'the rest last. Empty with the interval `all`, for which `data` has these sums.',
      }),
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
            start: z.iso.datetime().meta({ description: 'The start of the step.' }),
            status: z.int().meta({ description: 'The HTTP status that the callers received.' }),
            errorKind: z.enum(ERROR_KINDS).nullable(),
            calls: count,
          })
          .meta({ id: 'RefusedSum' }),
      )
      .meta({
        description:
          'Ordered by time, then by count, descending; steps without refused calls are omitted.',
      }),
  })
  .meta({ id: 'RefusedCalls' })

export type UsageSumBody = z.infer<typeof usageSum>

const countsByRange = z
  .array(count)
  .meta({ description: 'The number of calls in each of `ranges`.' })

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
        description: 'The counted time: from `fromMs`, inclusive, to `toMs`, exclusive.',
      }),
    data: z
      .array(
        z
          .object({
            start: z.iso.datetime().meta({ description: 'The start of the step.' }),
            calls: count,
            durationMs: countsByRange,
            firstByteMs: countsByRange,
          })
          .meta({ id: 'LatencyStep' }),
      )
      .meta({ description: 'Ordered by time; steps without calls are omitted.' }),
  })
  .meta({ id: 'Latencies' })
