/**
 * One call as one line of a journal segment, and back. Knows the line's format; must not know
 * files, nor a column.
 *
 * A line is `<CRC32 of the rest, 8 hexadecimal digits> <JSON array>\n`, UTF-8. The array begins
 * with the format's version and then holds the members of CallRecord by position, which makes a
 * line about half as long as an object: which, and from which version on, is in the list of columns
 * (core/call-columns.ts).
 */
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { isCount } from '../core/usage.ts'
import { LINE_VERSION, readLineMembers, toLineMembers, toWholeRecord } from './call-line.ts'

/** The least version that the list knows. Those before are written no more. */
const LISTED_VERSION = 4
/**
 * How many members a line of theirs has, which a node that was upgraded may have left: 2 added the
 * credential; 3 the cache writes, and the attempts where there is something to say of them. 4 put
 * the cost before the attempts.
 */
const PAST_LENGTHS: readonly (readonly number[])[] = [[], [16], [17], [17, 18]]
const PAST_USAGE = 15
const CREDENTIAL = 16
const CACHE_WRITES_VERSION = 3
const CHECKSUM_CHARS = 8
const HEXADECIMAL = new TextEncoder().encode('0123456789abcdef')
const SPACE = 32
const NEWLINE = 10
const QUOTE = 34
const BACKSLASH = 92
/** What a line has beside its content. */
export const LINE_FRAME_BYTES = CHECKSUM_CHARS + 2
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * A line's content, of a record as `toWholeRecord` makes it. Neither an id nor a target can break
 * the line: JSON escapes control characters.
 */
export function toLineContent(call: CallRecord): string {
  return JSON.stringify(toLineMembers(call))
}

/**
 * Writes a line with its newline: a text of the whole line would cost as much as its content.
 * @param into with room for `LINE_FRAME_BYTES` more than the content has
 * @returns where the line ends
 */
export function writeLine(content: string, into: Buffer, at: number): number {
  const from = at + CHECKSUM_CHARS
  const end = from + 1 + into.write(content, from + 1)
  let checksum = Bun.hash.crc32(content)
  for (let digit = from - 1; digit >= at; digit -= 1) {
    into[digit] = HEXADECIMAL[checksum & 15] ?? 0
    checksum >>>= 4
  }
  into[from] = SPACE
  into[end] = NEWLINE
  return end + 1
}

/** The line of any record, as text. */
export function encodeRecordLine(call: CallRecord): string {
  const content = toLineContent(toWholeRecord(call))
  const line = Buffer.alloc(LINE_FRAME_BYTES + Buffer.byteLength(content))
  writeLine(content, line, 0)
  return line.toString()
}

/**
 * Reads a line given without its newline; undefined when it is torn or damaged. `newer`: it is
 * whole, and of a format that only a later version of the gateway can read.
 */
export function decodeRecordLine(line: Uint8Array): CallRecord | 'newer' | undefined {
  const json = line.subarray(CHECKSUM_CHARS + 1)
  if (!hasItsChecksum(line, json)) return undefined
  try {
    return parseContent(decoder.decode(json))
  } catch {
    return undefined
  }
}

function parseContent(content: string): CallRecord | 'newer' | undefined {
  try {
    const members: unknown = JSON.parse(content)
    if (!Array.isArray(members)) return undefined
    return isCount(members[0]) && members[0] > LINE_VERSION ? 'newer' : toCallRecord(members)
  } catch {
    return undefined
  }
}

/** Of a line without its newline: nothing of it was changed since it was written. */
export function hasItsChecksum(
  line: Uint8Array,
  json = line.subarray(CHECKSUM_CHARS + 1),
): boolean {
  return readChecksum(line) === Bun.hash.crc32(json)
}

/**
 * Reads a line of which it is known that it is as it was written: it has not left this process's
 * memory since, or since its checksum was looked at.
 * @param end behind its newline
 * @throws UnreadableLine
 */
export function readOwnLine(lines: Buffer, begin: number, end: number): CallRecord {
  const record = parseContent(lines.toString('utf8', begin + CHECKSUM_CHARS + 1, end - 1))
  if (record === undefined || record === 'newer') throw new UnreadableLine()
  return record
}

/** The id of such a line's call, which is its first text in each version. */
export function idOfOwnLine(lines: Buffer, begin: number, end: number): CallId {
  const from = lines.indexOf(QUOTE, begin) + 1
  const id = lines.toString('utf8', from, lines.indexOf(QUOTE, from))
  return id.includes('\\') ? readOwnLine(lines, begin, end).id : (id as CallId)
}

/** The account of such a line's call, which is its second text in each version. */
export function accountOfOwnLine(lines: Buffer, begin: number, end: number): AccountId {
  const idEnd = lines.indexOf(QUOTE, lines.indexOf(QUOTE, begin) + 1)
  const from = lines.indexOf(QUOTE, idEnd + 1) + 1
  const account = lines.toString('utf8', from, lines.indexOf(QUOTE, from))
  const isPlain = lines[idEnd - 1] !== BACKSLASH && !account.includes('\\')
  return isPlain ? (account as AccountId) : readOwnLine(lines, begin, end).accountId
}

/** Of a line that is as it was written, which the reader of this version does not take. */
export class UnreadableLine extends Error {}

/**
 * Digit by digit: a text of them would cost more than the checksum itself. NaN where a line begins
 * with anything else.
 */
function readChecksum(line: Uint8Array): number {
  let checksum = 0
  for (let index = 0; index < CHECKSUM_CHARS; index += 1) {
    const digit = HEXADECIMAL.indexOf(line[index] ?? 0)
    if (digit < 0) return Number.NaN
    checksum = checksum * 16 + digit
  }
  return line[CHECKSUM_CHARS] === SPACE ? checksum : Number.NaN
}

function toCallRecord(members: readonly unknown[]): CallRecord | undefined {
  const version = members[0]
  if (!isCount(version)) return undefined
  return version < LISTED_VERSION ? readPast(version, members) : readLineMembers(version, members)
}

/** Reads it like a line of the least version that the list knows. */
function readPast(version: number, members: readonly unknown[]): CallRecord | undefined {
  if (!PAST_LENGTHS[version]?.includes(members.length)) return undefined
  const usage = members[PAST_USAGE]
  if (version < CACHE_WRITES_VERSION && Array.isArray(usage) && usage.length > 4) return undefined
  const cost = null
  const [credential = null, ...attempts] = members.slice(CREDENTIAL)
  return readLineMembers(LISTED_VERSION, [
    ...members.slice(0, CREDENTIAL),
    credential,
    cost,
    ...attempts,
  ])
}
