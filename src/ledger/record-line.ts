/**
 * One call as one line of a journal segment, and back. Knows the line's format; must not know files.
 *
 * A line is `<CRC32 of the rest, 8 hexadecimal digits> <JSON array>\n`, UTF-8. The array begins with the format's
 * version and then holds the members of CallRecord by position, which makes a line about half as long as an object. The
 * attempts come last and only where there is something to say of them; cache writes are the fifth of the usage's counts.
 */
import type { CallAttempt, CallCredential, CallOutcome, CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import type { Usage } from '../core/usage.ts'

/** 2 added the credential; 3 the cache writes, and the attempts where there is something to say of them. */
const VERSION = 3
/** By version: of the earlier ones, what a node that was upgraded may have left. */
const MEMBERS_AFTER_OUTCOME: readonly (readonly number[])[] = [[], [6], [7], [7, 8]]
const COUNTS: readonly (readonly number[])[] = [[], [4], [4], [4, 5]]
const CHECKSUM_CHARS = 8
const CREDENTIALS: readonly unknown[] = ['own', 'platform', null] satisfies readonly (CallCredential | null)[]
const OUTCOMES: readonly unknown[] = ['succeeded', 'failed', 'cancelled'] satisfies readonly CallOutcome[]
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The whole line with its newline. Neither an id nor a target can break it: JSON escapes control characters.
 * Every number in it is a whole one from 0 up, as the store's columns are: a provider that reports a count of 1.5 or
 * 1e30 must not be able to make a row that the store refuses again and again.
 */
export function encodeRecordLine(call: CallRecord): string {
  const members: unknown[] = [
    VERSION,
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
    toWholeMs(call.startedAt),
    call.firstByteMs === null ? null : toWholeMs(call.firstByteMs),
    toWholeMs(call.durationMs),
    call.usage === null ? null : toCounts(call.usage),
    call.credential,
  ]
  if (call.attemptDetails !== undefined) members.push(call.attemptDetails.map(toAttemptMembers))
  const json = JSON.stringify(members)
  return `${toChecksum(json)} ${json}\n`
}

/** Reads a line given without its newline; undefined when it is torn, damaged or of a format this version cannot read. */
export function decodeRecordLine(line: Uint8Array): CallRecord | undefined {
  const json = line.subarray(CHECKSUM_CHARS + 1)
  try {
    const checksum = decoder.decode(line.subarray(0, CHECKSUM_CHARS + 1))
    if (checksum !== `${toChecksum(json)} `) return undefined
    const members: unknown = JSON.parse(decoder.decode(json))
    return Array.isArray(members) ? toCallRecord(members) : undefined
  } catch {
    return undefined
  }
}

function toChecksum(content: string | Uint8Array): string {
  return Bun.hash.crc32(content).toString(16).padStart(CHECKSUM_CHARS, '0')
}

/** What is no time at all becomes 0: a record with a wrong duration is worth more than none. */
function toWholeMs(timeMs: number): number {
  const whole = Math.round(timeMs)
  return isCount(whole) ? whole : 0
}

/** Null when the provider's report cannot be true. */
function toCounts(usage: Usage): readonly number[] | null {
  const counts = [usage.inputTokens, usage.outputTokens, usage.cachedInputTokens, usage.reasoningTokens]
  if (usage.cacheWriteTokens !== undefined) counts.push(usage.cacheWriteTokens)
  return counts.every(isCount) ? counts : null
}

function toAttemptMembers({ target, status, afterMs, durationMs }: CallAttempt): readonly unknown[] {
  return [target, status, toWholeMs(afterMs), toWholeMs(durationMs)]
}

function toCallRecord(members: readonly unknown[]): CallRecord | undefined {
  const [version, id, accountId, keyId, gateId, dialect, stream, target, attempts, outcome, ...rest] = members
  const [status, errorKind, startedAt, firstByteMs, durationMs, usage, credential = null, attemptMembers] =
    rest
  if (!isCount(version) || !MEMBERS_AFTER_OUTCOME[version]?.includes(rest.length)) return undefined
  if (!CREDENTIALS.includes(credential)) return undefined
  if (!isString(id) || !isString(accountId) || !isString(keyId) || !isString(gateId)) return undefined
  if (!isString(dialect) || typeof stream !== 'boolean' || !OUTCOMES.includes(outcome)) return undefined
  if (!isCount(attempts) || !isCount(status) || !isCount(startedAt) || !isCount(durationMs)) return undefined
  if (!(target === null || isString(target)) || !(errorKind === null || isString(errorKind))) return undefined
  if (!(firstByteMs === null || isCount(firstByteMs))) return undefined
  const usageRead = usage === null ? null : toUsage(usage, version)
  if (usageRead === undefined) return undefined
  const attemptDetails = attemptMembers === undefined ? undefined : toAttempts(attemptMembers)
  if (attemptMembers !== undefined && attemptDetails === undefined) return undefined
  return {
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
    ...(attemptDetails === undefined ? {} : { attemptDetails }),
  }
}

function toUsage(members: unknown, version: number): Usage | undefined {
  if (!Array.isArray(members) || !members.every(isCount)) return undefined
  if (!COUNTS[version]?.includes(members.length)) return undefined
  const [inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0, written] = members
  const usage = { inputTokens, outputTokens, cachedInputTokens, reasoningTokens }
  return written === undefined ? usage : { ...usage, cacheWriteTokens: written }
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
