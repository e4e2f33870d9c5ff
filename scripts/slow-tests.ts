/**
 * The test files that take longest, for a run that begins with them: one that is begun last keeps
 * the whole run waiting. Knows nothing of what is in them.
 */

/** The longest first. The order is all that counts, and it need not be exact. */
export const SLOW_TESTS: readonly string[] = [
  'test/e2e/workers.test.ts',
  'test/browser/charts.test.ts',
  'test/e2e/postgres-start.test.ts',
  'test/e2e/users.test.ts',
  'test/browser/traps.test.ts',
  'test/chaos/rolling-upgrade.test.ts',
  'test/chaos/revocation.test.ts',
  'test/browser/lists.test.ts',
  'test/browser/settings.test.ts',
  'test/browser/overview.test.ts',
  'src/store/usage/usage-batches.test.ts',
  'test/e2e/nginx.test.ts',
  'test/e2e/postgres.test.ts',
  'test/browser/logs.test.ts',
  'test/browser/gates.test.ts',
  'test/browser/playground.test.ts',
  'test/browser/docs.test.ts',
  'test/browser/keys.test.ts',
  'test/browser/owned-models.test.ts',
  'src/store/changes/audit-log.test.ts',
  'src/store/sealed-rows.test.ts',
  'test/e2e/image.test.ts',
  'test/chaos/outages.test.ts',
  'test/chaos/kill.test.ts',
  'src/store/clean-up.test.ts',
  'test/e2e/postgres-kill.test.ts',
  'src/compose/compose-installation.test.ts',
  'test/e2e/relay.test.ts',
  'test/e2e/sessions.test.ts',
  'src/store/usage/usage-backlog.test.ts',
  'src/store/usage/usage-months.test.ts',
  'src/compose/compose-clocks.test.ts',
  'src/compose/compose-caps.test.ts',
  'src/store/database/taking-turns.test.ts',
  'test/adversary/regular-expressions.test.ts',
  'test/e2e/budgets.test.ts',
  'test/e2e/shared-budget-alerts.test.ts',
  'test/e2e/tour.test.ts',
  'test/e2e/master-key.test.ts',
  'test/contract/providers.test.ts',
  'test/adversary/process/cost.test.ts',
  'test/e2e/shared-limits.test.ts',
  'test/e2e/mid-stream-failures.test.ts',
  'test/e2e/master-key-nodes.test.ts',
  'test/e2e/prometheus.test.ts',
  'test/chaos/limit.test.ts',
  'test/e2e/cli.test.ts',
  'test/e2e/audit-log.test.ts',
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
