/**
 * Says whether the process is about to run out of handles, for connections take one each and a
 * server without any can accept nothing, ask nobody and write nothing down. Knows files of Linux,
 * and no connection.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { Timekeeper } from '../core/clock.ts'

/** From this part of them on, idle connections are not kept; those of clients may be as many. */
const CROWDED_AT = 0.8
const LOOK_EVERY_MS = 1_000

export interface HandleFigures {
  readonly most: number
  /** How many are open now. */
  count(): number
}

export interface HandleRoom {
  readonly isCrowded: boolean
  /** The rest of the handles is for upstreams and files. */
  readonly mostConnections: number
  /** Looks no more. */
  close(): void
}

export interface HandleRoomOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  /** Called when it becomes crowded, and when there is room again. */
  readonly onChange: (
    isCrowded: boolean,
    figures: { readonly open: number; readonly most: number },
  ) => void
  /** Absent: this process's. */
  readonly figures?: HandleFigures | undefined
}

export function watchHandles({
  clock,
  onChange,
  figures = ownHandles(),
}: HandleRoomOptions): HandleRoom {
  let isCrowded = false
  // Elsewhere than on Linux nobody can tell.
  if (figures === undefined)
    return { isCrowded, mostConnections: Number.POSITIVE_INFINITY, close: () => {} }
  const { most } = figures
  const close = clock.every(LOOK_EVERY_MS, () => {
    const open = figures.count()
    if (open >= most * CROWDED_AT === isCrowded) return
    isCrowded = !isCrowded
    onChange(isCrowded, { open, most })
  })
  return {
    get isCrowded() {
      return isCrowded
    },
    mostConnections: Math.floor(most * CROWDED_AT),
    close,
  }
}

const FOLDER = '/proc/self/fd'

/** @returns undefined where the system does not tell them */
export function ownHandles(): HandleFigures | undefined {
  const most = readLimit()
  return most === undefined ? undefined : { most, count: countHandles }
}

/** RLIMIT_NOFILE, the soft one. @returns undefined where there is none, or no such system */
function readLimit(): number | undefined {
  try {
    const said = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return said === undefined ? undefined : Number(said)
  } catch {
    return undefined
  }
}

/** Linux 6.2 and newer say it as the folder's size; before that they have to be counted. */
function countHandles(): number {
  const { size } = statSync(FOLDER)
  return size > 0 ? size : readdirSync(FOLDER).length
}
