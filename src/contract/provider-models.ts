/**
 * Models that can be offered where a target is chosen. A target may name others: the list is what
 * is known of prices.
 */
import { z } from 'zod'
import { listOf } from './lists.ts'

export const providerModelsQuery = z.strictObject({
  provider: z
    .string({ error: 'must be given once' })
    .max(100)
    .optional()
    .meta({ description: 'Only those of this provider.' }),
})

const price = (of: string) =>
  z
    .number()
    .nullable()
    .meta({
      description:
        `US dollars per million ${of} tokens, at the first tier where there are ` +
        'several; null: not known.',
    })

export const providerModelBody = z
  .object({
    provider: z.string().meta({ example: 'sandbox' }),
    id: z.string().meta({
      description: 'A target names it as `provider/id`.',
      example: 'echo',
    }),
    name: z.string().nullable().meta({ description: 'The name that people use; null: as its id.' }),
    contextTokens: z.int().nullable().meta({ description: 'Null: not known.' }),
    inputUsdPerMillion: price('input'),
    outputUsdPerMillion: price('output'),
  })
  .meta({ id: 'ProviderModel' })

export const providerModelList = listOf(providerModelBody, 'ProviderModelList')
