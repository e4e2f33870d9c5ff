/**
 * One call as one line of a journal segment, and back. Knows the line's format; must not know files.
 *
 * A line is `<CRC32 of the rest, 8 hexadecimal digits> <JSON array>\n`, UTF-8. The array begins with the format's
 * version and then holds the members of CallRecord by position, which makes a line about half as long as an object.
 */
import type { CallCredential, CallOutcome, CallRecord } from '../core/call.ts'
import type { ErrorKind } from '../core/errors.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import type { Usage } from '../core/usage.ts'

/** 2 added the credential. */
const VERSION = 2
/** Of version 1, what a node that was upgraded may have left. */
const MEMBERS_AFTER_OUTCOME: readonly (number | undefined)[] = [undefined, 6, 7]
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
  const json = JSON.stringify([
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
  ])
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
  return counts.every(isCount) ? counts : null
}

function toCallRecord(members: readonly unknown[]): CallRecord | undefined {
  const [version, id, accountId, keyId, gateId, dialect, stream, target, attempts, outcome, ...rest] = members
  const [status, errorKind, startedAt, firstByteMs, durationMs, usage, credential = null] = rest
  if (!isCount(version) || rest.length !== MEMBERS_AFTER_OUTCOME[version]) return undefined
  if (!CREDENTIALS.includes(credential)) return undefined
  if (!isString(id) || !isString(accountId) || !isString(keyId) || !isString(gateId)) return undefined
  if (!isString(dialect) || typeof stream !== 'boolean' || !OUTCOMES.includes(outcome)) return undefined
  if (!isCount(attempts) || !isCount(status) || !isCount(startedAt) || !isCount(durationMs)) return undefined
  if (!(target === null || isString(target)) || !(errorKind === null || isString(errorKind))) return undefined
  if (!(firstByteMs === null || isCount(firstByteMs))) return undefined
  const usageRead = usage === null ? null : toUsage(usage)
  if (usageRead === undefined) return undefined
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
  }
}

function toUsage(members: unknown): Usage | undefined {
  if (!Array.isArray(members) || members.length !== 4 || !members.every(isCount)) return undefined
  const [inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0] = members
  return { inputTokens, outputTokens, cachedInputTokens, reasoningTokens }
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
