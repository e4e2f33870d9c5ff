/**
 * Remembers each target's recent behaviour on this node: failures, and time to the first byte. In
 * memory only. Must not know gates nor decide an order: order-targets.ts does.
 */
import type { Timekeeper } from '../../core/clock.ts'
import type { ErrorKind, TargetFault } from '../../core/errors.ts'

/** Consecutive failures after which a target rests. */
const FAILURES_TO_OPEN = 5
const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 60_000
/** Weight of the newest answer in the moving average of the time to the first byte. */
const NEWEST_SHARE = 0.2
/**
 * Customers define targets, so the number is bounded: the least recently used is forgotten first.
 */
const MAX_TARGETS = 10_000

interface TargetState {
  failuresInARow: number
  /**
   * Until this time, on the clock's `elapsed` scale, the target is asked only when there is no
   * other. Undefined: healthy.
   */
  restsUntil: number | undefined
  restMs: number
  /** A call is probing whether the target has recovered. */
  isProbed: boolean
  averageFirstByteMs: number | undefined
  lastAnsweredAtMs: number
  lastFailure: SeenFailure | undefined
  /** Used since the last eviction pass. */
  isHeardOf: boolean
}

/** The latest failure that was the target's own fault. */
export interface SeenFailure {
  readonly kind: ErrorKind
  /** The status that a caller got, or would have got without another target. */
  readonly status: number
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Set when the target fails until a person acts. */
  readonly targetFault?: TargetFault | undefined
}

/** A failure as the caller got it, with its cause, which callers do not see. */
export interface ToldFailure extends Pick<SeenFailure, 'kind' | 'status'> {
  readonly cause?: unknown
  readonly targetFault?: TargetFault | undefined
}

/** Must return immediately. @param restsUntilMs since the Unix epoch */
export type OnOpened = (key: string, restsUntilMs: number, failure?: ToldFailure) => void

/** A target's behaviour since this node started. */
export interface SeenTarget {
  readonly condition: Condition
  readonly failuresInARow: number
  /** Milliseconds since the Unix epoch, as below; 0: not resting. */
  readonly restsUntilMs: number
  readonly averageFirstByteMs: number | undefined
  /** 0: never answered. */
  readonly lastAnsweredAtMs: number
  readonly lastFailure: SeenFailure | undefined
}

/** `well`: ask it. `resting`: ask it last. `probe`: its rest is over, and one call may test it. */
export type Condition = 'well' | 'resting' | 'probe'

/**
 * A circuit breaker per target: five consecutive failures open it for 5 s, then a single call
 * probes. Each failed probe doubles the rest, up to a minute. A target that sends `retry-after`
 * rests until then.
 */
export class CircuitBreakers {
  /** Start of the record, in milliseconds since the Unix epoch. */
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

  /** Undefined: not asked since this node started, or forgotten. */
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

  /** The moving average in milliseconds; undefined before the first answer. */
  firstByteMsOf(key: string): number | undefined {
    return this.#states.get(key)?.averageFirstByteMs
  }

  /** Milliseconds since the Unix epoch; 0 before the first answer. */
  lastAnsweredAtMsOf(key: string): number {
    return this.#states.get(key)?.lastAnsweredAtMs ?? 0
  }

  /** Records that a call was sent. While it probes a rested target, no other call does. */
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
   * Records a failure that is the target's own fault.
   * @param restMs the rest that the target asked for
   * @param told the error that the caller got, for the target's health page
   */
  noteFailed(key: string, restMs = 0, told?: ToldFailure): void {
    const state = this.#stateOf(key)
    state.failuresInARow += 1
    if (told !== undefined)
      state.lastFailure = {
        kind: told.kind,
        status: told.status,
        atMs: this.#clock.now(),
        targetFault: told.targetFault,
      }
    const wasProbed = state.isProbed
    state.isProbed = false
    if (wasProbed) state.restMs = Math.min(LONGEST_REST_MS, state.restMs * 2)
    // Every call would fail until a person acts, so one call per minute tests it.
    const isUnusable = told?.targetFault !== undefined
    if (isUnusable) state.restMs = LONGEST_REST_MS
    const opens = isUnusable || wasProbed || state.failuresInARow >= FAILURES_TO_OPEN
    const rest = opens ? state.restMs : 0
    const longest = Math.max(rest, Math.min(restMs, LONGEST_REST_MS))
    if (longest === 0) return
    state.restsUntil = Math.max(state.restsUntil ?? 0, this.#clock.elapsed() + longest)
    // Reported separately, with its reason.
    if (rest > 0 && !isUnusable) this.#onOpened(key, this.#toTime(state.restsUntil), told)
  }

  /**
   * Records that a call ended without a result for the target: its client left, or another target
   * was faster.
   */
  noteAbandoned(key: string): void {
    const state = this.#states.get(key)
    if (state !== undefined) state.isProbed = false
  }

  /** The keys of targets that are resting or being probed. */
  *notWell(): Iterable<string> {
    for (const [key, { restsUntil }] of this.#states) if (restsUntil !== undefined) yield key
  }

  /**
   * Forgets failures whose cause was removed, but keeps the speed. @param prefix of the targets'
   * keys
   */
  forgetFailures(prefix: string): void {
    for (const [key, state] of this.#states) if (key.startsWith(prefix)) recover(state)
  }

  /** Converts a time on the `elapsed` scale to milliseconds since the Unix epoch. */
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
   * Evicts the least recently used target. Used ones move to the end here, in one pass, instead of
   * with every call.
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
