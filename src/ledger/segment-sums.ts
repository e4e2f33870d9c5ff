/**
 * The usage of the calls of a closed segment, in a small file beside it, so that a start after a
 * long outage of the store need not read every call. A file that is absent, torn or of another
 * segment is none. Must not know the store, nor who asks.
 *
 * Lines of JSON: whose sums they are, then some sums a line, then the CRC32 of all that is before.
 * Sums of a segment hold for good: nothing is appended to one that is closed.
 */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallCredential } from '../core/call.ts'
import type { AccountId, CallId, GateId, KeyId } from '../core/ids.ts'
import { decodeRecordLine } from './record-line.ts'
import type { ClosedSegment } from './segment-file.ts'
import { SegmentReader } from './segment-reader.ts'
import { type HourSum, HourSums } from './unshipped-sums.ts'

/** 2 has billionths of a US dollar. A file of another version is ignored. */
const VERSION = 2
const SUFFIX = '.sums'
/** Written or read in some tenth of a millisecond of the event loop. */
const SUMS_PER_LINE = 50
/**
 * Calls, spread over the segment, of which the store is asked: one that it has says that the
 * segment was shipped, or begun.
 */
const ASKED_OF_A_SEGMENT = 8
/** A line at the end of a segment that is longer than this is not looked for. */
const MAX_LINE_BYTES = 16 * 1024
const NEWLINE = 10

export interface SegmentSums {
  /** The first call of the segment, the last one, and some between. */
  readonly ids: readonly CallId[]
  readonly sums: readonly HourSum[]
}

export function sumsPathOf(segmentPath: string): string {
  return `${segmentPath}${SUFFIX}`
}

/** Never throws: one that stays is of no segment any more, and is none. */
export function removeSums(segmentPath: string): void {
  try {
    rmSync(sumsPathOf(segmentPath), { force: true })
  } catch {
    // A reader looks whose it is.
  }
}

/**
 * Removes those whose segments an earlier version has shipped, and what was not written to its end.
 * Never throws.
 */
export function removeStraySums(folder: string): void {
  try {
    const names = new Set(readdirSync(folder))
    for (const name of names) {
      const isSums = name.endsWith(SUFFIX) && !names.has(name.slice(0, -SUFFIX.length))
      if (isSums || name.endsWith(`${SUFFIX}.new`)) rmSync(join(folder, name), { force: true })
    }
  } catch {
    // A folder that cannot be read, or written: the journal finds out and tells.
  }
}

/**
 * Reads a whole segment.
 * @param nextId the first call of the segment after it. A batch whose write failed half-way stands
 * in both.
 * @returns undefined where each of its calls has to be looked at: some line is not a call, a call
 * comes twice or has no cost yet, or there is none
 * @throws the file system's error
 */
export async function sumSegment(path: string, nextId?: CallId): Promise<SegmentSums | undefined> {
  const reader = new SegmentReader(path)
  const ids = new Set<CallId>()
  const sums = new HourSums()
  let records = 0
  for await (const part of reader.records()) {
    for (const record of part) {
      // Its counting prices it, with the prices of that time.
      if ((record.cost === undefined && record.usage !== null) || record.id === nextId)
        return undefined
      ids.add(record.id)
      sums.add(record)
      records += 1
    }
  }
  const { damagedLines, newerLines } = reader.damage
  if (damagedLines > 0 || newerLines > 0 || records === 0 || ids.size < records) return undefined
  return { ids: someOf([...ids]), sums: sums.all() }
}

/**
 * @returns false where the segment is not, or not any more, as it was added up: nothing is written
 * then.
 */
export async function saveSums(
  segment: ClosedSegment,
  found: SegmentSums,
  isWanted: () => boolean,
): Promise<boolean> {
  const text = await encode(segment, found)
  // In one turn with the looking: a segment that is shipped takes its sums with it.
  if (!isWanted() || statSync(segment.path, { throwIfNoEntry: false })?.size !== segment.bytes)
    return false
  const path = sumsPathOf(segment.path)
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return true
  } catch {
    // A disk that is full has no room for what only saves time.
    rmSync(`${path}.new`, { force: true })
    return false
  }
}

/** Undefined where there are none of this very segment. */
export async function loadSums(segment: ClosedSegment): Promise<SegmentSums | undefined> {
  try {
    const found = await decode(segment, await readFile(sumsPathOf(segment.path)))
    if (found === undefined) return undefined
    const { first, last } = await readEnds(segment)
    const isOfIt = first === found.ids[0] && last === found.ids.at(-1)
    return isOfIt && statSync(segment.path).size === segment.bytes ? found : undefined
  } catch {
    // The reading of the segment itself finds out what became of it.
    return undefined
  }
}

/** Undefined where the segment does not begin with one. @throws the file system's error */
export async function firstCallOf(segment: ClosedSegment): Promise<CallId | undefined> {
  return (await readEnds(segment)).first
}

function someOf(ids: readonly CallId[]): readonly CallId[] {
  if (ids.length <= ASKED_OF_A_SEGMENT) return ids
  const step = (ids.length - 1) / (ASKED_OF_A_SEGMENT - 1)
  return Array.from(
    { length: ASKED_OF_A_SEGMENT },
    (_, index) => ids[Math.round(index * step)],
  ).filter((id) => id !== undefined)
}

async function encode({ bytes }: ClosedSegment, { ids, sums }: SegmentSums): Promise<string> {
  const lines = [JSON.stringify([VERSION, bytes, sums.length, ids])]
  for (let start = 0; start < sums.length; start += SUMS_PER_LINE) {
    lines.push(JSON.stringify(sums.slice(start, start + SUMS_PER_LINE).map(toMembers)))
    await nextTurn()
  }
  const text = `${lines.join('\n')}\n`
  return `${text}${Bun.hash.crc32(text)}\n`
}

async function decode({ bytes }: ClosedSegment, file: Buffer): Promise<SegmentSums | undefined> {
  const end = file.lastIndexOf(NEWLINE, -2) + 1
  if (Number(file.toString('latin1', end)) !== Bun.hash.crc32(file.subarray(0, end)))
    return undefined
  const [head = '', ...lines] = file.toString('utf8', 0, end - 1).split('\n')
  const [version, bytesThen, count, ids] = JSON.parse(head) as [
    unknown,
    unknown,
    unknown,
    readonly CallId[],
  ]
  if (version !== VERSION || bytesThen !== bytes) return undefined
  const sums: HourSum[] = []
  for (const line of lines) {
    for (const members of JSON.parse(line) as readonly SumMembers[]) sums.push(toHourSum(members))
    await nextTurn()
  }
  return sums.length === count ? { ids, sums } : undefined
}

type SumMembers = [
  AccountId,
  KeyId,
  GateId,
  target: string | null,
  CallCredential | null,
  firstMs: number,
  lastMs: number,
  tokens: number,
  nanoUsd: number,
  unpricedCalls: number,
]

function toMembers({ sum, firstMs, lastMs }: HourSum): SumMembers {
  const { accountId, keyId, gateId, target, credential, tokens, nanoUsd, unpricedCalls } = sum
  return [
    accountId,
    keyId,
    gateId,
    target,
    credential,
    firstMs,
    lastMs,
    tokens,
    nanoUsd,
    unpricedCalls,
  ]
}

function toHourSum(members: SumMembers): HourSum {
  const [
    accountId,
    keyId,
    gateId,
    target,
    credential,
    firstMs,
    lastMs,
    tokens,
    nanoUsd,
    unpricedCalls,
  ] = members
  const sum = { accountId, keyId, gateId, target, credential, tokens, nanoUsd, unpricedCalls }
  return { sum, firstMs, lastMs }
}

/**
 * The calls of the first line and of the last, where the segment is as long as it was.
 * @throws the file system's error
 */
async function readEnds({ path, bytes }: ClosedSegment): Promise<Ends> {
  const file = await open(path, 'r')
  try {
    const begin = await readAt(file, 0)
    if (bytes <= MAX_LINE_BYTES) return { first: firstIn(begin), last: lastIn(begin) }
    const end = await readAt(file, bytes - MAX_LINE_BYTES)
    return { first: firstIn(begin), last: lastIn(end) }
  } finally {
    await file.close()
  }
}

interface Ends {
  readonly first: CallId | undefined
  readonly last: CallId | undefined
}

async function readAt(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(
    Buffer.allocUnsafe(MAX_LINE_BYTES),
    0,
    MAX_LINE_BYTES,
    position,
  )
  return buffer.subarray(0, bytesRead)
}

/** A segment begins with an empty line. */
function firstIn(bytes: Buffer): CallId | undefined {
  const start = bytes.findIndex((byte) => byte !== NEWLINE)
  const end = start < 0 ? -1 : bytes.indexOf(NEWLINE, start)
  return end < 0 ? undefined : idOf(bytes.subarray(start, end))
}

/** The last line ends with a newline. */
function lastIn(bytes: Buffer): CallId | undefined {
  const end = bytes.lastIndexOf(NEWLINE)
  return end < 1 ? undefined : idOf(bytes.subarray(bytes.lastIndexOf(NEWLINE, end - 1) + 1, end))
}

function idOf(line: Buffer): CallId | undefined {
  const record = decodeRecordLine(line)
  return record === undefined || record === 'newer' ? undefined : record.id
}
