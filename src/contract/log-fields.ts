/**
 * The fields of a call in the answers of the interface, by the list of a call's columns
 * (core/call-columns.ts).
 */
import { z } from 'zod'
import type { CallRecord } from '../core/call.ts'
import type { BodyField, CallColumn } from '../core/call-column.ts'
import { CALL_COLUMNS, KEY_NAME } from '../core/call-columns.ts'
import { ERROR_KINDS } from '../core/errors.ts'
import { attemptsBody, usageBody } from './call-parts.ts'
import { costBody } from './costs.ts'

type Columns = typeof CALL_COLUMNS

type AnsweredName = {
  [Name in keyof Columns]: Columns[Name]['body'] extends null ? never : Name
}[keyof Columns]

/** The value of a plain column: its record's, with a time as text and null for absent. */
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
} & { readonly keyName: z.ZodNullable<z.ZodString> }

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

export const logFields = listFields()

function listFields(): LogFields {
  const fields: Record<string, z.ZodType> = {}
  for (const [name, column] of Object.entries<CallColumn>(CALL_COLUMNS)) {
    if (column.body === null) continue
    fields[name] = toSchema(column, column.body)
    if (name === KEY_NAME.after) fields.keyName = z.string().nullable().meta(KEY_NAME.body)
  }
  return fields as unknown as LogFields
}

function toSchema(column: CallColumn, field: BodyField): z.ZodType {
  const schema = column.type === 'choice' ? z.enum(column.values) : SCHEMAS[column.type]
  // A cost says by itself that it is unknown.
  const isNullable = column.presence !== 'always' && column.type !== 'cost'
  const whole = isNullable ? schema.nullable() : schema
  return Object.keys(field).length === 0 ? whole : whole.meta({ ...field })
}
