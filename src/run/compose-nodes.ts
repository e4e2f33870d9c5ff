/**
 * Constructs what several nodes on one Postgres need: this node follows the others, and they wait
 * for this node.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { ChangeFollowers } from '../cluster/change-followers.ts'
import { ChangeConfirmation, type EndReport } from '../cluster/confirm-changes.ts'
import { FallbackFeed } from '../cluster/fallback-feed.ts'
import type { RedisStoreState } from '../cluster/redis-store.ts'
import type { SharedStore } from '../cluster/shared-store.ts'
import { type FreshnessState, SnapshotFreshness } from '../cluster/snapshot-freshness.ts'
import type { Settings } from '../config/settings.ts'
import { compareSharedSettings, type SharedSettings } from '../config/shared-settings.ts'
import { TOLERATED_SKEW_MS } from '../core/clock.ts'
import type { NodeConfiguration } from '../core/configuration-report.ts'
import { reasonAway } from '../core/errors.ts'
import type { Freshness } from '../gateway/ports.ts'
import {
  CHANGES_CHANNEL,
  ChangeFeed,
  type NodeRow,
  type NodeWithSettings,
} from '../store/changes/change-feed.ts'
import { readNodeId } from '../store/installation/data-folder.ts'
import type { Log } from '../telemetry/log.ts'

export interface NodeState extends FreshnessState {
  readonly confirmations: { readonly count: number; readonly seconds: number }
}

export interface ComposedNode {
  /**
   * Joins the other nodes. Call this with the followers of everything that was read since the node
   * was created.
   */
  follow(followers: ChangeFollowers, fallback: FallbackStore | undefined): Promise<JoinedNode>
  close(): Promise<void>
}

export interface FallbackStore {
  readonly store: Pick<SharedStore, 'run'>
  readonly state: () => RedisStoreState
  readonly prefix: string
}

export interface JoinedNode {
  readonly freshness: Freshness
  catchUp(): Promise<void>
  /**
   * Resolves when everything committed before is in effect on every node.
   * @throws GatewayError `unavailable`
   */
  confirm(): Promise<void>
  /**
   * Resolves when the deletion of a key, or a stop, is in effect on every node.
   * @param id of the key, or of the stopped user or access token
   * @throws GatewayError `unavailable`
   */
  confirmEnd(id: string): Promise<EndReport>
  state(): NodeState
  readonly nodeId: string
  /** Reports settings that changed while this node runs. */
  report(settings: SharedSettings, configuration: NodeConfiguration): Promise<void>
  /** The other active nodes with their settings. */
  others(): Promise<readonly NodeWithSettings[]>
  onBack(run: () => void): void
}

export interface NodeOptions {
  readonly version: string
  readonly log: Log
  readonly installationId: string
  readonly onSetBack: (from: number, to: number) => void
}

/**
 * @returns undefined when the store is a file, which no other process reads
 * @throws DatabaseUnreachableError
 */
export async function composeNode(
  settings: Settings,
  { version, log, installationId, onSetBack }: NodeOptions,
): Promise<ComposedNode | undefined> {
  const { database, redis, nodes, dataFolder } = settings
  if (database === undefined) return undefined
  const { PostgresSession } = await import('../store/database/postgres-session.ts')
  const { leaseMs, storeOutage } = nodes
  let freshness: SnapshotFreshness | undefined
  let tellBack = () => {}
  const session = new PostgresSession({
    settings: database,
    timeoutMs: Math.ceil((leaseMs * 2) / 3),
    channel: CHANGES_CHANNEL,
    onNotice: () => freshness?.wake(),
    onUp: () => freshness?.wake(),
    onDown: (error) => freshness?.lose(error),
  })
  const incarnation = randomBytes(6).toString('hex')
  const row: NodeRow = {
    id: readNodeId(dataFolder),
    incarnation,
    host: hostname(),
    version,
    leaseMs,
    // No change waits for a node that serves regardless of missed changes.
    graceMs: storeOutage.choice === 'open' ? 0 : storeOutage.graceMs,
    needsRedis: redis !== undefined && storeOutage.choice === 'grace',
    settings: settings.shared,
  }
  const feed = new ChangeFeed(session, row, installationId)
  let appliedSeq: number
  try {
    await session.open()
    appliedSeq = await feed.counter()
  } catch (error) {
    await session.close()
    throw error
  }
  const confirmations = { count: 0, seconds: 0 }
  return {
    async follow(followers, fallbackStore) {
      const fallback =
        fallbackStore === undefined
          ? undefined
          : new FallbackFeed({
              store: fallbackStore.store,
              prefix: fallbackStore.prefix,
              nodeId: () => feed.nodeId,
              connectedForMs: () => fallbackStore.state().sinceMs,
              leaseMs,
            })
      const joined = new SnapshotFreshness({
        feed,
        followers,
        policy: storeOutage,
        leaseMs,
        appliedSeq,
        fallback,
        onSetBack,
        onChange(state, error) {
          reportChange(log, state, error)
          if (state.status === 'ok') tellBack()
        },
      })
      freshness = joined
      await joined.start()
      await reportDifferences(log, feed, settings.shared).catch((error: unknown) =>
        log.warn({ err: error }, "settings: other nodes' settings could not be read"),
      )
      await reportClock(log, feed).catch((error: unknown) =>
        log.warn({ err: error }, "clock: the database's clock could not be read"),
      )
      const confirmation = new ChangeConfirmation({
        feed,
        fallback,
        catchUp: () => joined.catchUp(),
        onConfirmed(durationMs) {
          confirmations.count += 1
          confirmations.seconds += durationMs / 1000
        },
      })
      return {
        freshness: joined,
        catchUp: () => joined.catchUp(),
        confirm: () => confirmation.confirm(),
        confirmEnd: (id) => confirmation.confirmEnd(id),
        state: () => ({ ...joined.state(), confirmations }),
        get nodeId() {
          return feed.nodeId
        },
        report: (shared, configuration) => feed.report(shared, configuration),
        others: () => feed.settingsOfOthers(),
        onBack(run) {
          tellBack = run
        },
      }
    },
    async close() {
      freshness?.close()
      await feed.leave().catch(() => {})
      await session.close()
    },
  }
}

/**
 * Reports a node with different settings, but lets the node serve: a setting may be changed on one
 * node after another.
 */
async function reportDifferences(
  log: Log,
  feed: ChangeFeed,
  shared: SharedSettings,
): Promise<void> {
  const reported = new Set<string>()
  for (const { id, host, settings } of await feed.settingsOfOthers())
    for (const { setting, here, there } of compareSharedSettings(shared, settings)) {
      // When ten nodes agree with each other, one report is enough.
      if (reported.has(`${setting} ${there}`)) continue
      reported.add(`${setting} ${there}`)
      log.warn(
        { setting, here, there, node: id, host },
        'settings: another node on this database has a different value; all nodes need the same',
      )
    }
}

async function reportClock(log: Log, feed: Pick<ChangeFeed, 'clock'>): Promise<void> {
  const beforeMs = Date.now()
  const databaseMs = await feed.clock()
  const afterMs = Date.now()
  const isLate = afterMs < databaseMs - TOLERATED_SKEW_MS
  if (!isLate && beforeMs <= databaseMs + TOLERATED_SKEW_MS) return
  const seconds = Math.round(Math.abs(isLate ? databaseMs - afterMs : beforeMs - databaseMs) / 1000)
  log.warn(
    { seconds, isBehind: isLate },
    `clock: this machine's is ${seconds} s ${isLate ? 'behind' : 'ahead of'} the database's. Set ` +
      'both by NTP: nodes on different days apply daily and monthly limits separately',
  )
}

function reportChange(log: Log, state: FreshnessState, error: unknown): void {
  const { status, graceMs, behind } = state
  if (status === 'ok') log.info({ behind }, 'store: Postgres is back, and every change is known')
  else log.error({ reason: reasonAway(error), status, graceMs }, 'store: Postgres is away')
}

export function storeCheck({
  status,
  leaseMs,
  graceMs,
  contactAgeMs,
  appliedSeq,
  behind,
}: NodeState) {
  return {
    status,
    sinceSeconds: Math.floor(contactAgeMs / 1000),
    leaseMs,
    graceSeconds: Math.floor(graceMs / 1000),
    appliedChanges: appliedSeq,
    behind,
  }
}
