/**
 * Waits until a change is in effect everywhere: every other node has confirmed the change, or may
 * no longer serve without knowing the change.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../core/errors.ts'
import type { ChangeFeed } from '../store/changes/change-feed.ts'
import type { FallbackFeed, FallbackNodes } from './fallback-feed.ts'

const FIRST_LOOK_MS = 4
const LONGEST_LOOK_MS = 100
/** Earlier changes to publish again, in case they were lost. */
const TOLD_AGAIN = 100
/** How long a change waits for a lost connection to return. */
const PATIENCE_MS = 3_000

export interface ConfirmChangesOptions {
  readonly feed: Pick<ChangeFeed, 'counter' | 'laggards' | 'since' | 'unheard' | 'countEnded'>
  readonly catchUp: () => Promise<void>
  readonly fallback?: Pick<FallbackFeed, 'publish'> | undefined
  readonly pause?: (delayMs: number) => Promise<unknown>
  readonly steadyMs?: () => number
  readonly onConfirmed?: (durationMs: number) => void
}

/** The outcome of ending the running calls on all nodes. */
export interface EndReport {
  /** Calls that nodes reported as ended. */
  readonly callsEnded: number
  /**
   * Number of nodes that did not confirm. Such nodes accept no calls, but may still run earlier
   * calls.
   */
  readonly nodesNotHeard: number
}

export class ChangeConfirmation {
  readonly #options: ConfirmChangesOptions

  constructor(options: ConfirmChangesOptions) {
    this.#options = options
  }

  /**
   * Confirms everything committed before this call, and retries while the database does not answer
   * for a moment.
   * @throws GatewayError `unavailable` when the database stays unavailable: the change is then
   * stored, but may not be known everywhere
   */
  async confirm(): Promise<void> {
    await this.#whenConfirmed()
  }

  /**
   * Confirms the revocation of a key, or a stop, as `confirm` does.
   * @param id of the key, or of the stopped user or access token
   * @throws GatewayError `unavailable`, as `confirm`
   */
  async confirmEnd(id: string): Promise<EndReport> {
    const seq = await this.#whenConfirmed()
    try {
      return {
        callsEnded: await this.#options.feed.countEnded(id),
        nodesNotHeard: await this.#countUnheard(seq),
      }
    } catch (cause) {
      throw unconfirmed(cause)
    }
  }

  /**
   * Nodes that learned the change from Redis have ended the calls too, so these nodes are not
   * counted.
   */
  async #countUnheard(seq: number): Promise<number> {
    const unheard = await this.#options.feed.unheard(seq)
    const told = unheard.some(({ needsRedis }) => needsRedis) ? await this.#tell(seq) : undefined
    return unheard.filter(({ id }) => (told?.byId.get(id)?.knownSeq ?? -1) < seq).length
  }

  /** @returns the newest change that is confirmed */
  async #whenConfirmed(): Promise<number> {
    const { pause = sleep, steadyMs = () => performance.now(), onConfirmed } = this.#options
    const startedAtMs = steadyMs()
    let answeredAtMs = startedAtMs
    let seq: number | undefined
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LONGEST_LOOK_MS, lookMs * 1.5)) {
      try {
        seq ??= await this.#knownHere()
        if (!(await this.#mustWait(seq))) {
          onConfirmed?.(steadyMs() - startedAtMs)
          return seq
        }
        answeredAtMs = steadyMs()
      } catch (cause) {
        if (steadyMs() - answeredAtMs >= PATIENCE_MS) throw unconfirmed(cause)
      }
      await pause(lookMs)
    }
  }

  async #knownHere(): Promise<number> {
    const seq = await this.#options.feed.counter()
    await this.#options.catchUp()
    return seq
  }

  async #mustWait(seq: number): Promise<boolean> {
    const laggards = await this.#options.feed.laggards(seq)
    if (laggards.length === 0) return false
    if (laggards.some(({ leaseMs, needsRedis }) => leaseMs >= 0 || !needsRedis)) {
      if (laggards.some(({ needsRedis }) => needsRedis)) await this.#tell(seq)
      return true
    }
    const told = await this.#tell(seq)
    // Redis has lost its record of the nodes' leases, so their grace period has to end.
    if (told === undefined || told.forgottenMs > 0) return true
    return laggards.some(({ id }) => {
      const node = told.byId.get(id)
      return node !== undefined && node.knownSeq < seq && node.leaseMs >= 0
    })
  }

  async #tell(seq: number): Promise<FallbackNodes | undefined> {
    const { fallback, feed } = this.#options
    if (fallback === undefined) return undefined
    const changes = await feed.since(Math.max(0, seq - TOLD_AGAIN), 2 * TOLD_AGAIN)
    return await fallback.publish(seq, changes).catch(() => undefined)
  }
}

function unconfirmed(cause: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'The change is stored, but the database was lost before every node had confirmed it: some ' +
      'may not know it yet.',
    { cause },
  )
}
