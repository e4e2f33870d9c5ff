/** The report of `/readyz`: whether a call with a quota could be served now, or why not. */
import { systemClock } from '../core/clock.ts'
import type { Journal } from '../ledger/journal.ts'
import type { UsageLimits } from '../limits/usage-limits.ts'
import type { InstallationWatch } from '../store/installation/watch-installation.ts'
import { installationCheck } from './compose-installation.ts'
import { type ComposedLimits, redisCheck } from './compose-limits.ts'
import { type JoinedNode, storeCheck } from './compose-nodes.ts'
import type { ConfigurationState, NodeReload } from './reload-nodes.ts'

export interface ReadinessParts {
  readonly journal: Pick<Journal, 'state'>
  readonly usage: Pick<UsageLimits, 'pastState' | 'whenCounted'>
  readonly watch: InstallationWatch
  readonly redis: ComposedLimits['redis']
  readonly node: JoinedNode | undefined
  readonly reload: Pick<NodeReload, 'refresh' | 'state'>
}

export function createReadiness({ journal, usage, watch, redis, node, reload }: ReadinessParts) {
  return async () => {
    // A call would wait for the count of past usage too, so readiness waits briefly.
    await waitBriefly(usage.whenCounted())
    await waitBriefly(reload.refresh())
    const { writable, ...figures } = journal.state()
    const ledger = { status: writable ? 'ok' : 'failing', ...figures }
    const past = usage.pastState()
    const ofRedis = redis?.()
    const ofNode = node?.state()
    return {
      isReady:
        writable &&
        past === 'ok' &&
        watch.standing === 'ok' &&
        ofRedis?.mode !== 'closed' &&
        ofNode?.status !== 'away',
      checks: {
        ledger,
        usage: { status: past },
        installation: installationCheck(watch),
        configuration: configurationCheck(reload.state),
        ...(ofRedis === undefined ? {} : { redis: redisCheck(ofRedis) }),
        ...(ofNode === undefined ? {} : { store: storeCheck(ofNode) }),
      },
    }
  }
}

/**
 * Anyone may read `/readyz`, and people compare digests by eye, so the beginning of a digest is
 * enough.
 */
const DIGEST_CHARACTERS = 12

/** A refused file is only a warning, because the node serves with the earlier settings. */
function configurationCheck({ digest, isRefused, others }: ConfigurationState) {
  const differ = others.filter((other) => other !== digest).length
  return {
    status: isRefused ? 'refused' : differ > 0 ? 'differs' : 'ok',
    digest: digest?.slice(0, DIGEST_CHARACTERS) ?? null,
    ...(others.length === 0 ? {} : { otherNodes: others.length, differing: differ }),
  }
}

/** Long enough for an ordinary start, and far less than load balancers wait. */
const BRIEFLY_MS = 1_000

async function waitBriefly(work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return
  const timer = Promise.withResolvers<void>()
  const cancel = systemClock.after(BRIEFLY_MS, timer.resolve)
  // The caller checks the result later.
  await Promise.race([work.catch(() => {}), timer.promise])
  cancel()
}
