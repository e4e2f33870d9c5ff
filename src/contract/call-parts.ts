/** The parts of a call in the log that are objects: what it used, and its attempts. */
import { z } from 'zod'
import { ERROR_KINDS } from '../core/errors.ts'

const count = z.int().min(0)

export const usageBody = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count.meta({ description: 'Part of `inputTokens`.' }),
  reasoningTokens: count.meta({ description: 'Part of `outputTokens`.' }),
  cacheWriteTokens: count.optional().meta({
    description: 'Part of `inputTokens` that the provider put into its cache, where it says so.',
  }),
})

const attempt = z
  .object({
    target: z.string(),
    status: z
      .int()
      .nullable()
      .meta({ description: "The upstream's HTTP status; null: it sent none." }),
    afterMs: count.meta({ description: "From the call's start until it was asked." }),
    durationMs: count.meta({ description: 'Until it failed, was given up, or the call ended.' }),
    errorKind: z.enum(ERROR_KINDS).nullable().meta({
      description:
        'Why it failed; null: it did not, it was given up, or an older version wrote the row.',
    }),
    errorCode: z.string().nullable().meta({
      description: 'The reason, where the kind does not say it all.',
      example: 'connect_failed',
    }),
  })
  .meta({ id: 'Attempt' })

export const attemptsBody = z.array(attempt)
