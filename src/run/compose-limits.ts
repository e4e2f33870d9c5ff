/**
 * Constructs the limits: in this process's memory, or shared with other nodes where there is a
 * Redis.
 */

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

/** A start does not wait longer for Redis: what counts while it is away counts then. */
const START_WITHOUT_AFTER_MS = 1_000

export interface ComposedLimits {
  readonly limits: Limits
  /** Undefined: this node shares nothing. */
  readonly redis: (() => RedisStoreState) | undefined
  /** The same as a store, for what else nodes share. */
  readonly store: Pick<SharedStore, 'run'> | undefined
  /**
   * Resolves when a reader can see what all nodes used; false: the nodes cannot reach each other
   * now. Never rejects.
   */
  refresh(accountId: AccountId, budgetIds: readonly string[]): Promise<boolean>
  /**
   * How the ledger is read anew: it knows what Redis has lost, and what nodes that were killed had
   * not told.
   */
  reconcileWith(reconcile: () => Promise<void>): void
  /**
   * Resolves when the nodes' common counters hold what calls that have ended here used, as far as
   * they can be reached.
   */
  tell(): Promise<void>
  close(): Promise<void>
}

export interface LimitsOptions {
  readonly usage: UsageLimits
  readonly log: Log
  readonly clock: Timekeeper
  /**
   * The installation that Redis has to belong to; undefined where each node has a store, and so an
   * id, of its own.
   */
  readonly installationId: string | undefined
  /** It has become another installation's while this node serves. */
  readonly onOther: (found: string) => void
}

/**
 * @throws InstallationMismatchError when Redis is another installation's; nothing was written to it
 * then
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
      tell: async () => {},
      close: async () => {},
    }
  // A single node does not load the client.
  const { RedisStore } = await import('../cluster/redis-store.ts')
  let reconcile = async () => {}
  const reconciliation = new Reconciliation({
    reconcile: () => reconcile(),
    onFailure: (error) => log.warn({ err: error }, 'redis: the ledger could not be read anew'),
  })
  let isServing = false
  const store = new RedisStore({
    settings,
    installationId,
    onChange: (state, error) => {
      reportChange(log, state, { error, expected: installationId })
      if (state.other !== undefined && isServing) onOther(state.other)
      if (state.isReady) reconciliation.begin()
    },
    // One that was killed comes back as another, and ships what it had written down.
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
    tell: () => limits.tell(),
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
      "redis: it is another installation's, and nothing of it is used, as if it were away",
    )
  else log.error({ reason: reasonAway(error), limits: mode, nodes, failures }, 'redis: away')
}

/** For `/readyz`. */
export function redisCheck({ isReady, other, mode, nodes, sinceMs }: RedisStoreState) {
  const status = other !== undefined ? 'other' : isReady ? 'ok' : 'away'
  return { status, limits: mode, nodes, sinceSeconds: Math.floor(sinceMs / 1000) }
}
