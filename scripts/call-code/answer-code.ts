/**
 * How a call is told outside: its fields in the interface, its body, its line of the CSV export.
 */
import type { BodyField, CallColumns } from '../../src/core/call-column.ts'
import {
  block,
  generatedHead,
  listColumns,
  type NamedColumn,
  partsOf,
  toLiteral,
} from './column-parts.ts'

export const FIELDS_PATH = 'src/contract/log-fields.generated.ts'
export const BODY_PATH = 'src/admin/calls/log-body.generated.ts'

const SCHEMAS = {
  callId: 'z.string()',
  accountId: 'z.string()',
  keyId: 'z.string()',
  gateId: 'z.string()',
  text: 'z.string()',
  flag: 'z.boolean()',
  count: 'z.int().min(0)',
  positiveCount: 'z.int().min(1)',
  httpStatus: 'z.int()',
  moment: 'z.iso.datetime()',
  durationMs: 'z.number()',
  errorKind: 'z.enum(ERROR_KINDS)',
  attempts: 'attemptsBody',
  usage: 'usageBody',
  cost: 'costBody',
} as const satisfies Readonly<Record<Exclude<NamedColumn['type'], 'choice'>, string>>

/** The name of the call's key, which is looked up when the call is shown. It is no column. */
export const KEY_NAME = {
  behind: 'keyId',
  schema: `z.string().nullable().meta({ description: ${toLiteral(
    'The name of the key, or of the member who used the playground; null: it has none any more.',
  )} })`,
  /** Never given to a column. */
  csv: 27,
}

type Told = NamedColumn & { readonly body: BodyField }

function listTold(columns: CallColumns): readonly Told[] {
  return listColumns(columns).filter((column): column is Told => column.body !== null)
}

export function fieldCode(columns: CallColumns): string {
  return [
    generatedHead('The fields of a call in the answers of the interface.'),
    "import { z } from 'zod'\n",
    "import { attemptsBody, usageBody } from './call-parts.ts'\n",
    "import { costBody } from './costs.ts'\n",
    "import { ERROR_KINDS } from './error-kinds.ts'\n\n",
    'export const logFields = {\n',
    block(
      listTold(columns).flatMap((column) => [
        `${column.name}: ${toSchema(column)},`,
        ...(column.name === KEY_NAME.behind ? [`keyName: ${KEY_NAME.schema},`] : []),
      ]),
    ),
    '}\n',
  ].join('')
}

function toSchema(column: Told): string {
  const schema =
    column.type === 'choice' ? `z.enum(${toLiteral(column.values)})` : SCHEMAS[column.type]
  // A cost says by itself that it is not known.
  const orNull = column.presence === 'always' || column.type === 'cost' ? '' : '.nullable()'
  const meta = Object.keys(column.body).length === 0 ? '' : `.meta(${toLiteral(column.body)})`
  return `${schema}${orNull}${meta}`
}

export function bodyCode(columns: CallColumns): string {
  return [
    generatedHead('A call as the answers of the interface and its CSV export tell it.'),
    "import type { CsvCell } from '../../contract/csv.ts'\n",
    "import type { LogBody } from '../../contract/logs.ts'\n",
    "import type { CallRecord } from '../../core/call.ts'\n",
    "import { toAttemptsBody, toCostBody } from './body-parts.ts'\n\n",
    'export function toLogBody(call: CallRecord, keyName: string | null): LogBody {\n  return {\n',
    block(
      listTold(columns).flatMap((column) => [
        `${column.name}: ${toBodyMember(column)},`,
        ...(column.name === KEY_NAME.behind ? ['keyName,'] : []),
      ]),
      '    ',
    ),
    '  }\n}\n\n',
    'export const EXPORT_COLUMNS: readonly (readonly [name: string, read: (log: LogBody) => CsvCell])[] = [\n',
    block(
      [
        ...listColumns(columns).flatMap(toExported),
        { csv: KEY_NAME.csv, heading: 'keyName', read: 'log.keyName' },
      ]
        .toSorted((left, right) => left.csv - right.csv)
        .map(({ heading, read }) => `['${heading}', (log) => ${read}],`),
    ),
    ']\n',
  ].join('')
}

function toBodyMember({ name, type, presence }: Told): string {
  const value = `call.${name}`
  if (type === 'cost') return `toCostBody(${value})`
  if (type === 'attempts') return `toAttemptsBody(${value})`
  if (type !== 'moment') return presence === 'optional' ? `${value} ?? null` : value
  const text = `new Date(${value}).toISOString()`
  if (presence === 'always') return text
  return `${value} === ${presence === 'nullable' ? 'null' : 'undefined'} ? null : ${text}`
}

interface Exported {
  readonly csv: number
  readonly heading: string
  readonly read: string
}

function toExported(column: NamedColumn): readonly Exported[] {
  const { name } = column
  if (!('parts' in column))
    return column.csv === null ? [] : [{ csv: column.csv, heading: name, read: `log.${name}` }]
  const value = column.type === 'cost' ? `log.${name}.` : `log.${name}?.`
  return partsOf(column).map((part) => ({
    csv: part.csv,
    heading: part.heading ?? part.name,
    // As a decimal: a spreadsheet would show 1e-7 as text.
    read: part.name === 'nanoUsd' ? `${value}usd?.toFixed(9)` : `${value}${part.name}`,
  }))
}
