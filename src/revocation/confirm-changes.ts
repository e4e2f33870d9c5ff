/**
 * Waits until a change is in force everywhere: every other node has said that it knows it, or may
 * not serve any more without knowing it. Must not know what changed, nor HTTP.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../core/errors.ts'
import type { ChangeFeed, Laggard } from '../store/changes/change-feed.ts'
import type { ChangeWitness, WitnessedNodes } from './change-witness.ts'

const FIRST_LOOK_MS = 4
const LONGEST_LOOK_MS = 100
/** What was told to the witness before is told again, should it have been lost. */
const TOLD_AGAIN = 100

export interface ConfirmChangesOptions {
  readonly feed: Pick<ChangeFeed, 'counter' | 'laggards' | 'since'>
  /** Resolves when this node itself works with what is committed. */
  readonly catchUp: () => Promise<void>
  readonly witness?: Pick<ChangeWitness, 'publish'> | undefined
  /** Waits for so many milliseconds. */
  readonly pause?: (delayMs: number) => Promise<unknown>
  /** Told of each wait. */
  readonly onConfirmed?: (durationMs: number) => void
}

export class ChangeConfirmation {
  readonly #options: ConfirmChangesOptions

  constructor(options: ConfirmChangesOptions) {
    this.#options = options
  }

  /**
   * Of whatever was committed before this is called.
   * @throws GatewayError `unavailable` when the database was lost meanwhile: then the change is
   * stored, and may not be known everywhere
   */
  async confirm(): Promise<void> {
    const { feed, catchUp, pause = sleep, onConfirmed } = this.#options
    const startedAtMs = performance.now()
    try {
      const seq = await feed.counter()
      await catchUp()
      for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LONGEST_LOOK_MS, lookMs * 1.5)) {
        const laggards = await feed.laggards(seq)
        if (laggards.length === 0 || !(await this.#mustWait(seq, laggards))) break
        await pause(lookMs)
      }
    } catch (cause) {
      throw new GatewayError(
        'unavailable',
        'The change is stored, but the database was lost before every node had confirmed it: some may not know it yet.',
        { cause },
      )
    }
    onConfirmed?.(performance.now() - startedAtMs)
  }

  async #mustWait(seq: number, laggards: readonly Laggard[]): Promise<boolean> {
    if (laggards.some(({ leaseMs, needsRedis }) => leaseMs >= 0 || !needsRedis)) {
      // Those that are cut off from the database have to be told in any case.
      if (laggards.some(({ needsRedis }) => needsRedis)) await this.#tell(seq)
      return true
    }
    const told = await this.#tell(seq)
    // Nobody can say what they were vouched for: their grace has to end.
    if (told === undefined || told.forgottenMs > 0) return true
    return laggards.some(({ id }) => {
      const node = told.byId.get(id)
      return node !== undefined && node.knownSeq < seq && node.leaseMs >= 0
    })
  }

  async #tell(seq: number): Promise<WitnessedNodes | undefined> {
    const { witness, feed } = this.#options
    if (witness === undefined) return undefined
    const changes = await feed.since(Math.max(0, seq - TOLD_AGAIN), 2 * TOLD_AGAIN)
    return await witness.publish(seq, changes).catch(() => undefined)
  }
}
