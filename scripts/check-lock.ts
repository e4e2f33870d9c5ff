/**
 * Checks that package-lock.json names every platform's optional packages:
 * `bun scripts/check-lock.ts [--fix]`. npm leaves out those that a registry mirror does not serve,
 * and `npm ci` then refuses the whole lock file.
 */
import { join } from 'node:path'

const LOCK_PATH = join(import.meta.dir, '..', 'package-lock.json')

interface LockedPackage {
  version?: string
  dev?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
}

interface LockFile {
  packages: Record<string, LockedPackage>
}

/**
 * The optional packages that are asked for in an exact version and have no entry: lock-file path to
 * entry.
 */
export function missingOptionalPackages(lock: LockFile): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {}
  for (const parent of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`
      if (path in lock.packages || !/^\d+\.\d+\.\d+\S*$/.test(version)) continue
      missing[path] = { version, ...(parent.dev ? { dev: true } : {}), optional: true }
    }
  }
  return missing
}

/** The same lock file with the missing entries in their places; the root package stays first. */
export function completeLock(lock: LockFile): LockFile {
  const packages = { ...lock.packages, ...missingOptionalPackages(lock) }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...lock, packages: Object.fromEntries(sorted) }
}

if (import.meta.main) {
  const lock = (await Bun.file(LOCK_PATH).json()) as LockFile
  const missing = Object.entries(missingOptionalPackages(lock))
  if (missing.length === 0) {
    console.log(`lock file: ${Object.keys(lock.packages).length} packages, complete`)
  } else if (process.argv.includes('--fix')) {
    await Bun.write(LOCK_PATH, `${JSON.stringify(completeLock(lock), null, 2)}\n`)
    console.log(`lock file: ${missing.length} entries added`)
  } else {
    for (const [path, entry] of missing)
      console.error(`package-lock.json has no ${path} (${entry.version})`)
    console.error('npm ci will refuse this lock file. Cure: bun scripts/check-lock.ts --fix')
    process.exitCode = 1
  }
}
