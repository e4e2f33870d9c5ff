/**
 * The program that an image holds and that is installed, as `make binary` makes it: it starts in a
 * third of the time of its sources. Knows nothing of what is measured with it.
 */
import { resolve } from 'node:path'

export const PROGRAM = resolve(import.meta.dir, '../dist/gatehouse')

let isBuilt = false

/**
 * Once in a run, whatever lies there from another one.
 * @throws where it cannot be built
 */
export function buildProgram(): void {
  if (isBuilt) return
  const script = resolve(import.meta.dir, '../scripts/build-binary.ts')
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, script])
  if (exitCode !== 0) throw new Error(`the program could not be built: ${stderr.toString()}`)
  isBuilt = true
}
