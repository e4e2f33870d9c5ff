import type { Selectable } from 'kysely'
import type { CallAttempt, CallRecord } from '../../core/call.ts'
import type { CallColumn, ColumnPart } from '../../core/call-column.ts'
import { CALL_COLUMNS } from '../../core/call-columns.ts'
import type { Cost } from '../../core/cost.ts'
import type { ErrorKind } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'

type Columns = typeof CALL_COLUMNS

type Cell<Value> = Value extends undefined
  ? null
  : Value extends boolean
    ? number
    : Value extends readonly unknown[]
      ? string
      : Value

type PlainCells = {
  [Name in keyof Columns as Columns[Name] extends { readonly column: infer Column extends string }
    ? Column
    : never]: Cell<CallRecord[Name]>
}

type PartCell<Part> = Part extends { readonly values: readonly (infer Value)[] }
  ? Value
  : Part extends { readonly type: 'text' }
    ? string | null
    : number | null

type PartCells<Parts extends Readonly<Record<string, ColumnPart>>> = {
  [Name in keyof Parts as Parts[Name]['column']]: PartCell<Parts[Name]>
}

export interface CallTable
  extends PlainCells,
    PartCells<Columns['usage']['parts']>,
    PartCells<Columns['cost']['parts']> {}

type CellValue = string | number | null

interface CellColumn {
  readonly column: keyof CallTable
  readonly name: keyof CallRecord
  /** The member of the value, for a value that the table stores in several columns. */
  readonly part?: string
  readonly type: CallColumn['type']
  /** The cell of a call without this value. */
  readonly absent: CellValue
}

// The list defines the record and the table, so the names match.
const LIST = Object.entries(CALL_COLUMNS) as readonly (readonly [keyof CallRecord, CallColumn])[]
const CELLS: readonly CellColumn[] = LIST.flatMap(([name, column]) => toCells(name, column))

/** In the order of `toRowValues`. */
export const CALL_COLUMN_NAMES: readonly (keyof CallTable)[] = CELLS.map(({ column }) => column)

function toCells(name: keyof CallRecord, listed: CallColumn): readonly CellColumn[] {
  const { type } = listed
  if (!('parts' in listed))
    return [{ column: listed.column as keyof CallTable, name, type, absent: null }]
  return Object.entries(listed.parts).map(([part, { column, values }]) => ({
    ...{ column: column as keyof CallTable, name, part, type },
    absent: values?.at(-1) ?? null,
  }))
}

function toCell(record: CallRecord, { name, part, type, absent }: CellColumn): CellValue {
  const value: unknown = record[name] ?? null
  if (value === null) return absent
  if (part !== undefined) return (value as Readonly<Record<string, CellValue>>)[part] ?? absent
  if (type === 'flag') return value === true ? 1 : 0
  if (type === 'moment' || type === 'durationMs') return Math.round(Number(value))
  if (type === 'attempts') return encodeAttempts(value as readonly CallAttempt[])
  return value as CellValue
}

export function toRow(record: CallRecord): CallTable {
  return Object.fromEntries(
    CELLS.map((cell) => [cell.column, toCell(record, cell)]),
  ) as unknown as CallTable
}

/** The parameters of a bulk insert. */
export function toRowValues(record: CallRecord): CellValue[] {
  const values = new Array<CellValue>(CELLS.length)
  let index = 0
  for (const cell of CELLS) {
    values[index] = toCell(record, cell)
    index += 1
  }
  return values
}

export type CallValues = readonly CellValue[]

export function toTableRow(values: CallValues): CallTable {
  return Object.fromEntries(
    CALL_COLUMN_NAMES.map((column, index) => [column, values[index]]),
  ) as unknown as CallTable
}

export function toRecord(row: Selectable<CallTable>): CallRecord {
  const record: Partial<Record<keyof CallRecord, unknown>> = {}
  for (const [name, column] of LIST) {
    const value = toValue(row, column)
    if (value !== null || column.presence !== 'optional') record[name] = value
  }
  return record as CallRecord
}

function toValue(row: Selectable<CallTable>, column: CallColumn): unknown {
  if ('parts' in column) return column.type === 'usage' ? toUsage(row) : toCost(row)
  const cell: CellValue = row[column.column as keyof CallTable]
  if (cell === null) return null
  if (column.type === 'flag') return cell === 1
  return column.type === 'attempts' ? decodeAttempts(String(cell)) : cell
}

function toUsage(row: Selectable<CallTable>): Usage | null {
  if (row.input_tokens === null) return null
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens ?? 0,
    cachedInputTokens: row.cached_input_tokens ?? 0,
    reasoningTokens: row.reasoning_tokens ?? 0,
    ...(row.cache_write_tokens === null ? {} : { cacheWriteTokens: row.cache_write_tokens }),
  }
}

function toCost(row: Selectable<CallTable>): Cost | null {
  if (row.cost_status === 'unknown' && row.price_source === null) return null
  return { nanoUsd: row.cost_nano_usd, status: row.cost_status, source: row.price_source }
}

type AttemptMembers = readonly [
  target: string,
  status: number | null,
  afterMs: number,
  durationMs: number,
  failureKind?: ErrorKind,
  failureCode?: string | null,
]

function encodeAttempts(attempts: readonly CallAttempt[]): string {
  return JSON.stringify(
    attempts.map(({ target, status, afterMs, durationMs, failure }): AttemptMembers => {
      const members = [target, status, afterMs, durationMs] as const
      return failure === undefined ? members : [...members, failure.kind, failure.code]
    }),
  )
}

function decodeAttempts(json: string): readonly CallAttempt[] {
  return (JSON.parse(json) as readonly AttemptMembers[]).map(
    ([target, status, afterMs, durationMs, kind, code = null]) => ({
      ...{ target, status, afterMs, durationMs },
      ...(kind === undefined ? {} : { failure: { kind, code } }),
    }),
  )
}
