import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A glob per line, because Bun finds nothing for alternatives that contain `**`. */
const SOURCES = [
  'web/**/*',
  'src/contract/**/*.ts',
  'package-lock.json',
  'scripts/build-dashboard.ts',
]

/**
 * Paths from `folder`, sorted.
 * @throws Error when a part is missing, because an empty list must not look like an unchanged list
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
