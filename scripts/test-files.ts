/** Which test file belongs to which part of the test run. Every test file belongs to exactly one. */

export type TestPart = 'unit' | 'e2e' | 'browser' | 'live'

/** What starts processes and servers. */
const SPAWNING = /^test\/(contract|e2e|chaos)\//
/** Kills, stops and floods what it starts, for longer than anything beside it could bear. */
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
 * The tests under test/e2e and test/contract beside which no other test may run, each with the reason; test/chaos is such a test
 * without being named. Everything else must hold on a machine that is busy with another test.
 */
export const ALONE: Readonly<Record<string, string>> = {
  'test/e2e/backup.test.ts': 'clients as fast as they can while copies are made',
  'test/e2e/deadlines.test.ts': 'waits of 100 ms to 1.5 s follow each other in a fixed order',
  'test/e2e/full-disk.test.ts': 'mounts a disk and fills it',
  'test/e2e/kill.test.ts': 'twelve clients as fast as they can, twenty times',
  'test/e2e/nginx.test.ts': 'clients as fast as they can while nodes are replaced',
  'test/e2e/postgres-kill.test.ts': 'eight clients as fast as they can',
  'test/e2e/quota-kill.test.ts': 'clients as fast as they can; counts what was under way at the kill',
  'test/e2e/relay.test.ts': 'measures memory, and the time from a client leaving to the end upstream',
  'test/e2e/shutdown.test.ts': 'measures how long the end takes',
}

export function isAlone(path: string): boolean {
  return CHAOS.test(path) || path in ALONE
}

/** Paths from `folder`, sorted. */
export function findTestFiles(folder: string): string[] {
  const pattern = new Bun.Glob('{src,scripts,test,web,bench}/**/*.{test,spec}.{ts,tsx}')
  return [...pattern.scanSync({ cwd: folder })].sort()
}
