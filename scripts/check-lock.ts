/**
 * Checks that package-lock.json names every platform's optional packages, and the hash of each
 * package: `bun scripts/check-lock.ts [--fix]`. npm omits packages that a registry mirror lacks,
 * and `npm ci` then refuses the whole lock file.
 */
import { join } from 'node:path'

const LOCK_PATH = join(import.meta.dir, '..', 'package-lock.json')

interface LockedPackage {
  version?: string
  integrity?: string
  link?: boolean
  dev?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
}

interface LockFile {
  packages: Record<string, LockedPackage>
}

/** Optional packages with an exact version that have no entry: lock-file path to entry. */
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

export function completeLock(lock: LockFile): LockFile {
  const packages = { ...lock.packages, ...missingOptionalPackages(lock) }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...lock, packages: Object.fromEntries(sorted) }
}

export function packagesWithoutHash(lock: LockFile): string[] {
  return Object.entries(lock.packages)
    .filter(([path, { integrity, link }]) => path !== '' && link !== true && !integrity)
    .map(([path]) => path)
}

/** The members that `npm install` writes on the platform itself. */
const DESCRIBED = ['cpu', 'libc', 'license', 'os', 'engines']

/** @param packed npm's description of the package: `npm view --json` */
export function describePackage(
  entry: LockedPackage,
  packed: Readonly<Record<string, unknown>>,
): LockedPackage {
  const { version, ...rest } = entry
  const integrity = packed['dist.integrity']
  if (typeof integrity !== 'string') throw new Error('npm names no hash of it')
  const described = DESCRIBED.flatMap((name) => {
    const value = packed[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...(version ? { version } : {}), integrity, ...rest, ...Object.fromEntries(described) }
}

async function withHashes(lock: LockFile): Promise<LockFile> {
  const packages = { ...lock.packages }
  for (const path of packagesWithoutHash(lock)) {
    const entry = packages[path] ?? {}
    const name = `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${entry.version}`
    const view = Bun.spawn(['npm', 'view', name, 'dist.integrity', ...DESCRIBED, '--json'])
    packages[path] = describePackage(entry, JSON.parse(await new Response(view.stdout).text()))
  }
  return { ...lock, packages }
}

if (import.meta.main) {
  const lock = (await Bun.file(LOCK_PATH).json()) as LockFile
  const missing = Object.entries(missingOptionalPackages(lock))
  const unhashed = packagesWithoutHash(lock)
  if (missing.length === 0 && unhashed.length === 0) {
    console.log(`lock file: ${Object.keys(lock.packages).length} packages, complete`)
  } else if (process.argv.includes('--fix')) {
    const fixed = await withHashes(completeLock(lock))
    await Bun.write(LOCK_PATH, `${JSON.stringify(fixed, null, 2)}\n`)
    console.log(`lock file: ${missing.length} entries added, ${unhashed.length} completed`)
  } else {
    for (const [path, entry] of missing)
      console.error(`package-lock.json has no ${path} (${entry.version})`)
    for (const path of unhashed) console.error(`package-lock.json has no integrity of ${path}`)
    console.error('The lock file is incomplete. Cure: bun scripts/check-lock.ts --fix')
    process.exitCode = 1
  }
}
