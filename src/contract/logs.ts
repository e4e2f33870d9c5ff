/** The log of calls as the control plane shows it: what was used, never what was said. */
import { z } from 'zod'
import { listOf } from './lists.ts'

const count = z.int().min(0)

export const logBody = z
  .object({
    id: z.string().meta({ description: "The answer's `x-request-id`." }),
    keyId: z.string(),
    gateId: z.string(),
    dialect: z.string().meta({ example: 'openai-responses' }),
    stream: z.boolean(),
    target: z.string().nullable().meta({ description: '`provider/model` that answered or was tried last.' }),
    attempts: count.meta({ description: 'How often an upstream was asked.' }),
    outcome: z.enum(['succeeded', 'failed', 'cancelled']),
    status: z.int().meta({ description: 'The HTTP status the caller saw; 499: the caller left first.' }),
    errorKind: z.string().nullable(),
    startedAt: z.iso.datetime(),
    firstByteMs: z.number().nullable(),
    durationMs: z.number(),
    usage: z
      .object({
        inputTokens: count,
        outputTokens: count,
        cachedInputTokens: count.meta({ description: 'Part of `inputTokens`.' }),
        reasoningTokens: count.meta({ description: 'Part of `outputTokens`.' }),
      })
      .nullable()
      .meta({ description: 'As the provider reported it; null: it reported nothing.' }),
    credential: z.enum(['own', 'platform']).nullable().meta({
      description:
        "Whose credential `target` was asked with; `own`: the account's, which does not count for its quota. Null: none was asked, or an older version wrote the row.",
    }),
  })
  .meta({ id: 'Log', description: 'One call through a gate.' })

export const logList = listOf(logBody, 'LogList')

export type LogBody = z.infer<typeof logBody>
