/**
 * API keys as the control plane reads and writes them. Only the answer to a creation or rotation
 * contains the key.
 */
import { z } from 'zod'
import { MOST_TAGS } from '../core/attribution.ts'
import { listOf } from './lists.ts'
import type { ResourceDescription } from './resource-description.ts'
import { endReport } from './stops.ts'
import { label } from './text.ts'
import { LATEST_MS } from './usage-query.ts'

const name = label({ min: 1, max: 120 }).meta({
  description: 'A label to distinguish keys.',
  example: 'production',
})

export const keyFacts = {
  id: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().meta({ description: 'Null: never used.' }),
  createdBy: z
    .string()
    .nullable()
    .meta({ description: 'The id of a user or a key, or `operator`; null: unknown.' }),
  expiresAt: z.iso.datetime().nullable().meta({
    description: 'The time from which the key is refused; null: the key does not expire.',
  }),
  previous: z
    .object({
      maskedPrefix: z.string(),
      endsAt: z.iso.datetime().meta({ description: 'The time from which the old key is refused.' }),
    })
    .nullable()
    .meta({
      description: 'The key before the last rotation; null: no old key is accepted.',
    }),
}

export const fixedTags = z
  .array(label({ min: 1, max: 129 }))
  .max(MOST_TAGS)
  .refine((tags) => new Set(tags).size === tags.length, { error: 'must not name a tag twice' })
  .meta({
    description:
      'Tags of every call, as `name` or `name:value` with a tag of the account. They come before ' +
      'tags that a call sends.',
    example: ['team-a', 'repo:gatehouse'],
  })

const user = z.string().min(1).max(100).nullable().meta({
  description: 'The id of the member whom all calls count for; null: no member.',
  example: 'user_01a1fbc63aa470d6877cf556d6121edd',
})

const keyFields = {
  ...keyFacts,
  name,
  user,
  tags: fixedTags,
  maskedPrefix: z.string().meta({ example: 'sk-svc-ab12…' }),
}

const keyBody = z.object(keyFields).meta({ id: 'ApiKey' })

const createdKeyBody = z
  .object({
    ...keyFields,
    key: z.string().meta({ description: 'The whole key, shown only once.' }),
  })
  .meta({ id: 'CreatedApiKey' })

export const expiresAt = z.iso
  .datetime({
    offset: true,
    abort: true,
    error: 'must be a time with its zone, such as 2099-12-31T00:00:00Z',
  })
  .refine((text) => Date.parse(text) <= LATEST_MS, { error: 'must be before the year 10000' })
  .nullable()

export const createKeyBody = z
  .strictObject({
    name,
    expiresAt: expiresAt.optional().meta({ description: 'In the future; absent or null: never.' }),
    user: user.optional(),
    tags: fixedTags.optional(),
  })
  .meta({ id: 'CreateApiKey' })

export const importKeyBody = z
  .strictObject({
    name,
    expiresAt: expiresAt.optional().meta({ description: 'In the future; absent or null: never.' }),
    key: z
      .string()
      .max(600)
      .meta({
        description:
          'A `sk-svc-…`, `svc_…` or `legacy_…` key: at least 16 characters after the prefix, 6 ' +
          'of them different. A deleted key is refused.',
        writeOnly: true,
      }),
  })
  .meta({ id: 'ImportApiKey' })

export const updateKeyBody = z
  .strictObject({
    name,
    expiresAt: expiresAt.meta({
      description:
        'A time in the future; null: the key never expires. An expired key cannot be renewed.',
    }),
    user,
    tags: fixedTags,
  })
  .partial()
  .meta({ id: 'UpdateApiKey' })

export const rotateKeyBody = z
  .strictObject({
    oldEndsInSeconds: z
      .int()
      .min(0)
      .max(90 * 86_400)
      .default(86_400)
      .meta({
        description: 'How long the old key is still accepted; 0: every older key ends at once.',
      }),
  })
  .meta({ id: 'RotateApiKey' })

export const keyResource = {
  name: 'Key',
  names: 'Keys',
  one: 'key',
  many: 'keys',
  path: '/v1/keys',
  group: 'API keys',
  operations: {
    list: { summary: 'List API keys, newest first', answers: 'A page of keys, masked.' },
    create: {
      summary: 'Create an API key',
      takes: 'Its label.',
      answers: 'The key, shown only once.',
      refusals: [403],
    },
    show: { summary: 'Show an API key, masked', answers: 'The key, masked.' },
    update: {
      summary: 'Rename an API key, or set its expiry, user or tags',
      answers: 'The key, masked.',
      refusals: [409],
    },
    delete: {
      summary: 'Revoke an API key',
      description:
        'After this answer, no call with the key is accepted, and running calls have ended.',
      answers: 'It is revoked.',
    },
  },
  list: listOf(keyBody, 'ApiKeyList'),
  body: keyBody,
  create: createKeyBody,
  created: createdKeyBody,
  update: updateKeyBody,
  deleted: endReport,
  examples: {
    id: 'key_01a1fbc63aa470d6877cf556d6121edd',
    create: { 'A key': { name: 'production' } },
    update: { 'Another name, and an end': { name: 'ci', expiresAt: '2099-12-31T00:00:00Z' } },
  },
} satisfies ResourceDescription
