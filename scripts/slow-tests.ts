/**
 * The test files that take longest, for a run that begins with them: one that is begun last keeps
 * the whole run waiting. Knows nothing of what is in them.
 */

/** The longest first. The order is all that counts, and it need not be exact. */
export const SLOW_TESTS: readonly string[] = [
  'test/e2e/workers.test.ts',
  'test/e2e/postgres.test.ts',
  'test/e2e/postgres-start.test.ts',
  'test/chaos/revocation.test.ts',
  'test/e2e/nginx.test.ts',
  'test/chaos/outages.test.ts',
  'test/e2e/binary.test.ts',
  'test/chaos/rolling-upgrade.test.ts',
  'test/e2e/users.test.ts',
  'test/e2e/master-key.test.ts',
  'test/e2e/cli.test.ts',
  'test/chaos/kill.test.ts',
  'test/e2e/provider-keys.test.ts',
  'test/e2e/otlp.test.ts',
  'test/e2e/shutdown.test.ts',
  'test/e2e/backup.test.ts',
  'test/e2e/shared-limits.test.ts',
  'test/e2e/draining.test.ts',
  'test/e2e/relay.test.ts',
  'test/chaos/limit.test.ts',
  'test/e2e/quota-kill.test.ts',
  'test/e2e/tour.test.ts',
]

/**
 * What `bun test --timings` reads: milliseconds for each of `files`, because it takes an order from
 * nothing less.
 */
export function toTimings(files: readonly string[]): string {
  const rankOf = (path: string) =>
    SLOW_TESTS.length - (SLOW_TESTS.indexOf(path) + 1 || SLOW_TESTS.length)
  return JSON.stringify({
    version: 1,
    files: Object.fromEntries(files.map((path) => [path, 1 + rankOf(path) * 1000])),
  })
}
