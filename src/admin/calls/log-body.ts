import type { CsvCell } from '../../contract/csv.ts'
import type { LogBody, LogDetailsBody, LogFilterQuery } from '../../contract/logs.ts'
import type { CallAttempt, CallRecord } from '../../core/call.ts'
import type { CallColumn } from '../../core/call-column.ts'
import { CALL_COLUMNS, type CallNames, NAME_COLUMNS } from '../../core/call-columns.ts'
import type { Cost, CostPart } from '../../core/cost.ts'
import { ERROR_KINDS } from '../../core/errors.ts'
import { toUsd, usdOfPart } from '../../core/money.ts'
import type { CallerFilter, CallFilter } from '../../store/calls/call-pages.ts'

const LIST = Object.entries(CALL_COLUMNS) as readonly (readonly [keyof CallRecord, CallColumn])[]

const NAMES = Object.entries(NAME_COLUMNS) as readonly (readonly [
  keyof CallNames,
  (typeof NAME_COLUMNS)[keyof CallNames],
])[]

export function toLogBody(call: CallRecord, names: CallNames): LogBody {
  const body: Record<string, unknown> = {}
  for (const [name, { type, body: field }] of LIST) {
    if (field === null) continue
    body[name] = toMember(type, call[name])
    for (const [found, { after }] of NAMES) if (name === after) body[found] = names[found]
  }
  return body as LogBody
}

function toMember(type: CallColumn['type'], value: unknown): unknown {
  if (type === 'cost') return toCostBody(value as Cost | undefined)
  if (value === undefined || value === null) return null
  if (type === 'moment') return new Date(Number(value)).toISOString()
  return type === 'attempts' ? (value as readonly CallAttempt[]).map(toAttemptBody) : value
}

export function toCostBody(cost: Cost | undefined): LogBody['cost'] {
  if (cost === undefined) return { usd: null, status: 'unknown', source: null }
  const { nanoUsd, status, source } = cost
  return { usd: nanoUsd === null ? null : toUsd(nanoUsd), status, source }
}

function toAttemptBody({ failure, ...attempt }: CallAttempt) {
  return {
    ...attempt,
    errorKind: ERROR_KINDS.find((kind) => kind === failure?.kind) ?? null,
    errorCode: failure?.code ?? null,
  }
}

interface ExportColumn {
  readonly place: number
  readonly heading: string
  read(log: LogBody): CsvCell
}

export const EXPORT_COLUMNS: readonly ExportColumn[] = [
  ...LIST.flatMap(([name, column]) => toExportColumns(name as keyof LogBody, column)),
  ...NAMES.map(([name, { csv }]) => ({
    place: csv,
    heading: name,
    read: (log: LogBody) => log[name],
  })),
].toSorted((left, right) => left.place - right.place)

function toExportColumns(name: keyof LogBody, column: CallColumn): readonly ExportColumn[] {
  if (!('parts' in column)) {
    const { csv } = column
    return csv === null ? [] : [{ place: csv, heading: name, read: (log) => log[name] as CsvCell }]
  }
  return Object.entries(column.parts).map(([part, { csv, heading = part }]) => ({
    place: csv,
    heading,
    read(log) {
      // Decimal, since spreadsheets show 1e-7 as text.
      if (part === 'nanoUsd') return log.cost.usd?.toFixed(9)
      return (log[name] as Readonly<Record<string, CsvCell>> | null)?.[part]
    },
  }))
}

export function toLogDetailsBody(
  call: CallRecord,
  parts: readonly CostPart[] | undefined,
  names: CallNames,
): LogDetailsBody {
  const log = toLogBody(call, names)
  return { ...log, cost: { ...log.cost, parts: parts?.map(toPartBody) ?? null } }
}

function toPartBody({ kind, count, usdPerMillion }: CostPart) {
  return { kind, count, usdPerMillion, usd: usdOfPart({ count, usdPerMillion }) }
}

export function toFilter(query: LogFilterQuery, caller: CallerFilter): CallFilter {
  const { from, to, gate, key, target, status, statusClass, outcome, errorKind, stream } = query
  const { refused, durationFromMs, durationToMs, firstByteFromMs, firstByteToMs } = query
  return {
    ...caller,
    ...(from === undefined ? {} : { fromMs: from }),
    ...(to === undefined ? {} : { toMs: to }),
    ...(gate === undefined ? {} : { gateId: gate }),
    ...(key === undefined ? {} : { keyId: key }),
    ...(target === undefined ? {} : { target }),
    ...(query.targetPart === undefined ? {} : { targetPart: query.targetPart }),
    ...(status === undefined ? {} : { status }),
    ...(statusClass === undefined ? {} : { statusClass: Number(statusClass[0]) }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(errorKind === undefined ? {} : { errorKind }),
    ...(refused === undefined ? {} : { refused }),
    ...(stream === undefined ? {} : { stream }),
    ...(query.unpriced === undefined ? {} : { isUnpriced: query.unpriced }),
    ...(durationFromMs === undefined ? {} : { durationFromMs }),
    ...(durationToMs === undefined ? {} : { durationToMs }),
    ...(firstByteFromMs === undefined ? {} : { firstByteFromMs }),
    ...(firstByteToMs === undefined ? {} : { firstByteToMs }),
  }
}
