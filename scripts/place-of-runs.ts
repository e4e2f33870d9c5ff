/**
 * Chooses where the folders of test runs are created: in memory if the machine has enough. A
 * Postgres database has a thousand files, which are slow to create on some disks.
 */
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const IN_MEMORY = '/dev/shm'
/** Several times the space that a run needs. */
const NEEDED_BYTES = 6 * 2 ** 30

export interface Place {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly mounts: string
  readonly freeBytes: number
  readonly availableBytes: number
}

export function placeOfRuns(place = readPlace()): string {
  const { environment, mounts, freeBytes, availableBytes } = place
  if (environment.TMPDIR) return tmpdir()
  const [, , type, options = ''] = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, path]) => path === IN_MEMORY) ?? ['']
  const allowed = options.split(',')
  const isFit = type === 'tmpfs' && allowed.includes('rw') && !allowed.includes('noexec')
  return isFit && Math.min(freeBytes, availableBytes) >= NEEDED_BYTES ? IN_MEMORY : tmpdir()
}

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
