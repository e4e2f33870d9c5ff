/**
 * Providers, of the catalog and of the operator, as the control plane shows them. Must not know
 * which ones there are.
 */
import { z } from 'zod'
import { listOf } from './lists.ts'

export const providerBody = z
  .object({
    id: z
      .string()
      .meta({ description: 'The part of a target before the slash.', example: 'sandbox' }),
    name: z.string(),
    docs: z.string().nullable().meta({
      description:
        "Where the vendor documents its interface; null: a provider of the operator's own.",
    }),
    dialects: z.array(z.string()).meta({ description: 'The wire formats it speaks.' }),
    configured: z.boolean().meta({ description: 'Whether this gateway has a credential for it.' }),
    credential: z
      .enum(['own', 'platform'])
      .nullable()
      .meta({
        description:
          "Whose credential the account's calls use: `own`, its active provider key, or " +
          '`platform`. Null: there is none.',
      }),
    hasAddress: z.boolean().meta({
      description:
        'Whether this gateway knows where it is. Of some, the operator has to say; until then ' +
        'no key reaches them.',
    }),
  })
  .meta({ id: 'Provider' })

export const providerList = listOf(providerBody, 'ProviderList')

/** A provider as it is to every account. */
export type ProviderBody = Omit<z.infer<typeof providerBody>, 'credential'>
