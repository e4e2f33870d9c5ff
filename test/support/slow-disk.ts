/**
 * A file system of a test's own whose writes stand still again and again: frozen by the kernel
 * (`fsfreeze`), as those of a busy network volume are. Needs root, loop devices and ext4. Knows
 * nothing of what is on it.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { within } from './poll-until.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export interface SlowDisk {
  /** Writes stand still for `stillMs`, and then go on for `goingMs`, until it is ended. */
  stall(stillMs: number, goingMs: number): { end(): Promise<void> }
  /** Nothing may have a file open there any more. */
  remove(): Promise<void>
}

export function canSlowDisk(): boolean {
  return (
    process.getuid?.() === 0 &&
    ['fsfreeze', 'mkfs.ext4', 'mount'].every((name) => Bun.which(name) !== null)
  )
}

/**
 * Over what is in `folder`, which is seen again once it is removed.
 * @throws where the system does not let a disk be made
 */
export async function mountSlowDisk(folder: string): Promise<SlowDisk> {
  const own = await createTemporaryFolder()
  const image = join(own.path, 'disk.img')
  const run = (name: string, ...parameters: string[]) => {
    const { status, stderr } = spawnSync(name, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
    if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
  }
  try {
    run('truncate', '-s', '64M', image)
    run('mkfs.ext4', '-q', image)
    run('mount', '-o', 'loop', image, folder)
  } catch (error) {
    await own.remove()
    throw error
  }
  return {
    stall: (stillMs, goingMs) => {
      // A process of its own that ends with this one: whoever writes to a frozen file system cannot
      // even be killed.
      const script = `
        trap 'fsfreeze -u "$1" 2> /dev/null; exit' TERM
        while kill -0 ${process.pid} 2> /dev/null; do
          fsfreeze -f "$1"; sleep $2; fsfreeze -u "$1"; sleep $3
        done`
      const child = Bun.spawn(
        ['sh', '-c', script, 'stall', folder, String(stillMs / 1000), String(goingMs / 1000)],
        { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
      )
      return {
        end: async () => {
          child.kill('SIGTERM')
          await within(10_000, 'end of the stalls', child.exited)
          spawnSync('fsfreeze', ['-u', folder], { stdio: 'ignore' })
        },
      }
    },
    remove: async () => {
      run('umount', folder)
      await own.remove()
    },
  }
}
