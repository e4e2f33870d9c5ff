/** The program in a few files of JavaScript, for tests that start it hundreds of times. Knows nothing of who starts it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'

const HOUSE = join(import.meta.dir, '..')
/** As far below the repository as the file that finds what is shipped with it: src/core/shipped-files.ts. */
const FOLDER = join(HOUSE, 'dist/program')

/** @returns the path of what Bun runs @throws with what is wrong in the sources */
export async function bundleProgram(): Promise<string> {
  rmSync(FOLDER, { recursive: true, force: true })
  await Bun.build({
    entrypoints: [join(HOUSE, 'src/main.ts')],
    outdir: FOLDER,
    target: 'bun',
    splitting: true,
  })
  return join(FOLDER, 'main.js')
}
