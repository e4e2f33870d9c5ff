/**
 * Provider keys as the control plane reads and writes them: the key goes in and never comes out.
 * Names no provider.
 */
import { z } from 'zod'
import { listOf } from './lists.ts'
import type { FieldNotes } from './problems.ts'

/** Longer than any API key: service accounts are documents. */
const MAX_KEY_LENGTH = 20_000

const active = z.boolean().meta({
  description:
    "Whether calls use it. While false, calls use the platform's credential, if there is one.",
})

/** Open, as every answer is: a later version may add members. */
export const providerKeyBody = z
  .object({
    provider: z
      .string()
      .meta({ description: 'The part of a target before the slash.', example: 'sandbox' }),
    maskedKey: z.string().meta({
      description:
        'Its first three and last four characters; of a short key, and of a document, none.',
      example: 'sk-…9f3c',
    }),
    active,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().nullable().meta({ description: 'Null: not since it was set.' }),
  })
  .meta({ id: 'ProviderKey', description: "The account's own credential for a provider, masked." })

export const setProviderKeyBody = z
  .strictObject({
    key: z
      .string()
      .min(1)
      .max(MAX_KEY_LENGTH)
      .meta({
        description:
          'As the provider gave it: an API key, `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]`, or a ' +
          'service account as JSON text. Never in any answer.',
        writeOnly: true,
      }),
    active: active.default(true),
  })
  .meta({ id: 'SetProviderKey' })

export const updateProviderKeyBody = z.strictObject({ active }).meta({ id: 'UpdateProviderKey' })

export const updateProviderKeyNotes: FieldNotes = {
  key: 'cannot be changed here; replace it with PUT',
}

export const setProviderKeyNotes: FieldNotes = {
  provider: 'is in the path',
  maskedKey: 'is made by the gateway',
  createdAt: 'is set by the gateway',
  updatedAt: 'is set by the gateway',
  lastUsedAt: 'is set by the gateway',
}

export const providerKeyList = listOf(providerKeyBody, 'ProviderKeyList')

export type ProviderKeyBody = z.infer<typeof providerKeyBody>
