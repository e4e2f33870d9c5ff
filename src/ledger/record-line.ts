/**
 * One call as one line of a journal segment, and back. Knows the line's format; must not know files.
 *
 * A line is `<CRC32 of the rest, 8 hexadecimal digits> <JSON array>\n`, UTF-8. The array begins with the format's
 * version and then holds the members of CallRecord by position, which makes a line about half as long as an object. The
 * attempts come last and only where there is something to say of them; cache writes are the fifth of the usage's counts. The
cost is null where the call could not be priced when it ended: whoever ships it prices it then.
 */
import type { CallAttempt, CallCredential, CallOutcome, CallRecord } from '../core/call.ts'
import type { Cost, CostStatus } from '../core/cost.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import { isCount, type Usage } from '../core/usage.ts'
import { toWholeRecord } from './whole-record.ts'

/**
 * 2 added the credential; 3 the cache writes, and the attempts where there is something to say of them; 4 the cost; 5 is
 * written for calls that were turned away alone, so that builds before it read all others.
 */
const VERSION = 5
const PRICED_VERSION = 4
const REFUSED_VERSION = 5
/** How many there may be, by version: of the earlier ones, what a node that was upgraded may have left. */
const MEMBERS: readonly (readonly number[])[] = [[], [16], [17], [17, 18], [18, 19], [20]]
const COUNTS: readonly (readonly number[])[] = [[], [4], [4], [4, 5], [4, 5], [4, 5]]
const CHECKSUM_CHARS = 8
const HEXADECIMAL = new TextEncoder().encode('0123456789abcdef')
const SPACE = 32
const CREDENTIALS: readonly unknown[] = [
  'own',
  'platform',
  null,
] satisfies readonly (CallCredential | null)[]
const OUTCOMES: readonly unknown[] = [
  'succeeded',
  'failed',
  'cancelled',
] satisfies readonly CallOutcome[]
const COST_STATUSES: readonly unknown[] = [
  'exact',
  'estimated',
  'unknown',
] satisfies readonly CostStatus[]
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The whole line with its newline, of a record as `toWholeRecord` makes it. Neither an id nor a target can break it: JSON
 * escapes control characters.
 */
export function encodeWholeRecord(call: CallRecord): string {
  const { usage, cost } = call
  const members: unknown[] = [
    call.refusals === undefined ? PRICED_VERSION : REFUSED_VERSION,
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
    usage === null ? null : toCounts(usage),
    call.credential,
    cost === undefined ? null : [cost.microUsd, cost.status, cost.source],
  ]
  const attempts = call.attemptDetails?.map(toAttemptMembers)
  if (call.refusals !== undefined) members.push(attempts ?? null, call.refusals)
  else if (attempts !== undefined) members.push(attempts)
  const json = JSON.stringify(members)
  return `${toChecksum(json)} ${json}\n`
}

/** As `encodeWholeRecord`, of any record. */
export function encodeRecordLine(call: CallRecord): string {
  return encodeWholeRecord(toWholeRecord(call))
}

/**
 * Reads a line given without its newline; undefined when it is torn or damaged. `newer`: it is whole, and of a format that
 * only a later version of the gateway can read.
 */
export function decodeRecordLine(line: Uint8Array): CallRecord | 'newer' | undefined {
  const json = line.subarray(CHECKSUM_CHARS + 1)
  try {
    if (readChecksum(line) !== Bun.hash.crc32(json)) return undefined
    const members: unknown = JSON.parse(decoder.decode(json))
    if (!Array.isArray(members)) return undefined
    return isCount(members[0]) && members[0] > VERSION ? 'newer' : toCallRecord(members)
  } catch {
    return undefined
  }
}

function toChecksum(content: string | Uint8Array): string {
  return Bun.hash.crc32(content).toString(16).padStart(CHECKSUM_CHARS, '0')
}

/** Digit by digit: a text of them would cost more than the checksum itself. NaN where a line begins with anything else. */
function readChecksum(line: Uint8Array): number {
  let checksum = 0
  for (let index = 0; index < CHECKSUM_CHARS; index += 1) {
    const digit = HEXADECIMAL.indexOf(line[index] ?? 0)
    if (digit < 0) return Number.NaN
    checksum = checksum * 16 + digit
  }
  return line[CHECKSUM_CHARS] === SPACE ? checksum : Number.NaN
}

function toCounts(usage: Usage): readonly number[] {
  const counts = [
    usage.inputTokens,
    usage.outputTokens,
    usage.cachedInputTokens,
    usage.reasoningTokens,
  ]
  if (usage.cacheWriteTokens !== undefined) counts.push(usage.cacheWriteTokens)
  return counts
}

function toAttemptMembers({
  target,
  status,
  afterMs,
  durationMs,
}: CallAttempt): readonly unknown[] {
  return [target, status, afterMs, durationMs]
}

function toCallRecord(members: readonly unknown[]): CallRecord | undefined {
  // By index: taking an array apart makes iterators, for every call.
  const version = members[0]
  if (!isCount(version) || !MEMBERS[version]?.includes(members.length)) return undefined
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
  const usage = members[15]
  const credential = members[16] ?? null
  const costMembers = version >= PRICED_VERSION ? members[17] : null
  const attemptMembers = members[version >= PRICED_VERSION ? 18 : 17] ?? undefined
  const refusals = version >= REFUSED_VERSION ? members[19] : undefined
  if (!(refusals === undefined || isCount(refusals))) return undefined
  if (!CREDENTIALS.includes(credential)) return undefined
  if (!isString(id) || !isString(accountId) || !isString(keyId) || !isString(gateId))
    return undefined
  if (!isString(dialect) || typeof stream !== 'boolean' || !OUTCOMES.includes(outcome))
    return undefined
  if (!isCount(attempts) || !isCount(status) || !isCount(startedAt) || !isCount(durationMs))
    return undefined
  if (!(target === null || isString(target)) || !(errorKind === null || isString(errorKind)))
    return undefined
  if (!(firstByteMs === null || isCount(firstByteMs))) return undefined
  const usageRead = usage === null ? null : toUsage(usage, version)
  if (usageRead === undefined) return undefined
  const record: CallRecord = {
    id: id as CallId,
    accountId: accountId as AccountId,
    keyId: keyId as KeyId,
    gateId: gateId as GateId,
    dialect,
    stream,
    target,
    attempts,
    outcome: outcome as CallOutcome,
    status,
    errorKind: errorKind as ErrorKind | null,
    startedAt,
    firstByteMs,
    durationMs,
    usage: usageRead,
    credential: credential as CallCredential | null,
    ...(refusals === undefined ? {} : { refusals }),
  }
  return withRest(record, costMembers, attemptMembers)
}

function withRest(
  record: CallRecord,
  costMembers: unknown,
  attemptMembers: unknown,
): CallRecord | undefined {
  const cost = costMembers === null ? undefined : toCost(costMembers)
  if (costMembers !== null && cost === undefined) return undefined
  const priced = cost === undefined ? record : { ...record, cost }
  if (attemptMembers === undefined) return priced
  const attemptDetails = toAttempts(attemptMembers)
  return attemptDetails === undefined ? undefined : { ...priced, attemptDetails }
}

function toUsage(members: unknown, version: number): Usage | undefined {
  if (!Array.isArray(members) || !COUNTS[version]?.includes(members.length)) return undefined
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

function toCost(members: unknown): Cost | undefined {
  if (!Array.isArray(members) || members.length !== 3) return undefined
  const microUsd: unknown = members[0]
  const status: unknown = members[1]
  const source: unknown = members[2]
  if (!(microUsd === null || isCount(microUsd)) || !COST_STATUSES.includes(status)) return undefined
  if (!(source === null || isString(source))) return undefined
  return { microUsd, status: status as CostStatus, source }
}

function toAttempts(members: unknown): readonly CallAttempt[] | undefined {
  if (!Array.isArray(members)) return undefined
  const attempts: CallAttempt[] = []
  for (const each of members) {
    if (!Array.isArray(each) || each.length !== 4) return undefined
    const [target, status, afterMs, durationMs]: unknown[] = each
    if (!isString(target) || !(status === null || isCount(status))) return undefined
    if (!isCount(afterMs) || !isCount(durationMs)) return undefined
    attempts.push({ target, status, afterMs, durationMs })
  }
  return attempts
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
