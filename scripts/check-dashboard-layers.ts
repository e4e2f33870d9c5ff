/**
 * Checks that web/ keeps to the table in dashboard-layers.ts:
 * `bun scripts/check-dashboard-layers.ts`. A check of its own because features stand alone, which
 * layers.mjs has no word for.
 */
import { join } from 'node:path'
import { dashboardLayerFaults } from './dashboard-layers.ts'

const HOUSE = join(import.meta.dir, '..')
/** Fewer than this means that the folder is wrong, not that the code is clean. */
const FEWEST_FILES = 10

const paths = [...new Bun.Glob('web/**/*.{ts,tsx}').scanSync({ cwd: HOUSE })].sort()
const faults: string[] = []
for (const path of paths)
  faults.push(...dashboardLayerFaults(path, await Bun.file(join(HOUSE, path)).text()))
if (paths.length < FEWEST_FILES) faults.push(`only ${paths.length} files of web/ were found`)

for (const fault of faults) console.error(fault)
console.log(`layers of the dashboard: ${paths.length} files read, ${faults.length} faults`)
if (faults.length > 0) process.exitCode = 1
