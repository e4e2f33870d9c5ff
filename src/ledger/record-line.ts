/**
 * Encodes a call as a line of a journal segment, and decodes a line.
 * A line is `<CRC32 of the rest, 8 hexadecimal digits> <JSON array>
 * `, UTF-8. The array has the format's version and then the call's members by position
 * (core/call-columns.ts), which is about half as long as an object.
 */
import type { CallRecord } from '../core/call.ts'
import type { AccountId, CallId } from '../core/ids.ts'
import { isCount } from '../core/usage.ts'
import {
  LINE_VERSION,
  MOST_LENGTH,
  readLineMembers,
  toLineMembers,
  toWholeRecord,
} from './call-line.ts'

/** An undamaged line that only another version of the gateway reads. */
export type OtherVersion = 'newer' | 'older'

const CHECKSUM_CHARS = 8
const HEXADECIMAL = new TextEncoder().encode('0123456789abcdef')
const SPACE = 32
const NEWLINE = 10
const QUOTE = 34
const BACKSLASH = 92
export const LINE_FRAME_BYTES = CHECKSUM_CHARS + 2
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * A line's content, from a record of `toWholeRecord`. JSON escapes control characters, so ids and
 * targets cannot break the line.
 */
export function toLineContent(call: CallRecord): string {
  return JSON.stringify(toLineMembers(call))
}

/**
 * Writes a line with its newline. Building the whole line as text would cost as much as its
 * content.
 * @param into needs room for `LINE_FRAME_BYTES` more than the content
 * @returns the end of the line
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

export function encodeRecordLine(call: CallRecord): string {
  const content = toLineContent(toWholeRecord(call))
  const line = Buffer.alloc(LINE_FRAME_BYTES + Buffer.byteLength(content))
  writeLine(content, line, 0)
  return line.toString()
}

export function decodeRecordLine(line: Uint8Array): CallRecord | OtherVersion | undefined {
  const json = line.subarray(CHECKSUM_CHARS + 1)
  if (!hasItsChecksum(line, json)) return undefined
  try {
    return parseContent(decoder.decode(json))
  } catch {
    return undefined
  }
}

function parseContent(content: string): CallRecord | OtherVersion | undefined {
  try {
    const members: unknown = JSON.parse(content)
    if (!Array.isArray(members)) return undefined
    return versionOf(members) ?? readLineMembers(members)
  } catch {
    return undefined
  }
}

export function hasItsChecksum(
  line: Uint8Array,
  json = line.subarray(CHECKSUM_CHARS + 1),
): boolean {
  return readChecksum(line) === Bun.hash.crc32(json)
}

export function readOwnLine(lines: Buffer, begin: number, end: number): CallRecord {
  const record = parseContent(lines.toString('utf8', begin + CHECKSUM_CHARS + 1, end - 1))
  if (typeof record !== 'object') throw new UnreadableLine()
  return record
}

/** The call id of an undamaged line: the first string in each version. */
export function idOfOwnLine(lines: Buffer, begin: number, end: number): CallId {
  const from = lines.indexOf(QUOTE, begin) + 1
  const id = lines.toString('utf8', from, lines.indexOf(QUOTE, from))
  return id.includes('\\') ? readOwnLine(lines, begin, end).id : (id as CallId)
}

/** The account of an undamaged line: the second string in each version. */
export function accountOfOwnLine(lines: Buffer, begin: number, end: number): AccountId {
  const idEnd = lines.indexOf(QUOTE, lines.indexOf(QUOTE, begin) + 1)
  const from = lines.indexOf(QUOTE, idEnd + 1) + 1
  const account = lines.toString('utf8', from, lines.indexOf(QUOTE, from))
  const isPlain = lines[idEnd - 1] !== BACKSLASH && !account.includes('\\')
  return isPlain ? (account as AccountId) : readOwnLine(lines, begin, end).accountId
}

export class UnreadableLine extends Error {}

/**
 * Digit by digit, because creating a string would cost more than the checksum itself. NaN for an
 * invalid digit.
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

function versionOf(members: readonly unknown[]): OtherVersion | undefined {
  const version = members[0]
  if (!isCount(version) || version === 0) return undefined
  if (version > LINE_VERSION || members.length > MOST_LENGTH) return 'newer'
  return version < LINE_VERSION ? 'older' : undefined
}
