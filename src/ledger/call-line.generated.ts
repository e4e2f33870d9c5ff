/** A call as the members of its line in the journal, and back. Made from src/core/call-columns.ts by `make fmt`; edit the list. */
import type { CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import { isCount, toTrueUsage } from '../core/usage.ts'
import { hasFailedAttempt, isWholeAttempt, isWholeCost, readAttempts, readCost, readUsage, toAttemptsMembers, toCostMembers, toUsageMembers, toWhole, toWholeAttempt } from './line-parts.ts'

/** The highest that this build reads. */
export const LINE_VERSION = 10

/** How many members a line may have, by version. */
const LENGTHS: readonly (readonly number[])[] = [[], [], [], [], [18, 19], [20], [21], [22], [18, 19, 20, 21, 22], [23], [18, 19, 20, 21, 22, 23]]

/** Of a record as `toWholeRecord` makes it; the first member is the version. */
export function toLineMembers(call: CallRecord): unknown[] {
  const members: unknown[] = [
    call.cost === undefined ? 4 : 8,
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
    toUsageMembers(call.usage),
    call.credential,
    toCostMembers(call.cost),
  ]
  if (call.refusedBy !== undefined) {
    members[0] = 9
    members.push(toAttemptsMembers(call.attemptDetails), call.refusals ?? null, call.sentGateId ?? null, call.refusalCode ?? null, call.refusedBy)
  } else if (call.refusalCode !== undefined) {
    if (call.cost === undefined) members[0] = 7
    members.push(toAttemptsMembers(call.attemptDetails), call.refusals ?? null, call.sentGateId ?? null, call.refusalCode)
  } else if (call.sentGateId !== undefined) {
    if (call.cost === undefined) members[0] = 6
    members.push(toAttemptsMembers(call.attemptDetails), call.refusals ?? null, call.sentGateId)
  } else if (call.refusals !== undefined) {
    if (call.cost === undefined) members[0] = 5
    members.push(toAttemptsMembers(call.attemptDetails), call.refusals)
  } else if (call.attemptDetails !== undefined) {
    members.push(toAttemptsMembers(call.attemptDetails))
  }
  if (hasFailedAttempt(call.attemptDetails)) members[0] = Math.max(Number(members[0]), 10)
  return members
}

/** Of a version from 4 on. @returns undefined where a member is not what its column holds */
export function readLineMembers(version: number, members: readonly unknown[]): CallRecord | undefined {
  if (!LENGTHS[version]?.includes(members.length)) return undefined
  // By index: taking an array apart makes iterators, for every call.
  const id = members[1]
  const accountId = members[2]
  const keyId = members[3]
  const gateId = members[4]
  const dialect = members[5]
  const stream = members[6]
  const target = members[7]
  const attempts = members[8]
  const outcome = members[9]
  const status = members[10]
  const errorKind = members[11]
  const startedAt = members[12]
  const firstByteMs = members[13]
  const durationMs = members[14]
  const usage = readUsage(members[15])
  const credential = members[16]
  const cost = readCost(members[17], version)
  const attemptDetails = readAttempts(members[18] ?? null)
  const refusals = members[19] ?? null
  const sentGateId = members[20] ?? null
  const refusalCode = members[21] ?? null
  const refusedBy = members[22] ?? null
  if (typeof id !== 'string') return undefined
  if (typeof accountId !== 'string') return undefined
  if (typeof keyId !== 'string') return undefined
  if (typeof gateId !== 'string') return undefined
  if (typeof dialect !== 'string') return undefined
  if (typeof stream !== 'boolean') return undefined
  if (target !== null && typeof target !== 'string') return undefined
  if (!isCount(attempts)) return undefined
  if (outcome !== 'succeeded' && outcome !== 'failed' && outcome !== 'cancelled') return undefined
  if (!isCount(status)) return undefined
  if (errorKind !== null && typeof errorKind !== 'string') return undefined
  if (!isCount(startedAt)) return undefined
  if (firstByteMs !== null && !isCount(firstByteMs)) return undefined
  if (!isCount(durationMs)) return undefined
  if (usage === undefined) return undefined
  if (credential !== null && credential !== 'own' && credential !== 'platform') return undefined
  if (cost === undefined) return undefined
  if (attemptDetails === undefined) return undefined
  if (refusals !== null && !isCount(refusals)) return undefined
  if (sentGateId !== null && typeof sentGateId !== 'string') return undefined
  if (refusalCode !== null && typeof refusalCode !== 'string') return undefined
  if (refusedBy !== null && typeof refusedBy !== 'string') return undefined
  if (version === 5 && refusals === null) return undefined
  if (version === 6 && sentGateId === null) return undefined
  if (version === 7 && refusalCode === null) return undefined
  if (version === 9 && refusedBy === null) return undefined
  const record: Writable = {
    id: id as CallId,
    accountId: accountId as AccountId,
    keyId: keyId as KeyId,
    gateId: gateId as GateId,
    dialect,
    stream,
    target,
    attempts,
    outcome,
    status,
    errorKind: errorKind as ErrorKind | null,
    startedAt,
    firstByteMs,
    durationMs,
    usage,
    credential,
  }
  if (cost !== null) record.cost = cost
  if (attemptDetails !== null) record.attemptDetails = attemptDetails
  if (refusals !== null) record.refusals = refusals
  if (sentGateId !== null) record.sentGateId = sentGateId
  if (refusalCode !== null) record.refusalCode = refusalCode
  if (refusedBy !== null) record.refusedBy = refusedBy
  return record
}

type Writable = { -readonly [Name in keyof CallRecord]: CallRecord[Name] }

/** Whether every number is one that the columns can hold. */
export function isWhole(call: CallRecord): boolean {
  return (
    isCount(call.attempts) &&
    isCount(call.status) &&
    isCount(call.startedAt) &&
    (call.firstByteMs === null || isCount(call.firstByteMs)) &&
    isCount(call.durationMs) &&
    toTrueUsage(call.usage) === call.usage &&
    (call.cost === undefined || isWholeCost(call.cost)) &&
    (call.refusals === undefined || isCount(call.refusals)) &&
    (call.attemptDetails === undefined || call.attemptDetails.every(isWholeAttempt))
  )
}

/** A copy whose numbers are whole. */
export function makeWhole(call: CallRecord): CallRecord {
  const { cost, refusals, attemptDetails, ...rest } = call
  return {
    ...rest,
    attempts: toWhole(call.attempts),
    status: toWhole(call.status),
    startedAt: toWhole(call.startedAt),
    firstByteMs: call.firstByteMs === null ? null : toWhole(call.firstByteMs),
    durationMs: toWhole(call.durationMs),
    usage: toTrueUsage(call.usage),
    ...(cost !== undefined && isWholeCost(cost) ? { cost } : {}),
    ...(refusals === undefined ? {} : { refusals: toWhole(refusals) }),
    ...(attemptDetails === undefined ? {} : { attemptDetails: attemptDetails.map(toWholeAttempt) }),
  }
}
