/**
 * How many handles this process has open, and how many it may. Knows files of Linux, and not what
 * the handles are for.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'

export interface HandleFigures {
  readonly most: number
  /** How many are open now. */
  count(): number
}

const FOLDER = '/proc/self/fd'
/** Some may have been closed between a failure and the look at its cause. */
const NEARLY = 4

/** @returns undefined where the system does not tell them */
export function ownHandles(): HandleFigures | undefined {
  const most = readLimit()
  return most === undefined ? undefined : { most, count: () => countHandles(most) }
}

/**
 * Whether a connection can have failed for want of a handle: the runtime says `ECONNREFUSED` then
 * too.
 */
export function areUsedUp({ most, count }: HandleFigures): boolean {
  return count() >= most - NEARLY
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
function countHandles(most: number): number {
  const { size } = statSync(FOLDER)
  if (size > 0) return size
  try {
    return readdirSync(FOLDER).length
  } catch (thrown) {
    // To look into the folder takes a handle.
    if ((thrown as { readonly code?: unknown }).code === 'EMFILE') return most
    throw thrown
  }
}
