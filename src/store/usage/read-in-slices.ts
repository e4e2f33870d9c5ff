/** Reads a range of time in statements that are short enough for calls to be served in between. */
import type { Kysely } from 'kysely'
import type { LoopTurns } from '../../core/loop-turns.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { DAY_MS } from './usage-columns.ts'
import type { ReadRows, Slice } from './usage-query.ts'

/**
 * Event loop time of a slice in milliseconds. A slower slice halves the number of days; a slice
 * below a third of this limit doubles the number of days.
 */
const SLICE_MS = 0.6
/**
 * Maximum size of a slice from a server, plus a fixed number per row: parsing this many characters
 * blocks the event loop for 0.5 ms.
 */
const SLICE_CHARACTERS = 120_000
const ROW_IN_CHARACTERS = 400
/** A statement of a server has a time limit. A slice that takes longer than this is halved. */
const SERVER_SLICE_MS = 3_000
const LONGEST_SLICE_MS = 64 * DAY_MS

export interface Sliced<Row extends object = object> extends Slice {
  /** The duration that a row covers, and so the shortest slice. */
  readonly leastMs: number
  /** The first slice of a server. Default: the shortest slice. */
  readonly firstMs?: number
  /** The cost of reading a row from a server, in characters. Default: the row's length. */
  readonly charactersOf?: (row: Row) => number
  readonly turns: LoopTurns
}

export async function* readInSlices<Row extends object>(
  database: Kysely<Schema>,
  { fromMs, toMs, leastMs, firstMs = leastMs, charactersOf = lengthOf, turns }: Sliced<Row>,
  read: (slice: Slice) => Promise<readonly Row[]>,
): AsyncGenerator<ReadRows<Row>> {
  const isFile = isSqlite(database)
  let sliceMs = isFile ? leastMs : firstMs
  for (let startMs = fromMs; startMs < toMs; ) {
    const endMs = Math.min(startMs + sliceMs, toMs)
    const beganAt = performance.now()
    let characters = 0
    const rows = await read({ fromMs: startMs, toMs: endMs })
    if (!isFile) for (const row of rows) characters += charactersOf(row)
    const tookMs = performance.now() - beganAt
    const share = isFile
      ? tookMs / SLICE_MS
      : Math.max(characters / SLICE_CHARACTERS, tookMs / SERVER_SLICE_MS)
    if (share > 1) sliceMs = Math.max(leastMs, sliceMs / 2)
    else if (share < 1 / 3) sliceMs = Math.min(LONGEST_SLICE_MS, sliceMs * 2)
    startMs = endMs
    // The loop was free while a server ran the query.
    if (isFile) await turns.next()
    else turns.begin()
    yield { rows, reachedMs: endMs }
  }
}

function lengthOf(row: object): number {
  let length = ROW_IN_CHARACTERS
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}
