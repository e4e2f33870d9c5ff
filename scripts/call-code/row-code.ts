/** src/store/calls/call-rows.generated.ts: a call as a row of its table, and back. */
import type { CallColumns } from '../../src/core/call-column.ts'
import {
  block,
  generatedHead,
  heldAs,
  isPlain,
  listColumns,
  type NamedColumn,
  PLAIN_TYPES,
  partsOf,
  toLiteral,
  toUnion,
} from './column-parts.ts'

export const ROWS_PATH = 'src/store/calls/call-rows.generated.ts'

/** A column of the table. */
interface TableColumn {
  readonly name: string
  /** Its type in a row. */
  readonly type: string
  /** What is written of `record`. */
  readonly written: string
}

export function rowCode(columns: CallColumns): string {
  const list = listColumns(columns)
  const table = list.flatMap(toTableColumns)
  return [
    generatedHead('A call as a row of its table, and back. Runs no query.'),
    "import type { Selectable } from 'kysely'\n",
    "import type { CallRecord } from '../../core/call.ts'\n",
    "import type { ErrorKind } from '../../core/errors.ts'\n",
    "import type { AccountId, CallId, GateId, KeyId } from '../../core/ids.ts'\n",
    "import { decodeAttempts, encodeAttempts, toCost, toUsage } from './row-parts.ts'\n\n",
    'export interface CallTable {\n',
    block(table.map(({ name, type }) => `${name}: ${type}`)),
    '}\n\n',
    '/** In the order of the values of `toRowValues`. */\n',
    'export const CALL_COLUMN_NAMES = [\n',
    block(table.map(({ name }) => `'${name}',`)),
    '] as const satisfies readonly (keyof CallTable)[]\n\n',
    'export function toRow(record: CallRecord): CallTable {\n  return {\n',
    block(
      table.map(({ name, written }) => `${name}: ${written},`),
      '    ',
    ),
    '  }\n}\n\n',
    '/** What a bulk insert binds. Each by itself, for this is done for every call. */\n',
    'export function toRowValues(record: CallRecord): (string | number | null)[] {\n  return [\n',
    block(
      table.map(({ written }) => `${written},`),
      '    ',
    ),
    '  ]\n}\n\n',
    '/** What `toTableRow` reads. */\n',
    'export type CallValues = readonly [\n',
    block(table.map(({ name, type }) => `${name}: ${type},`)),
    ']\n\n',
    '/** Of values in the order of `CALL_COLUMN_NAMES`. */\n',
    'export function toTableRow(values: CallValues): CallTable {\n  return {\n',
    block(
      table.map(({ name }, index) => `${name}: values[${index}],`),
      '    ',
    ),
    '  }\n}\n\n',
    'export function toRecord(row: Selectable<CallTable>): CallRecord {\n',
    block(
      list.filter(({ type }) => type === 'cost').map(({ name }) => `const ${name} = toCost(row)`),
    ),
    '  return {\n',
    block(list.map(toMember), '    '),
    '  }\n}\n',
  ].join('')
}

function toTableColumns(column: NamedColumn): readonly TableColumn[] {
  const value = `record.${column.name}`
  if ('parts' in column) return partsOf(column).map((part) => toPartColumn(value, part))
  const orNull = column.presence === 'always' ? '' : ' | null'
  const name = column.column
  if (column.type === 'attempts') {
    const written = `${value} === undefined ? null : encodeAttempts(${value})`
    return [{ name, type: 'string | null', written }]
  }
  if (column.type === 'choice')
    return [{ name, type: toUnion(column.values) + orNull, written: orNulled(column) }]
  const { held, brand } = PLAIN_TYPES[column.type]
  const inRow = held === 'string' ? (brand ?? 'string') : 'number'
  return [{ name, type: inRow + orNull, written: orNulled(column) }]
}

function toPartColumn(value: string, part: ReturnType<typeof partsOf>[number]): TableColumn {
  const name = part.column
  const read = `${value}?.${part.name}`
  if (part.type !== 'choice') {
    const isText = part.type === 'text'
    const type = isText ? 'string | null' : 'number | null'
    return { name, type, written: `${read} ?? null` }
  }
  const absent = toLiteral(part.values?.at(-1))
  return { name, type: toUnion(part.values), written: `${read} ?? ${absent}` }
}

/** Truth values are 0 and 1, times are whole. */
function orNulled(column: Extract<NamedColumn, { column: string }>): string {
  const value = `record.${column.name}`
  const { type, presence } = column
  const isTime = type === 'moment' || type === 'durationMs'
  const written = type === 'flag' ? `${value} ? 1 : 0` : isTime ? `Math.round(${value})` : value
  if (presence === 'always') return written
  if (written === value) return presence === 'nullable' ? value : `${value} ?? null`
  return `${value} === ${presence === 'nullable' ? 'null' : 'undefined'} ? null : ${written}`
}

function toMember(column: NamedColumn): string {
  const { name, presence } = column
  if ('parts' in column)
    return column.type === 'usage'
      ? `${name}: toUsage(row),`
      : `...(${name} === undefined ? {} : { ${name} }),`
  const inRow = `row.${column.column}`
  if (column.type === 'attempts')
    return `...(${inRow} === null ? {} : { ${name}: decodeAttempts(${inRow}) }),`
  const isFlag = isPlain(column) && heldAs(column) === 'boolean'
  const read = isFlag ? `${inRow} === 1` : inRow
  if (presence === 'optional') return `...(${inRow} === null ? {} : { ${name}: ${read} }),`
  return presence === 'nullable' && isFlag
    ? `${name}: ${inRow} === null ? null : ${read},`
    : `${name}: ${read},`
}
