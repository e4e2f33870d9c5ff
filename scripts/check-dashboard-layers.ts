/**
 * Checks web/ against the table in dashboard-layers.ts: `bun scripts/check-dashboard-layers.ts`.
 * Separate from check-layers.ts, because layers.mjs cannot express that features must not import
 * each other.
 */
import { join } from 'node:path'
import { dashboardLayerFaults } from './dashboard-layers.ts'

const HOUSE = join(import.meta.dir, '..')
const FEWEST_FILES = 10

const paths = [...new Bun.Glob('web/**/*.{ts,tsx}').scanSync({ cwd: HOUSE })].sort()
const faults: string[] = []
for (const path of paths)
  faults.push(...dashboardLayerFaults(path, await Bun.file(join(HOUSE, path)).text()))
if (paths.length < FEWEST_FILES) faults.push(`only ${paths.length} files of web/ were found`)

for (const fault of faults) console.error(fault)
console.log(`layers of the dashboard: ${paths.length} files read, ${faults.length} faults`)
if (faults.length > 0) process.exitCode = 1
