import { z } from 'zod'
import { AT_LIMIT_RULES, UNPRICED_RULES } from '../core/budget.ts'
import { isWholeNanoUsd, MAX_LIMIT_USD } from '../core/money.ts'
import { PERIODS } from '../core/period.ts'
import { isTimeZone, toZoneName, UTC } from '../core/time-zone.ts'
import { checkScope, SCOPE_MEMBERS, scopeAnswer, scopeFields } from './budget-scope.ts'
import { fuse, fuseAnswer } from './fuses.ts'
import { listOf } from './lists.ts'
import type { ResourceDescription } from './resource-description.ts'
import { label } from './text.ts'

export const MAX_LIMIT_TOKENS = 1_000_000_000_000
const MAX_ALERTS = 10

const name = label({ min: 1, max: 120 })
const limitTokens = z
  .int()
  .min(1)
  .max(MAX_LIMIT_TOKENS)
  .meta({ description: 'Input and output tokens per period.' })
const limitUsd = z
  .number()
  .max(MAX_LIMIT_USD)
  .refine(isWholeNanoUsd, { error: 'must be above 0 and have at most nine decimals' })
  .meta({
    exclusiveMinimum: 0,
    description: 'US dollars per period. `unpriced` is the rule for targets without a known price.',
  })

const period = z.enum(PERIODS).meta({
  description:
    'The period of the limit, in `timeZone`; weeks begin on Monday. `total` begins with the creation of the budget.',
})
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, {
    error: 'is not the IANA name of a time zone, such as UTC or Europe/Berlin',
    abort: true,
  })
  .transform(toZoneName)
  .meta({
    type: 'string',
    maxLength: 64,
    description:
      'The IANA name of the time zone in which days, weeks and months begin at midnight.',
    example: 'Europe/Berlin',
  })
const alertAt = z
  .array(
    z
      .number()
      .max(1)
      .refine((share) => share >= 0.01, { error: 'must be at least 0.01' }),
  )
  .max(MAX_ALERTS)
  .refine((shares) => new Set(shares).size === shares.length, {
    error: 'must not hold a share twice',
  })
  .transform((shares) => shares.toSorted((a, b) => a - b))
  .meta({
    description:
      'Shares of the limit. When one is reached, webhooks get `budget.threshold`, for 1 ' +
      '`budget.exhausted`: once a period, and again after a change of the limit or of the shares.',
    example: [0.5, 0.8, 1],
    type: 'array',
    uniqueItems: true,
    items: { type: 'number', minimum: 0.01, maximum: 1 },
  })
const unpriced = z.enum(UNPRICED_RULES).meta({
  description:
    'The rule of a limit in US dollars for targets without a known price. `estimate`: their calls ' +
    "count at the operator's `unpricedPrice`, or at the highest known price of the same family " +
    'of models if that is higher. `refuse`: such a target is skipped; without another target the ' +
    'call is refused with 400 `price_unknown`. `allow`: their calls are not counted ' +
    '(`used.unpricedCalls`). Budgets of versions without this member have `allow`.',
})
const message = label({ min: 1, max: 300 }).meta({
  description:
    'Your message to callers of refused calls, such as the person to ask. It follows the ' +
    "gateway's own text in the error message.",
  example: 'Ask #ai-platform for more.',
})
const raise = z
  .strictObject({
    by: z
      .number()
      .positive()
      .max(MAX_LIMIT_TOKENS)
      .meta({
        description:
          'Added to the limit, in its unit: US dollars or tokens. The raised limit is at most ' +
          'the highest limit: 9,000,000 US dollars or 1,000,000,000,000 tokens.',
      }),
    until: z.iso
      .datetime({
        offset: true,
        error: 'must be a time with its zone, such as 2026-12-04T18:00:00Z',
      })
      .meta({ description: 'The end of the raise. Afterwards the limit applies.' }),
  })
  .meta({ id: 'BudgetRaise', description: 'A higher limit until a time.' })
const MAX_REFUSE_AT = 10
const atLimit = z.enum(AT_LIMIT_RULES).meta({
  description:
    'The effect of a used-up budget. `refuse`: calls are refused. `cheaper`: a call keeps only ' +
    'targets whose known price is lower than that of the gate’s first target. `free-only`: a call ' +
    'keeps only targets of price 0. A call without such a target is refused, and so is every call ' +
    'from `refuseAt` on. Budgets of versions without this member have `refuse`.',
})
const refuseAt = z
  .number()
  .min(1)
  .max(MAX_REFUSE_AT)
  .nullable()
  .meta({
    description:
      'With `cheaper` and `free-only`: the share of the limit at which all calls are refused, at ' +
      'least 1; 1.2 when absent. Null with `refuse`.',
    example: 1.2,
  })
const time = z.iso.datetime()
const amount = z.number().min(0)

const budgetBody = z
  .object({
    id: z.string(),
    name,
    ...scopeAnswer,
    limitTokens: limitTokens.nullable(),
    limitUsd: z.number().nullable(),
    period,
    timeZone: z.string(),
    unpriced,
    message: message.nullable(),
    raise: raise.nullable(),
    atLimit,
    refuseAt,
    fuse: fuseAnswer,
    alertAt: z.array(z.number()),
    used: z
      .object({
        tokens: amount,
        usd: amount,
        unpricedCalls: z
          .int()
          .meta({ description: 'Calls with unknown cost, which is not in `usd`.' }),
      })
      .nullable()
      .meta({
        description:
          'Usage in the current period by calls that began after the budget was created. Null for ' +
          '`each-user` and `each-key`, and for a user whose figures are hidden from you ' +
          '(`peopleFigures` of `/v1/account/attribution`).',
      }),
    reserved: z
      .object({ tokens: amount, usd: amount })
      .nullable()
      .meta({ description: 'The usage that is reserved for running calls; null like `used`.' }),
    isExhausted: z
      .boolean()
      .nullable()
      .meta({
        description:
          'Whether the budget is used up, so calls are refused with 429 `quota_exceeded`, or ' +
          'steered as `atLimit` says. Null: the figures of the user are hidden from you.',
      }),
    resetsAt: time.nullable().meta({ description: 'null: never.' }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({
    id: 'Budget',
    description: 'The maximum that an account, or a part of its calls, may use in a period.',
  })

/** The problem of a `refuseAt` without steering. */
export const NEEDS_STEERING = 'is only possible when atLimit is cheaper or free-only'

export const createBudgetBody = z
  .strictObject({
    name: name
      .optional()
      .meta({ description: 'The name of the limited key, gate, user or tag when absent.' }),
    ...scopeFields,
    limitTokens: limitTokens.optional(),
    limitUsd: limitUsd.optional(),
    period,
    timeZone: timeZone.default(UTC),
    unpriced: unpriced.default('estimate'),
    message: message.nullable().default(null),
    atLimit: atLimit.default('refuse'),
    refuseAt: refuseAt.optional(),
    fuse: fuse.default(null),
    alertAt: alertAt.default([0.5, 0.8, 1]),
  })
  .superRefine((body, context) => {
    checkScope(body, context)
    if (body.atLimit === 'refuse' && body.refuseAt != null)
      context.addIssue({ code: 'custom', path: ['refuseAt'], message: NEEDS_STEERING })
    if ((body.limitTokens === undefined) !== (body.limitUsd === undefined)) return
    const message =
      body.limitTokens === undefined
        ? 'is missing. Give either limitUsd or limitTokens'
        : 'cannot be given together with limitTokens: a budget has one limit. Remove one'
    context.addIssue({ code: 'custom', path: ['limitUsd'], message })
  })
  .meta({
    id: 'CreateBudget',
    description:
      'One of `keyId`, `gateId`, `member`, `endUser` and `tag`, or one of the scopes `account`, `each-user` and ' +
      '`each-key`; and ' +
      'either `limitTokens` or `limitUsd`.',
  })

export const updateBudgetBody = z
  .strictObject({
    name,
    limitTokens,
    limitUsd,
    unpriced,
    message: message.nullable(),
    raise: raise.nullable(),
    atLimit,
    refuseAt,
    fuse,
    alertAt,
  })
  .partial()
  .meta({ id: 'UpdateBudget', description: 'Only the given fields change.' })

const FOR_PEOPLE =
  'Only the owner and API keys may do this for a budget of another user or of the scope ' +
  '`each-user`.'
const IMMUTABLE = 'cannot be changed; create a new budget instead'

export const budgetResource = {
  name: 'Budget',
  names: 'Budgets',
  one: 'budget',
  many: 'budgets',
  path: '/v1/budgets',
  group: 'Budgets',
  groupDescription: 'A limit on what an account, a key, a gate, a user or a tag spends.',
  operations: {
    list: 'List budgets, newest first, with what is used of them',
    create: { summary: 'Create a budget', description: FOR_PEOPLE, refusals: [403] },
    show: 'Show a budget and what is used of it',
    update: {
      summary: 'Change a budget; its usage stays',
      description: FOR_PEOPLE,
      refusals: [403],
    },
    delete: { summary: 'Delete a budget', description: FOR_PEOPLE, refusals: [403] },
  },
  list: listOf(budgetBody, 'BudgetList'),
  body: budgetBody,
  create: createBudgetBody,
  update: updateBudgetBody,
  notes: {
    create: { id: 'is set by the gateway' },
    update: {
      id: IMMUTABLE,
      period: IMMUTABLE,
      timeZone: IMMUTABLE,
      scope: IMMUTABLE,
      ...Object.fromEntries(SCOPE_MEMBERS.map((member) => [member, IMMUTABLE])),
    },
  },
  examples: {
    id: 'bud_01a1fbc63aa470d6877cf556d6121edd',
    create: {
      'Dollars of a gate': {
        name: 'Demo, monthly',
        gateId: 'demo',
        limitUsd: 250,
        period: 'month',
      },
      'Tokens of a gate': {
        gateId: 'demo',
        limitTokens: 50000000,
        period: 'day',
        alertAt: [0.8, 1],
      },
      'Dollars of the account': { scope: 'account', limitUsd: 2000, period: 'month' },
      'Dollars of each person': { scope: 'each-user', limitUsd: 100, period: 'month' },
    },
    update: {
      'A fuse': { fuse: { usd: 20, callsPerMinute: 60 } },
      'Cheaper targets at the limit': { atLimit: 'cheaper', refuseAt: 1.2 },
      'Another limit': { limitUsd: 300 },
      'More until Friday': { raise: { by: 50, until: '2026-12-04T18:00:00Z' } },
    },
  },
} satisfies ResourceDescription

export type BudgetBody = z.infer<typeof budgetBody>
export type CreateBudgetBody = z.infer<typeof createBudgetBody>
