/** The log of calls as the control plane shows it: what was used, never what was said. */
import { z } from 'zod'
import { costBody, costWithPartsBody } from './costs.ts'
import { ERROR_KINDS } from './error-kinds.ts'
import { listOf, pageQuery } from './lists.ts'
import { logFilterFields, refuseReversedRange } from './usage-query.ts'

const count = z.int().min(0)

export const logQuery = z
  .strictObject({ ...pageQuery.shape, ...logFilterFields })
  .superRefine(refuseReversedRange)

export const exportQuery = z
  .strictObject({
    format: z
      .enum(['csv', 'ndjson'])
      .meta({ description: 'CSV (RFC 4180) with a header line, or a JSON object a line.' }),
    ...logFilterFields,
  })
  .superRefine(refuseReversedRange)

const attempt = z
  .object({
    target: z.string(),
    status: z
      .int()
      .nullable()
      .meta({ description: "The upstream's HTTP status; null: it sent none." }),
    afterMs: count.meta({ description: "From the call's start until it was asked." }),
    durationMs: count.meta({ description: 'Until it failed, was given up, or the call ended.' }),
  })
  .meta({ id: 'Attempt' })

export const logBody = z
  .object({
    id: z.string().meta({ description: "The answer's `x-request-id`." }),
    keyId: z.string(),
    gateId: z.string(),
    dialect: z.string().meta({ example: 'openai-responses' }),
    stream: z.boolean(),
    target: z
      .string()
      .nullable()
      .meta({ description: '`provider/model` that answered or was tried last.' }),
    attempts: count.meta({ description: 'How often an upstream was asked.' }),
    outcome: z.enum(['succeeded', 'failed', 'cancelled']),
    status: z
      .int()
      .meta({ description: 'The HTTP status the caller saw; 499: the caller left first.' }),
    errorKind: z
      .enum(ERROR_KINDS)
      .nullable()
      .meta({ description: 'Why it failed; null: it did not.' }),
    startedAt: z.iso.datetime(),
    firstByteMs: z.number().nullable(),
    durationMs: z.number(),
    usage: z
      .object({
        inputTokens: count,
        outputTokens: count,
        cachedInputTokens: count.meta({ description: 'Part of `inputTokens`.' }),
        reasoningTokens: count.meta({ description: 'Part of `outputTokens`.' }),
        cacheWriteTokens: count.optional().meta({
          description:
            'Part of `inputTokens` that the provider put into its cache, where it says so.',
        }),
      })
      .nullable()
      .meta({
        description:
          'As the provider reported it. What it could not report, because the caller left, is estimated: `cost.status` is `estimated` then. Null: nothing is known.',
      }),
    credential: z.enum(['own', 'platform']).nullable().meta({
      description:
        "Whose credential `target` was asked with; `own`: the account's, which does not count for its quota. Null: none was asked, or an older version wrote the row.",
    }),
    cost: costBody,
    refusals: z.int().min(1).nullable().meta({
      description:
        'The call was turned away before it was admitted. Of one key the first 30 such calls of a minute have rows of their own (1); those beyond are counted in one row for each reason. Null: it was admitted.',
    }),
    attemptDetails: z
      .array(attempt)
      .nullable()
      .meta({
        description: 'Each time that an upstream was asked; null: the first time was enough.',
      }),
  })
  .meta({ id: 'Log', description: 'One call through a gate.' })

export const logDetailsBody = z
  .object({ ...logBody.shape, cost: costWithPartsBody })
  .meta({ id: 'LogDetails', description: 'One call through a gate, and what its cost is made of.' })

export const logList = listOf(logBody, 'LogList').meta({
  description:
    'A page may hold fewer calls than asked for, even none, while `nextCursor` is there: few pass the filter then.',
})

export type LogBody = z.infer<typeof logBody>

export type LogDetailsBody = z.infer<typeof logDetailsBody>

export type LogFilterQuery = Omit<z.infer<typeof exportQuery>, 'format'>
