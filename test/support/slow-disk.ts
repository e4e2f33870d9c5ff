/**
 * A file system whose writes stop again and again (`fsfreeze`), like those of a busy network
 * volume. Needs root, loop devices and ext4.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { within } from './poll-until.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export interface SlowDisk {
  stall(stillMs: number, goingMs: number): { end(): Promise<void> }
  remove(): Promise<void>
}

export function canSlowDisk(): boolean {
  return (
    process.getuid?.() === 0 &&
    ['fsfreeze', 'mkfs.ext4', 'mount'].every((name) => Bun.which(name) !== null)
  )
}

/**
 * Mounted over `folder`, whose contents return after removal.
 * @throws where the system cannot create a disk
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
      // A separate process that ends with this process, because a writer to a frozen file system
      // cannot even be killed.
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
