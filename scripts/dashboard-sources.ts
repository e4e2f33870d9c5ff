/**
 * What the dashboard's bundle is made of, as one text that changes with any of it. Builds nothing.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One glob each: Bun finds nothing for alternatives that hold `**`. */
const SOURCES = [
  'web/**/*',
  'src/contract/**/*.ts',
  'package-lock.json',
  'scripts/build-dashboard.ts',
]

/**
 * Paths from `folder`, sorted.
 * @throws when a part of it is missing: nothing found must not pass for nothing changed
 */
export function findDashboardSources(folder: string): string[] {
  return SOURCES.flatMap((pattern) => {
    const found = [...new Bun.Glob(pattern).scanSync({ cwd: folder })]
    if (found.length === 0) throw new Error(`there is no ${pattern} in ${folder}`)
    return found
  }).sort()
}

export function hashDashboardSources(folder: string): string {
  const hash = createHash('sha256')
  for (const path of findDashboardSources(folder))
    hash.update(`${path}\0`).update(readFileSync(join(folder, path)))
  return hash.digest('hex')
}
