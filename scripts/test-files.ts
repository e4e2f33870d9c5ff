/**
 * Which test file belongs to which part of the test run. Every test file belongs to exactly one.
 */

export type TestPart = 'unit' | 'e2e' | 'browser' | 'live'

/** What starts processes and servers. */
const SPAWNING = /^test\/(contract|e2e|chaos|adversary\/process)\//
/** Kills, stops and floods three nodes at a time. */
const CHAOS = /^test\/chaos\//
/** What drives a browser: it waits more than it works. */
const BROWSING = /^test\/browser\//
/** Against real providers, with real keys: only when asked for. */
const LIVE = /^test\/live\//

export function partOf(path: string): TestPart {
  if (LIVE.test(path)) return 'live'
  if (BROWSING.test(path)) return 'browser'
  return SPAWNING.test(path) ? 'e2e' : 'unit'
}

/**
 * Whether it would starve, and be starved by, more than one other beside it. Each must hold on a
 * machine that is busy all the same.
 */
export function needsRoom(path: string): boolean {
  return CHAOS.test(path)
}

/**
 * Timers, randomness, modules, the environment, the folder, a process's own events and calls under
 * way.
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
 * Whether a test file puts something of its own in the place of what every file of a process has.
 * Such a file gets a global object and modules of its own; all others share theirs.
 */
export function replacesGlobals(text: string): boolean {
  return REPLACING.some((pattern) => pattern.test(text))
}

/** Paths from `folder`, sorted. */
export function findTestFiles(folder: string): string[] {
  const pattern = new Bun.Glob('{src,scripts,test,web,bench}/**/*.{test,spec}.{ts,tsx}')
  return [...pattern.scanSync({ cwd: folder })].sort()
}
