/**
 * Which test file belongs to which part of the test run. Every test file belongs to exactly one
 * part.
 */

export type TestPart = 'unit' | 'e2e' | 'browser' | 'live'

/** Tests that start processes and servers. */
const SPAWNING = /^test\/(contract|e2e|chaos|adversary\/process)\//
const CHAOS = /^test\/chaos\//
const BROWSING = /^test\/browser\//
/** Tests with real providers and real keys, which only run on request. */
const LIVE = /^test\/live\//

export function partOf(path: string): TestPart {
  if (LIVE.test(path)) return 'live'
  if (BROWSING.test(path)) return 'browser'
  return SPAWNING.test(path) ? 'e2e' : 'unit'
}

/** Whether the file may run beside at most one other file. */
export function needsRoom(path: string): boolean {
  return CHAOS.test(path)
}

/**
 * Fake timers, randomness, modules, the environment, the working folder, process events and running
 * calls.
 */
const REPLACING = [
  /\b(?:useFakeTimers|setSystemTime)\b/,
  /\bmock\.module\(/,
  /\bspyOn\((?:globalThis|Math|Date|process|console|performance)\b/,
  /\bcallsUnderWay\.begin\(/,
  /\bglobalThis\.\w+ = /,
  /\bprocess\.(?:env\.\w+ = |on\(|once\(|chdir\()/,
  /\bdelete process\.env\b/,
]

/**
 * Whether a test file replaces something that all files of a process share. Such a file gets its
 * own global object and modules.
 */
export function replacesGlobals(text: string): boolean {
  return REPLACING.some((pattern) => pattern.test(text))
}

export function findTestFiles(folder: string): string[] {
  const pattern = new Bun.Glob('{src,scripts,test,web,bench}/**/*.{test,spec}.{ts,tsx}')
  return [...pattern.scanSync({ cwd: folder })].sort()
}
