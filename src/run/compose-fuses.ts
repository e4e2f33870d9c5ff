/** Fuses: counts on this node, and stops that all nodes follow. */
import type { Timekeeper } from '../core/clock.ts'
import { type BlownFuse, describeBlown, FUSE_ACTOR } from '../core/fuse.ts'
import { fusedStopId, type Stop } from '../core/stop.ts'
import type { FusePorts } from '../gateway/fuses.ts'
import type { Log } from '../telemetry/log.ts'
import type { State } from './compose-state.ts'

interface UnstoredStop extends Stop {
  readonly blown: BlownFuse
  isBeingStored: boolean
}

export function composeFuses(
  { stops, fuseCounters, webhooks }: Pick<State, 'stops' | 'fuseCounters' | 'webhooks'>,
  log: Pick<Log, 'error' | 'warn'>,
  clock: Pick<Timekeeper, 'now'>,
): FusePorts {
  /** Hold until they are stored, so that no call passes while the store is slow or away. */
  const unstored = new Map<string, UnstoredStop>()

  async function store(stop: UnstoredStop): Promise<void> {
    if (stop.isBeingStored) return
    stop.isBeingStored = true
    const { accountId, id, reason, blown } = stop
    const { owner, kind, cause } = blown
    const facts = { accountId, [owner.type]: owner.id, kind, head: blown.id, cause }
    try {
      const stored = await stops.stop({ accountId, id }, reason, FUSE_ACTOR)
      unstored.delete(id)
      // The fuse was deleted in the meantime.
      if (stored === undefined) return
      log.warn(facts, 'a fuse stopped calls')
      webhooks.publishBlownFuse(blown, stored.createdAt)
    } catch (error) {
      stop.isBeingStored = false
      log.error({ ...facts, err: error }, 'the stop of a fuse could not be stored yet')
    }
  }

  return {
    counters: fuseCounters,
    stops: {
      find(accountId, id) {
        const known = stops.find(accountId, id)
        const own = known === undefined ? unstored.get(id) : undefined
        if (own !== undefined) void store(own)
        return known ?? own
      },
    },
    onBlown(blown) {
      const { accountId } = blown
      const id = fusedStopId(blown)
      if (stops.find(accountId, id) !== undefined || unstored.has(id)) return
      const stop: UnstoredStop = {
        ...{ accountId, id, reason: describeBlown(blown), blown, isBeingStored: false },
        ...{ createdAt: clock.now(), createdBy: FUSE_ACTOR },
      }
      unstored.set(id, stop)
      void store(stop)
    },
  }
}
