/**
 * Access tokens as the control plane reads and writes them. Only the answer to a creation or
 * rotation contains the token.
 */
import { z } from 'zod'
import { TOKEN_OWNERS } from '../core/access-token.ts'
import { expiresAt, fixedTags, keyFacts } from './keys.ts'
import { listOf } from './lists.ts'
import type { ResourceDescription } from './resource-description.ts'
import { endReport, stopState } from './stops.ts'
import { label } from './text.ts'
import { timeParameter } from './usage-query.ts'

const MAX_GATES = 200
const MAX_RANGES = 50
const MAX_PER_MINUTE = 1_000_000_000
const MAX_CONCURRENT = 1_000_000

const name = label({ min: 1, max: 120 }).meta({
  description: 'A label that distinguishes tokens.',
  example: 'jane, laptop',
})
const owner = z
  .strictObject({ type: z.enum(TOKEN_OWNERS), id: z.string().min(1).max(100) })
  .nullable()
  .meta({ description: 'The member or tag that the token belongs to; null: none.' })
const gates = z
  .array(z.string().min(1).max(64))
  .min(1)
  .max(MAX_GATES)
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must not name a gate twice' })
  .nullable()
  .meta({
    description: 'Ids of the gates that the token may call; null: all gates of the account.',
  })
const limit = (max: number, what: string) =>
  z
    .int()
    .min(1)
    .max(max)
    .nullable()
    .meta({ description: `${what}; null: the limit of the account's plan.` })
const requestsPerMinute = limit(MAX_PER_MINUTE, 'Most requests a minute')
const tokensPerMinute = limit(MAX_PER_MINUTE, 'Most input and output tokens a minute')
const concurrentCalls = limit(MAX_CONCURRENT, 'Most calls at the same time')
const ipRanges = z
  .array(z.string().min(1).max(50))
  .min(1)
  .max(MAX_RANGES)
  .nullable()
  .meta({
    description: 'Client addresses that may use the token, as address/prefix length; null: any.',
    example: ['10.0.0.0/8', '2001:db8::/32'],
  })
const overrides = z.boolean().meta({
  description:
    'Whether calls with the token may choose another target than the gate’s, if the gate allows ' +
    'that (`overrides: allow`).',
})

const rules = {
  owner,
  gates,
  requestsPerMinute,
  tokensPerMinute,
  concurrentCalls,
  ipRanges,
  overrides,
}

const tokenFields = {
  ...keyFacts,
  name,
  maskedPrefix: z.string().meta({ example: 'at-svc-ab12…' }),
  tags: fixedTags,
  ...rules,
  stop: stopState,
}
const tokenBody = z.object(tokenFields).meta({ id: 'AccessToken' })
const createdTokenBody = z
  .object({
    ...tokenFields,
    token: z.string().meta({ description: 'The whole token, shown only once.' }),
  })
  .meta({ id: 'CreatedAccessToken' })

const choices = {
  expiresAt: expiresAt.meta({
    description: 'A time in the future; null: the token never expires.',
  }),
  tags: fixedTags,
  ...rules,
}

export const createTokenBody = z
  .strictObject({ name, ...z.strictObject(choices).partial().shape })
  .meta({ id: 'CreateAccessToken' })

export const updateTokenBody = z
  .strictObject({ name, ...choices })
  .partial()
  .meta({ id: 'UpdateAccessToken' })

export const accessTokenResource = {
  name: 'AccessToken',
  names: 'AccessTokens',
  one: 'access token',
  many: 'access tokens',
  path: '/v1/access-tokens',
  group: 'Access tokens',
  operations: {
    list: { summary: 'List access tokens, newest first', answers: 'A page of tokens, masked.' },
    create: {
      summary: 'Create an access token',
      description:
        'A token can call its gates, list them as models, and read its own identity and usage. ' +
        'All other requests with a token get 403.',
      takes: 'The label of the token and its rules.',
      answers: 'The token, shown only once.',
      refusals: [403],
    },
    show: { summary: 'Show an access token, masked', answers: 'The token, masked.' },
    update: {
      summary: 'Change an access token',
      description: 'New calls follow the change at once, on every node.',
      answers: 'The token, masked.',
      refusals: [409],
    },
    delete: {
      summary: 'Revoke an access token',
      description:
        'After this answer, no call with the token is accepted, and running calls have ended.',
      answers: 'The token is revoked.',
    },
  },
  list: listOf(tokenBody, 'AccessTokenList'),
  filters: z.strictObject({
    expiresBefore: timeParameter.optional().meta({
      type: 'string',
      format: 'date-time',
      description: 'Only tokens that are valid now and expire before this time.',
    }),
  }),
  body: tokenBody,
  create: createTokenBody,
  created: createdTokenBody,
  update: updateTokenBody,
  deleted: endReport,
  examples: {
    id: 'key_01a1fbc63aa470d6877cf556d6121ede',
    create: {
      'A developer': { name: 'jane, laptop', requestsPerMinute: 120, ipRanges: ['10.0.0.0/8'] },
    },
    update: { 'Other limits': { requestsPerMinute: 60, concurrentCalls: 4 } },
  },
} satisfies ResourceDescription
