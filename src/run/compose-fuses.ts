/** Fuses: counts on this node, and stops that all nodes follow. */
import { CallerNames } from '../admin/calls/caller-names.ts'
import type { AttributionSettings } from '../core/attribution.ts'
import type { Clock, Stopwatch } from '../core/clock.ts'
import { type BlownFuse, describeBlown, FUSE_ACTOR } from '../core/fuse.ts'
import type { AccountId } from '../core/ids.ts'
import { fusedBy, fusedStopId, type Stop, surplusStops } from '../core/stop.ts'
import type { FuseCounting, FusePorts } from '../gateway/fuses.ts'
import type { StopRegistry } from '../snapshots/stop-registry.ts'
import type { Log } from '../telemetry/log.ts'
import type { toFuseEvent } from '../webhooks/gateway-events.ts'

export interface FuseParts {
  readonly stops: Pick<StopRegistry, 'find' | 'listFused' | 'stop' | 'lift'>
  readonly fuseCounters: FuseCounting
  readonly webhooks: { publishBlownFuse(...blown: Parameters<typeof toFuseEvent>): void }
  readonly attribution: {
    settingsOf(accountId: AccountId): Pick<AttributionSettings, 'peopleFigures'>
  }
  readonly keys: ConstructorParameters<typeof CallerNames>[0]['keys']
  readonly store: Omit<ConstructorParameters<typeof CallerNames>[0], 'keys'>
}

/** Stops of a fuse. A client that sends a new name with each call must not fill the memory. */
export const MOST_STOPS = 1_000
/**
 * Stops in an hour by the calls of one key. A client must neither displace nor delay the stops of
 * other clients: stops are written one after another.
 */
export const MOST_STOPS_PER_HOUR = 200
const HOUR_MS = 3_600_000
/** A stopped client may call at any rate while the store is unavailable. */
const RETRY_AFTER_MS = 1_000

interface UnstoredStop extends Stop {
  readonly blown: BlownFuse
  isBeingStored: boolean
  /** On the clock's `elapsed` scale. */
  retryAtMs: number
}

export function composeFuses(
  { stops, fuseCounters, webhooks, attribution, keys, store }: FuseParts,
  log: Pick<Log, 'error' | 'warn'>,
  clock: Clock & Stopwatch,
  mostStops = MOST_STOPS,
): FusePorts {
  /** These stops hold until they are stored, so that no call passes while the store is slow. */
  const unstored = new Map<string, UnstoredStop>()

  /** Stops of this hour, by account and key. */
  const begun = new Map<string, number>()
  let hour = 0

  function mayStop({ accountId, owner, keyId }: BlownFuse): boolean {
    const now = Math.floor(clock.elapsed() / HOUR_MS)
    if (now !== hour) begun.clear()
    hour = now
    const source = `${accountId} ${keyId}`
    const count = (begun.get(source) ?? 0) + 1
    begun.set(source, count)
    if (count === MOST_STOPS_PER_HOUR + 1)
      log.warn(
        { accountId, [owner.type]: owner.id, keyId },
        'a fuse stops no more sessions and users of this key within this hour',
      )
    return count <= MOST_STOPS_PER_HOUR
  }

  async function save(stop: UnstoredStop): Promise<void> {
    if (stop.isBeingStored || clock.elapsed() < stop.retryAtMs) return
    stop.isBeingStored = true
    const { accountId, id, reason, blown } = stop
    const { owner, kind, cause } = blown
    const facts = { accountId, [owner.type]: owner.id, kind, head: blown.id, cause }
    try {
      const stored = await stops.stop({ accountId, id }, reason, stop.createdBy)
      unstored.delete(id)
      // The fuse was deleted in the meantime, or another node has published the same stop.
      if (stored === undefined || stored.createdAt < stop.createdAt) return
      log.warn(facts, 'a fuse stopped calls')
      for (const old of surplusStops(stops.listFused(accountId, owner), mostStops))
        await stops.lift(old, { type: FUSE_ACTOR, id: owner.id, name: null })
      const name = await nameOf(blown)
      webhooks.publishBlownFuse(blown, { blownAtMs: stored.createdAt, name })
    } catch (error) {
      stop.isBeingStored = false
      stop.retryAtMs = clock.elapsed() + RETRY_AFTER_MS
      log.error({ ...facts, err: error }, 'the stop of a fuse could not be stored yet')
    }
  }

  async function nameOf({ accountId, kind, id }: BlownFuse): Promise<string | null> {
    if (kind !== 'user') return null
    // Receivers of webhooks see what the account's API keys see.
    if (attribution.settingsOf(accountId).peopleFigures !== 'administrators') return null
    const { members, callerNames } = store
    const names = new CallerNames({ keys, members, callerNames }, accountId)
    try {
      await names.findUsers([id])
    } catch (error) {
      log.error({ accountId, err: error }, 'the name of a stopped user could not be read')
    }
    return names.userOf(id)
  }

  return {
    counters: fuseCounters,
    stops: {
      find(accountId, id) {
        const known = stops.find(accountId, id)
        const own = known === undefined ? unstored.get(id) : undefined
        if (own !== undefined) void save(own)
        return known ?? own
      },
    },
    onBlown(blown) {
      const { accountId } = blown
      const id = fusedStopId(blown)
      if (stops.find(accountId, id) !== undefined || unstored.has(id)) return
      if (!mayStop(blown)) return
      const stop: UnstoredStop = {
        ...{ accountId, id, reason: describeBlown(blown), blown, isBeingStored: false },
        ...{ createdAt: clock.now(), createdBy: fusedBy(blown.keyId), retryAtMs: 0 },
      }
      unstored.set(id, stop)
      void save(stop)
    },
  }
}
