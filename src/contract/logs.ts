import { z } from 'zod'
import type { CallRecord } from '../core/call.ts'
import type { BodyField, CallColumn } from '../core/call-column.ts'
import { CALL_COLUMNS, type CallNames, NAME_COLUMNS } from '../core/call-columns.ts'
import { ERROR_KINDS } from '../core/errors.ts'
import { costBody, costWithPartsBody } from './costs.ts'
import { listOf, pageQuery } from './lists.ts'
import { logFilterFields, refuseReversedRange } from './usage-query.ts'

export const logQuery = z
  .strictObject({ ...pageQuery.shape, ...logFilterFields })
  .superRefine(refuseReversedRange)

export const exportQuery = z
  .strictObject({
    format: z
      .enum(['csv', 'ndjson'])
      .meta({ description: 'CSV (RFC 4180) with a header line, or one JSON object per line.' }),
    ...logFilterFields,
  })
  .superRefine(refuseReversedRange)

const count = z.int().min(0)

const usageBody = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count.meta({ description: 'Part of `inputTokens`.' }),
  reasoningTokens: count.meta({ description: 'Part of `outputTokens`.' }),
  cacheWriteTokens: count.optional().meta({
    description: 'Part of `inputTokens` that the provider wrote to its cache, if it reports that.',
  }),
})

const attempt = z
  .object({
    target: z.string(),
    status: z
      .int()
      .nullable()
      .meta({ description: "The upstream's HTTP status; null: the upstream sent none." }),
    afterMs: count.meta({
      description: 'Time from the start of the call until the target was asked.',
    }),
    durationMs: count.meta({
      description: 'Time until the attempt failed, was cancelled, or ended with the call.',
    }),
    errorKind: z.enum(ERROR_KINDS).nullable().meta({
      description:
        'Why the attempt failed; null: the attempt did not fail, was cancelled, or an older version wrote the row.',
    }),
    errorCode: z.string().nullable().meta({
      description: 'A more specific reason for the failure than its kind, if one is known.',
      example: 'connect_failed',
    }),
  })
  .meta({ id: 'Attempt' })

const attemptsBody = z.array(attempt)

type Columns = typeof CALL_COLUMNS

type AnsweredName = {
  [Name in keyof Columns]: Columns[Name]['body'] extends null ? never : Name
}[keyof Columns]

type AnsweredValue<Name extends AnsweredName> = Columns[Name]['type'] extends 'moment'
  ? string
  : Exclude<CallRecord[Name], undefined> | (undefined extends CallRecord[Name] ? null : never)

type StructuredFields = {
  readonly usage: z.ZodNullable<typeof usageBody>
  readonly cost: typeof costBody
  readonly attemptDetails: z.ZodNullable<typeof attemptsBody>
}

type LogFields = StructuredFields & {
  readonly [Name in Exclude<AnsweredName, keyof StructuredFields>]: z.ZodType<AnsweredValue<Name>>
} & { readonly [Name in keyof CallNames]: z.ZodNullable<z.ZodString> }

const SCHEMAS: Readonly<Record<Exclude<CallColumn['type'], 'choice'>, z.ZodType>> = {
  callId: z.string(),
  accountId: z.string(),
  keyId: z.string(),
  gateId: z.string(),
  text: z.string(),
  flag: z.boolean(),
  count: z.int().min(0),
  positiveCount: z.int().min(1),
  httpStatus: z.int(),
  moment: z.iso.datetime(),
  durationMs: z.number(),
  errorKind: z.enum(ERROR_KINDS),
  attempts: attemptsBody,
  usage: usageBody,
  cost: costBody,
}

const logFields = listFields()

function listFields(): LogFields {
  const fields: Record<string, z.ZodType> = {}
  for (const [name, column] of Object.entries<CallColumn>(CALL_COLUMNS)) {
    if (column.body === null) continue
    fields[name] = toSchema(column, column.body)
    for (const [found, { after, body }] of Object.entries(NAME_COLUMNS))
      if (name === after) fields[found] = z.string().nullable().meta(body)
  }
  return fields as unknown as LogFields
}

function toSchema(column: CallColumn, field: BodyField): z.ZodType {
  const schema = column.type === 'choice' ? z.enum(column.values) : SCHEMAS[column.type]
  // A cost has its own status for unknown, so the cost is never null.
  const isNullable = column.presence !== 'always' && column.type !== 'cost'
  const whole = isNullable ? schema.nullable() : schema
  return Object.keys(field).length === 0 ? whole : whole.meta({ ...field })
}

export const logBody = z
  .object(logFields)
  .meta({ id: 'Log', description: 'One call through a gate.' })

export const logDetailsBody = z
  .object({ ...logBody.shape, cost: costWithPartsBody })
  .meta({ id: 'LogDetails', description: 'One call through a gate, and the parts of its cost.' })

export const logList = listOf(logBody, 'LogList').meta({
  description:
    'A page may hold fewer calls than asked for, even none, while `nextCursor` is there: few ' +
    'pass the filter then.',
})

export type LogBody = z.infer<typeof logBody>

export type LogDetailsBody = z.infer<typeof logDetailsBody>

export type LogFilterQuery = Omit<z.infer<typeof exportQuery>, 'format'>
