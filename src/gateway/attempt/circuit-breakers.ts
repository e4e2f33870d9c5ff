/** Remembers each target's failures and time to first byte on this node, in memory. */
import type { Timekeeper } from '../../core/clock.ts'
import type { ErrorKind, TargetFault } from '../../core/errors.ts'

const FAILURES_TO_OPEN = 5
const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 60_000
/** Weight of the newest answer in the moving average. */
const NEWEST_SHARE = 0.2
/**
 * Customers define targets, so the number is bounded. The least recently used target is evicted.
 */
const MAX_TARGETS = 10_000

interface TargetState {
  failuresInARow: number
  /** On the clock's `elapsed` scale. A resting target is asked last. Undefined: healthy. */
  restsUntil: number | undefined
  restMs: number
  isProbed: boolean
  averageFirstByteMs: number | undefined
  lastAnsweredAtMs: number
  lastFailure: SeenFailure | undefined
  isHeardOf: boolean
}

export interface SeenFailure {
  readonly kind: ErrorKind
  /** The status for the caller when no other target answers. */
  readonly status: number
  readonly atMs: number
  readonly targetFault?: TargetFault | undefined
}

/** A failure with its cause, which callers do not see. */
export interface ReportedFailure extends Pick<SeenFailure, 'kind' | 'status'> {
  readonly cause?: unknown
  readonly targetFault?: TargetFault | undefined
}

/**
 * Must return immediately.
 * @param restsUntilMs since the Unix epoch
 */
export type OnOpened = (key: string, restsUntilMs: number, failure?: ReportedFailure) => void

/** A target's behaviour since this node started. Times are milliseconds since the Unix epoch. */
export interface SeenTarget {
  readonly condition: Condition
  readonly failuresInARow: number
  readonly restsUntilMs: number
  readonly averageFirstByteMs: number | undefined
  readonly lastAnsweredAtMs: number
  readonly lastFailure: SeenFailure | undefined
}

/**
 * `well`: ask now. `resting`: ask last. `probe`: after a rest, a single call tests the upstream.
 */
export type Condition = 'well' | 'resting' | 'probe'

/**
 * Five consecutive failures open a target's breaker for 5 s, then a single call probes. Each failed
 * probe doubles the rest, up to a minute. A target that sends `retry-after` rests until then.
 */
export class CircuitBreakers {
  readonly sinceMs: number
  readonly #clock: Pick<Timekeeper, 'now' | 'elapsed'>
  readonly #onOpened: OnOpened
  readonly #states = new Map<string, TargetState>()

  /** @param onOpened called when a target begins to rest after repeated failures */
  constructor(clock: Pick<Timekeeper, 'now' | 'elapsed'>, onOpened: OnOpened = () => {}) {
    this.sinceMs = clock.now()
    this.#clock = clock
    this.#onOpened = onOpened
  }

  /** @param key the target's account and name */
  conditionOf(key: string): Condition {
    const state = this.#states.get(key)
    if (state?.restsUntil === undefined) return 'well'
    return this.#clock.elapsed() < state.restsUntil || state.isProbed ? 'resting' : 'probe'
  }

  /** Undefined when the target was not asked since this node started, or was evicted. */
  seenOf(key: string): SeenTarget | undefined {
    const state = this.#states.get(key)
    if (state === undefined) return undefined
    const { failuresInARow, restsUntil, averageFirstByteMs, lastAnsweredAtMs, lastFailure } = state
    return {
      condition: state.isProbed ? 'probe' : this.conditionOf(key),
      restsUntilMs: restsUntil === undefined ? 0 : this.#toTime(restsUntil),
      ...{ failuresInARow, averageFirstByteMs, lastAnsweredAtMs, lastFailure },
    }
  }

  firstByteMsOf(key: string): number | undefined {
    return this.#states.get(key)?.averageFirstByteMs
  }

  lastAnsweredAtMsOf(key: string): number {
    return this.#states.get(key)?.lastAnsweredAtMs ?? 0
  }

  /** Records that a call was sent. While the call probes a rested target, no other call does. */
  noteAsked(key: string): void {
    const state = this.#states.get(key)
    if (state?.restsUntil !== undefined && this.#clock.elapsed() >= state.restsUntil)
      state.isProbed = true
  }

  noteAnswered(key: string, firstByteMs: number): void {
    const state = this.#stateOf(key)
    const { averageFirstByteMs: average } = state
    state.averageFirstByteMs =
      average === undefined ? firstByteMs : average + NEWEST_SHARE * (firstByteMs - average)
    state.lastAnsweredAtMs = this.#clock.now()
    recover(state)
  }

  /**
   * @param restMs the rest that the target asked for
   * @param failure the error that the caller got, for the target's health page
   */
  noteFailed(key: string, restMs = 0, failure?: ReportedFailure): void {
    const state = this.#stateOf(key)
    state.failuresInARow += 1
    if (failure !== undefined)
      state.lastFailure = {
        kind: failure.kind,
        status: failure.status,
        atMs: this.#clock.now(),
        targetFault: failure.targetFault,
      }
    const wasProbed = state.isProbed
    state.isProbed = false
    if (wasProbed) state.restMs = Math.min(LONGEST_REST_MS, state.restMs * 2)
    // Every call would fail until a person acts, so one call per minute probes the target.
    const isUnusable = failure?.targetFault !== undefined
    if (isUnusable) state.restMs = LONGEST_REST_MS
    const opens = isUnusable || wasProbed || state.failuresInARow >= FAILURES_TO_OPEN
    const rest = opens ? state.restMs : 0
    const longest = Math.max(rest, Math.min(restMs, LONGEST_REST_MS))
    if (longest === 0) return
    state.restsUntil = Math.max(state.restsUntil ?? 0, this.#clock.elapsed() + longest)
    // Unusable targets are reported separately, with the reason.
    if (rest > 0 && !isUnusable) this.#onOpened(key, this.#toTime(state.restsUntil), failure)
  }

  /** Ends a probe without a result: the client left, or another target was faster. */
  noteAbandoned(key: string): void {
    const state = this.#states.get(key)
    if (state !== undefined) state.isProbed = false
  }

  *notWell(): Iterable<string> {
    for (const [key, { restsUntil }] of this.#states) if (restsUntil !== undefined) yield key
  }

  /**
   * Forgets failures whose cause was removed, but keeps the speed.
   * @param prefix of the targets' keys
   */
  forgetFailures(prefix: string): void {
    for (const [key, state] of this.#states) if (key.startsWith(prefix)) recover(state)
  }

  #toTime(moment: number): number {
    return Math.round(this.#clock.now() + moment - this.#clock.elapsed())
  }

  #stateOf(key: string): TargetState {
    const known = this.#states.get(key)
    const state = known ?? {
      failuresInARow: 0,
      restsUntil: undefined,
      restMs: FIRST_REST_MS,
      isProbed: false,
      averageFirstByteMs: undefined,
      lastAnsweredAtMs: 0,
      lastFailure: undefined,
      isHeardOf: false,
    }
    if (known !== undefined) known.isHeardOf = true
    else {
      this.#states.set(key, state)
      if (this.#states.size > MAX_TARGETS) this.#forgetOne()
    }
    return state
  }

  /**
   * Evicts the least recently used target. A used target is moved to the end here instead of with
   * every call.
   */
  #forgetOne(): void {
    for (const [key, state] of this.#states) {
      this.#states.delete(key)
      if (!state.isHeardOf) return
      state.isHeardOf = false
      this.#states.set(key, state)
    }
  }
}

function recover(state: TargetState): void {
  state.failuresInARow = 0
  state.restsUntil = undefined
  state.restMs = FIRST_REST_MS
  state.isProbed = false
}
