import { describeOtherRedis } from '../cluster/describe-other-redis.ts'
import type { RedisStoreState } from '../cluster/redis-store.ts'
import type { SharedStore } from '../cluster/shared-store.ts'
import type { RedisSettings } from '../config/redis-settings.ts'
import type { Timekeeper } from '../core/clock.ts'
import { reasonAway } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import type { Limits } from '../gateway/ports.ts'
import { MemoryLimits } from '../limits/memory-limits.ts'
import { Reconciliation } from '../limits/reconciliation.ts'
import { SharedLimits } from '../limits/shared-limits.ts'
import type { UsageLimits } from '../limits/usage-limits.ts'
import { mismatch } from '../store/installation/join-installation.ts'
import type { Log } from '../telemetry/log.ts'

/** The longest wait for Redis at a start; usage from before is counted later. */
const START_WITHOUT_AFTER_MS = 1_000

export interface ComposedLimits {
  readonly limits: Limits
  readonly redis: (() => RedisStoreState) | undefined
  readonly store: Pick<SharedStore, 'run'> | undefined
  refresh(accountId: AccountId, budgetIds: readonly string[]): Promise<boolean>
  reconcileWith(reconcile: () => Promise<void>): void
  flush(): Promise<void>
  close(): Promise<void>
}

export interface LimitsOptions {
  readonly usage: UsageLimits
  readonly log: Log
  readonly clock: Timekeeper
  readonly installationId: string | undefined
  readonly onOther: (found: string) => void
}

/**
 * @throws InstallationMismatchError when Redis is another installation's; nothing was written to
 * Redis
 */
export async function composeLimits(
  settings: RedisSettings | undefined,
  { usage, log, installationId, onOther, clock }: LimitsOptions,
): Promise<ComposedLimits> {
  if (settings === undefined)
    return {
      limits: new MemoryLimits(clock, usage),
      redis: undefined,
      store: undefined,
      refresh: async () => false,
      reconcileWith: () => {},
      flush: async () => {},
      close: async () => {},
    }
  const { RedisStore } = await import('../cluster/redis-store.ts')
  let reconcile = async () => {}
  const reconciliation = new Reconciliation({
    reconcile: () => reconcile(),
    onFailure: (error) => log.warn({ err: error }, 'redis: the ledger could not be counted again'),
  })
  let isServing = false
  const store = new RedisStore({
    settings,
    installationId,
    onChange: (state, error) => {
      reportChange(log, state, { error, expected: installationId })
      if (state.other !== undefined && isServing) onOther(state.other)
      if (!state.isReady) return
      // Usage of the other nodes meanwhile is in the ledger, and not yet in Redis.
      usage.readHeadsLater(false)
      reconciliation.begin()
    },
    // A killed node returns under another id and ships the calls that it had recorded, so the usage
    // is reconciled.
    onNewNode: () => reconciliation.begin(),
  })
  await Promise.race([store.open(), Bun.sleep(START_WITHOUT_AFTER_MS)])
  const { other } = store.state()
  if (other !== undefined && installationId !== undefined) {
    await store.close()
    throw mismatch([describeOtherRedis(settings, { found: other, expected: installationId })])
  }
  isServing = true
  const limits = new SharedLimits({ store, prefix: settings.prefix, usage, clock })
  limits.start()
  return {
    limits,
    redis: () => store.state(),
    store,
    async refresh(accountId, budgetIds) {
      await limits.refresh(accountId, budgetIds)
      return store.mode === 'shared'
    },
    reconcileWith: (given) => {
      reconcile = given
    },
    flush: () => limits.flush(),
    close: async () => {
      reconciliation.stop()
      await limits.close()
      await store.close()
    },
  }
}

function reportChange(
  log: Log,
  { isReady, other, mode, nodes, failures }: RedisStoreState,
  { error, expected }: { readonly error: unknown; readonly expected: string | undefined },
): void {
  if (isReady) log.info({ nodes, failures }, 'redis: limits are shared')
  else if (other !== undefined)
    log.error(
      { found: other, expected, limits: mode },
      'redis: it belongs to another installation and is not used, as if it were unavailable',
    )
  else log.error({ reason: reasonAway(error), limits: mode, nodes, failures }, 'redis: away')
}

export function redisCheck({ isReady, other, mode, nodes, sinceMs }: RedisStoreState) {
  const status = other !== undefined ? 'other' : isReady ? 'ok' : 'away'
  return { status, limits: mode, nodes, sinceSeconds: Math.floor(sinceMs / 1000) }
}
