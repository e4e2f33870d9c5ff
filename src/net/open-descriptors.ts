/** Counts this process's open file descriptors and reads their limit, on Linux only. */
import { readdirSync, readFileSync, statSync } from 'node:fs'

export interface DescriptorFigures {
  readonly most: number
  count(): number
}

const FOLDER = '/proc/self/fd'
/**
 * Tolerance, because some file descriptors may have been closed between a failure and this check.
 */
const NEARLY = 4

export function ownDescriptors(): DescriptorFigures | undefined {
  const most = readLimit()
  return most === undefined ? undefined : { most, count: () => countDescriptors(most) }
}

/**
 * True when a connection may have failed for lack of file descriptors: the runtime reports
 * `ECONNREFUSED` then too.
 */
export function areUsedUp({ most, count }: DescriptorFigures): boolean {
  return count() >= most - NEARLY
}

/**
 * The soft RLIMIT_NOFILE.
 * @returns undefined when there is no limit, or on another system
 */
function readLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

/** Linux 6.2 and newer report the number as the folder's size; older versions need a count. */
function countDescriptors(most: number): number {
  const { size } = statSync(FOLDER)
  if (size > 0) return size
  try {
    return readdirSync(FOLDER).length
  } catch (thrown) {
    // Reading the folder itself needs a file descriptor, so this error means that all descriptors
    // are in use.
    if ((thrown as { readonly code?: unknown }).code === 'EMFILE') return most
    throw thrown
  }
}
