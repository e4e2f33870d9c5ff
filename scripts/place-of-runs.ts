/**
 * Where the folders of runs are made: in memory, where the machine has plenty of it. A database of
 * Postgres is some thousand files, and a file system on a disk may look long for a place for each.
 * Knows nothing of what runs there.
 */
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const IN_MEMORY = '/dev/shm'
/** Several times what a run was seen to fill. */
const NEEDED_BYTES = 6 * 2 ** 30

/** What is known of this machine. */
export interface Place {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** As in `/proc/self/mounts`. */
  readonly mounts: string
  /** In the file system in memory. */
  readonly freeBytes: number
  /** That programs may still take without swapping. */
  readonly availableBytes: number
}

export function placeOfRuns(place = readPlace()): string {
  const { environment, mounts, freeBytes, availableBytes } = place
  // Somebody has chosen.
  if (environment.TMPDIR) return tmpdir()
  const [, , type, options = ''] = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, path]) => path === IN_MEMORY) ?? ['']
  const allowed = options.split(',')
  const isFit = type === 'tmpfs' && allowed.includes('rw') && !allowed.includes('noexec')
  return isFit && Math.min(freeBytes, availableBytes) >= NEEDED_BYTES ? IN_MEMORY : tmpdir()
}

/** On Linux only; elsewhere nothing is known. */
function readPlace(): Place {
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  const { bavail, bsize } = existsSync(IN_MEMORY) ? statfsSync(IN_MEMORY) : { bavail: 0, bsize: 0 }
  return {
    environment: process.env,
    mounts: read('/proc/self/mounts'),
    freeBytes: bavail * bsize,
    availableBytes:
      1024 * Number(/^MemAvailable: +(\d+) kB$/m.exec(read('/proc/meminfo'))?.[1] ?? 0),
  }
}
