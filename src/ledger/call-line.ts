/**
 * Converts a call to its journal line's members and back, from the list of columns in
 * core/call-columns.ts.
 */
import type { CallAttempt, CallRecord } from '../core/call.ts'
import type { CallColumn } from '../core/call-column.ts'
import { CALL_COLUMNS } from '../core/call-columns.ts'
import { COST_STATUSES, type Cost, type CostStatus } from '../core/cost.ts'
import type { ErrorKind } from '../core/errors.ts'
import { isCount, toTrueUsage, type Usage } from '../core/usage.ts'

/**
 * How a type of column is stored in lines. Members are methods, so that each row of the table may
 * have its own value type.
 */
interface LineType {
  toMember?(value: unknown): unknown
  read(member: unknown): unknown
  isWhole?(value: unknown): boolean
  toWhole?(value: unknown): unknown
}

const TEXT: LineType = { read: (member) => (typeof member === 'string' ? member : undefined) }

const COUNT: LineType = {
  read: (member) => (isCount(member) ? member : undefined),
  isWhole: isCount,
  toWhole,
}

const LINE_TYPES: Readonly<Record<Exclude<CallColumn['type'], 'choice'>, LineType>> = {
  callId: TEXT,
  accountId: TEXT,
  keyId: TEXT,
  gateId: TEXT,
  text: TEXT,
  flag: { read: (member) => (typeof member === 'boolean' ? member : undefined) },
  count: COUNT,
  positiveCount: COUNT,
  httpStatus: COUNT,
  moment: COUNT,
  durationMs: COUNT,
  errorKind: TEXT,
  attempts: {
    toMember: toAttemptsMembers,
    read: readAttempts,
    isWhole: (attempts: readonly CallAttempt[]) => attempts.every(isWholeAttempt),
    toWhole: (attempts: readonly CallAttempt[]) => attempts.map(toWholeAttempt),
  },
  usage: {
    read: readUsage,
    isWhole: (usage: Usage) => toTrueUsage(usage) === usage,
    toWhole: toTrueUsage,
  },
  cost: {
    toMember: toCostMembers,
    read: readCost,
    isWhole: isWholeCost,
    toWhole: (cost: Cost) => (isWholeCost(cost) ? cost : undefined),
  },
}

interface LineColumn extends LineType {
  readonly name: keyof CallRecord
  readonly place: number
  readonly presence: CallColumn['presence']
}

const COLUMNS: readonly LineColumn[] = Object.entries(CALL_COLUMNS)
  .map(([name, column]: [string, CallColumn]) => ({
    name: name as keyof CallRecord,
    place: column.line,
    presence: column.presence,
    ...lineTypeOf(column),
  }))
  .toSorted((left, right) => left.place - right.place)

const COUNTED_COLUMNS = COLUMNS.filter(({ isWhole }) => isWhole !== undefined)

export const LINE_VERSION = 10

const LEAST_LENGTH = Math.max(
  ...COLUMNS.filter(({ presence }) => presence !== 'optional').map(({ place }) => place + 1),
)

export const MOST_LENGTH = COLUMNS.length + 1

function lineTypeOf(column: CallColumn): LineType {
  if (column.type !== 'choice') return LINE_TYPES[column.type]
  const values: readonly unknown[] = column.values
  return { read: (member) => (values.includes(member) ? member : undefined) }
}

const LATER_COLUMNS = COLUMNS.filter(({ place }) => place >= LEAST_LENGTH)

/**
 * Converts a record from `toWholeRecord`; the first member is the version. The first columns are
 * written out, because the function runs once a call; a test compares them with the list.
 */
export function toLineMembers(call: CallRecord): unknown[] {
  const members: unknown[] = [
    LINE_VERSION,
    call.id,
    call.accountId,
    call.keyId,
    call.gateId,
    call.dialect,
    call.stream,
    call.target,
    call.attempts,
    call.outcome,
    call.status,
    call.errorKind,
    call.startedAt,
    call.firstByteMs,
    call.durationMs,
    call.usage === null ? null : toUsageMembers(call.usage),
    call.credential,
  ]
  for (const { name, place, toMember } of LATER_COLUMNS) {
    const value: unknown = call[name] ?? null
    if (value === null) continue
    while (members.length < place) members.push(null)
    members.push(toMember === undefined ? value : toMember(value))
  }
  return members
}

export function readLineMembers(members: readonly unknown[]): CallRecord | undefined {
  if (members.length < LEAST_LENGTH || members.length > MOST_LENGTH) return undefined
  const record: Partial<Record<keyof CallRecord, unknown>> = {}
  for (const column of COLUMNS) {
    const member = members[column.place] ?? null
    if (member !== null) {
      const value = column.read(member)
      if (value === undefined) return undefined
      record[column.name] = value
    } else if (column.presence === 'always') return undefined
    else if (column.presence === 'nullable') record[column.name] = null
  }
  return record as CallRecord
}

/**
 * Makes every number of a call whole and not negative, so that a provider's count of 1.5 or 1e30
 * does not create a row that the store always refuses. Invalid usage or cost is dropped; an invalid
 * time becomes 0.
 * @returns the call itself when nothing changes, which is nearly always
 */
export function toWholeRecord(call: CallRecord): CallRecord {
  for (const column of COUNTED_COLUMNS) {
    const value: unknown = call[column.name] ?? null
    if (value !== null && column.isWhole?.(value) !== true) return makeWhole(call)
  }
  return call
}

function makeWhole(call: CallRecord): CallRecord {
  const copy: Partial<Record<keyof CallRecord, unknown>> = { ...call }
  for (const { name, toWhole } of COUNTED_COLUMNS) {
    const value: unknown = call[name] ?? null
    if (value === null) continue
    const whole = toWhole?.(value)
    if (whole === undefined) delete copy[name]
    else copy[name] = whole
  }
  return copy as CallRecord
}

// Columns with more than one value: usage, cost, attempts.

function toUsageMembers(usage: Usage): readonly number[] {
  const counts = [
    usage.inputTokens,
    usage.outputTokens,
    usage.cachedInputTokens,
    usage.reasoningTokens,
  ]
  if (usage.cacheWriteTokens !== undefined) counts.push(usage.cacheWriteTokens)
  return counts
}

function readUsage(members: unknown): Usage | undefined {
  if (!Array.isArray(members) || (members.length !== 4 && members.length !== 5)) return undefined
  const inputTokens: unknown = members[0]
  const outputTokens: unknown = members[1]
  const cachedInputTokens: unknown = members[2]
  const reasoningTokens: unknown = members[3]
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined
  if (!isCount(cachedInputTokens) || !isCount(reasoningTokens)) return undefined
  const usage = { inputTokens, outputTokens, cachedInputTokens, reasoningTokens }
  if (members.length === 4) return usage
  const cacheWriteTokens: unknown = members[4]
  return isCount(cacheWriteTokens) ? { ...usage, cacheWriteTokens } : undefined
}

function toCostMembers({ nanoUsd, status, source }: Cost): readonly unknown[] {
  return [nanoUsd, status, source]
}

function readCost(members: unknown): Cost | undefined {
  if (!Array.isArray(members) || members.length !== 3) return undefined
  const amount: unknown = members[0]
  const status: unknown = members[1]
  const source: unknown = members[2]
  if (!(amount === null || isCount(amount)) || !COST_STATUSES.some((known) => known === status))
    return undefined
  if (!(source === null || typeof source === 'string')) return undefined
  return { nanoUsd: amount, status: status as CostStatus, source }
}

function toAttemptsMembers(attempts: readonly CallAttempt[]): readonly unknown[] {
  const members: unknown[] = []
  for (const { target, status, afterMs, durationMs, failure } of attempts)
    members.push(
      failure === undefined
        ? [target, status, afterMs, durationMs]
        : [target, status, afterMs, durationMs, failure.kind, failure.code],
    )
  return members
}

function readAttempts(members: unknown): readonly CallAttempt[] | undefined {
  if (!Array.isArray(members)) return undefined
  const attempts: CallAttempt[] = []
  for (const each of members) {
    if (!Array.isArray(each) || (each.length !== 4 && each.length !== 6)) return undefined
    const [target, status, afterMs, durationMs, kind, code = null]: unknown[] = each
    if (typeof target !== 'string' || !(status === null || isCount(status))) return undefined
    if (!isCount(afterMs) || !isCount(durationMs)) return undefined
    if (each.length === 4) {
      attempts.push({ target, status, afterMs, durationMs })
      continue
    }
    if (typeof kind !== 'string' || !(code === null || typeof code === 'string')) return undefined
    const failure = { kind: kind as ErrorKind, code }
    attempts.push({ target, status, afterMs, durationMs, failure })
  }
  return attempts
}

function isWholeCost({ nanoUsd }: Cost): boolean {
  return nanoUsd === null || isCount(nanoUsd)
}

function isWholeAttempt({ status, afterMs, durationMs }: CallAttempt): boolean {
  return (status === null || isCount(status)) && isCount(afterMs) && isCount(durationMs)
}

function toWholeAttempt({ status, afterMs, durationMs, ...others }: CallAttempt): CallAttempt {
  return {
    ...others,
    status: status === null ? null : toWhole(status),
    afterMs: toWhole(afterMs),
    durationMs: toWhole(durationMs),
  }
}

/** An invalid number becomes 0, because a record with a wrong duration is better than no record. */
function toWhole(value: number): number {
  const whole = Math.round(value)
  return isCount(whole) ? whole : 0
}
