/** Which test file belongs to which part of the test run. Every test file belongs to exactly one. */

export type TestPart = 'unit' | 'e2e' | 'live'

/** What starts processes, servers or browsers; it runs by itself, so that nothing competes with it. */
const SPAWNING = /^test\/(contract|e2e|browser|chaos)\//
/** Against real providers, with real keys: only when asked for. */
const LIVE = /^test\/live\//

export function partOf(path: string): TestPart {
  if (LIVE.test(path)) return 'live'
  return SPAWNING.test(path) ? 'e2e' : 'unit'
}

/** Paths from `folder`, sorted. */
export function findTestFiles(folder: string): string[] {
  const pattern = new Bun.Glob('{src,scripts,test,web,bench}/**/*.{test,spec}.{ts,tsx}')
  return [...pattern.scanSync({ cwd: folder })].sort()
}
