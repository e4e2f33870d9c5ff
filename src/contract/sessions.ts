/** Sessions of coding agents and applications: their sums, and the calls of each. */
import { z } from 'zod'
import { SESSION_ORDERS } from '../core/usage.ts'
import { listOf, pageQuery } from './lists.ts'
import { logBody } from './logs.ts'
import { callerFields, nameFields, refuseReversedRange, timeFields } from './usage-query.ts'
import { callCounts, costSums, count, tokenCounts } from './usage-sums.ts'

export const sessionsQuery = z
  .strictObject({
    ...pageQuery.shape,
    from: timeFields.from.describe('Sessions whose last call began at this time or later.'),
    to: timeFields.to.describe('Sessions whose last call began before this time.'),
    key: nameFields.key,
    user: callerFields.user.describe(
      'Sessions whose latest call with a user was this user’s, written as in the log’s filter.',
    ),
    session: callerFields.session,
    order: z.enum(SESSION_ORDERS).default('last').meta({
      description:
        'The measure that ranks sessions, the greatest first; `last`: by their last call.',
    }),
  })
  .superRefine(refuseReversedRange)

const sessionFields = {
  id: z.string().meta({
    description: 'The hash of the caller and the session, as in the log.',
    example: '3fa9c81d00b7e642',
  }),
  keyId: z.string(),
  keyName: z.string().nullable(),
  user: z
    .string()
    .nullable()
    .meta({ description: 'The user of the latest call with a user. Null: no call has a user.' }),
  userName: z.string().nullable(),
  firstAt: z.iso.datetime().meta({ description: 'The start of the first call.' }),
  lastAt: z.iso.datetime().meta({ description: 'The start of the latest call.' }),
  ...callCounts,
  tokens: z.object({
    ...tokenCounts,
    largestInput: count.meta({
      description: 'The input tokens of the call with the largest input.',
    }),
  }),
  cost: z.object(costSums),
}

export const sessionBody = z.object(sessionFields).meta({ id: 'UsageSession' })

export const sessionList = listOf(sessionBody, 'UsageSessionList')

const agentBody = z
  .object({
    agent: z.string().nullable().meta({
      description: 'The hash of the subagent, as in the log. Null: the main agent.',
    }),
    parentAgent: z.string().nullable().meta({
      description: 'The agent that started the subagent. Null: the main agent.',
    }),
    firstAt: z.iso.datetime(),
    lastAt: z.iso.datetime(),
    calls: count,
    errors: count,
    refused: count.meta({ description: 'Part of `errors`, as in the session.' }),
    tokens: z.object(tokenCounts).pick({ input: true, output: true, cachedInput: true }),
    cost: z.object({ usd: z.number() }),
  })
  .meta({ id: 'UsageSessionAgent' })

export const sessionDetails = z
  .object({
    ...sessionFields,
    agents: z.array(agentBody).meta({
      description: 'The main agent and each subagent, in the order of their first calls.',
    }),
    data: z.array(logBody).meta({ description: 'A page of the calls, the oldest first.' }),
    nextCursor: z.string().nullable().meta({
      description: 'The `cursor` for the next calls; null: these are the last calls so far.',
    }),
  })
  .meta({ id: 'UsageSessionDetails' })

export type SessionBody = z.infer<typeof sessionBody>
