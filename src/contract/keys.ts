/** API keys as the control plane reads and writes them: the key itself is in one answer only, the one to its creation. */
import { z } from 'zod'
import { listOf } from './lists.ts'
import { text } from './text.ts'

const name = text({ min: 1, max: 120 }).meta({
  description: 'A label that tells keys apart.',
  example: 'production',
})

const keyFields = {
  id: z.string(),
  name,
  maskedPrefix: z.string().meta({ example: 'sk-svc-ab12…' }),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().meta({ description: 'Null: never used.' }),
}

export const keyBody = z.object(keyFields).meta({ id: 'ApiKey' })

export const createdKeyBody = z
  .object({ ...keyFields, key: z.string().meta({ description: 'The whole key. Shown this once.' }) })
  .meta({ id: 'CreatedApiKey' })

export const createKeyBody = z.strictObject({ name }).meta({ id: 'CreateApiKey' })

export const importKeyBody = z
  .strictObject({
    name,
    key: z.string().max(600).meta({
      description:
        'A `sk-svc-…`, `svc_…` or `legacy_…` key: at least 16 characters after the prefix, 6 of them different. One that was deleted is refused.',
      writeOnly: true,
    }),
  })
  .meta({ id: 'ImportApiKey' })

export const keyList = listOf(keyBody, 'ApiKeyList')

export type KeyBody = z.infer<typeof keyBody>
