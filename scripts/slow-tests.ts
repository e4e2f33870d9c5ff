/**
 * The test files that take longest, for a run that begins with them: one that is begun last keeps
 * the whole run waiting. Knows nothing of what is in them.
 */

/** The longest first. The order is all that counts, and it need not be exact. */
export const SLOW_TESTS: readonly string[] = [
  'test/browser/traps.test.ts',
  'test/chaos/rolling-upgrade.test.ts',
  'test/browser/charts.test.ts',
  'test/browser/lists.test.ts',
  'test/browser/overview.test.ts',
  'test/chaos/outages.test.ts',
  'test/e2e/relay.test.ts',
  'test/browser/logs.test.ts',
  'test/chaos/revocation.test.ts',
  'test/e2e/if-match.test.ts',
  'test/browser/gates.test.ts',
  'test/e2e/malformed-requests.test.ts',
  'test/browser/settings.test.ts',
  'test/chaos/kill.test.ts',
  'test/browser/playground.test.ts',
  'test/chaos/limit.test.ts',
  'test/e2e/workers.test.ts',
  'test/e2e/config-in-git.test.ts',
  'src/store/usage/usage-months.test.ts',
  'test/e2e/users.test.ts',
  'test/adversary/regular-expressions.test.ts',
  'test/e2e/cli.test.ts',
  'test/e2e/audit-log.test.ts',
  'test/browser/docs.test.ts',
  'test/browser/owned-models.test.ts',
  'test/e2e/budgets.test.ts',
  'test/e2e/nginx.test.ts',
  'test/e2e/isolation.test.ts',
  'src/store/clean-up.test.ts',
  'test/e2e/postgres-start.test.ts',
  'test/e2e/usage.test.ts',
  'test/e2e/metrics.test.ts',
  'test/adversary/process/crowd.test.ts',
  'src/upstream/connections.test.ts',
  'test/e2e/sandbox-dialects.test.ts',
  'src/compose/compose-caps.test.ts',
  'test/e2e/prometheus.test.ts',
  'test/e2e/shutdown.test.ts',
  'src/revocation/follow-changes.test.ts',
  'src/compose/compose-installation.test.ts',
  'test/e2e/draining.test.ts',
  'test/e2e/mid-stream-failures.test.ts',
  'src/store/migrations/steps-only-add.test.ts',
  'test/e2e/shared-limits.test.ts',
  'src/webhooks/webhook-sender.test.ts',
  'test/contract/providers.test.ts',
  'src/limits/memory-limits.test.ts',
  'test/browser/two-tabs.test.ts',
  'test/e2e/canary.test.ts',
  'src/store/usage/usage-batches.test.ts',
  'src/wire/json-scan.test.ts',
  'test/e2e/tour.test.ts',
  'src/store/changes/change-feed.test.ts',
  'test/e2e/provider-keys.test.ts',
  'src/compose/compose-clocks.test.ts',
  'src/store/changes/audit-log.test.ts',
  'test/e2e/backup.test.ts',
  'test/chaos/two-targets.test.ts',
  'test/e2e/binary.test.ts',
  'src/limits/shared-usage.test.ts',
  'test/e2e/master-key.test.ts',
  'src/identity/sign-in-attempts.test.ts',
  'src/store/database/checkpoint-thread.test.ts',
  'test/browser/keys.test.ts',
  'test/e2e/postgres.test.ts',
  'test/adversary/process/signals.test.ts',
  'test/e2e/sessions.test.ts',
  'test/e2e/target-health.test.ts',
  'src/snapshots/key-registry.test.ts',
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
