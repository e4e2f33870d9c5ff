/**
 * Remembers how each target lately behaved on this node: whether it fails, and how soon it begins
 * to answer. In memory only. It must not know gates, nor decide an order: order-targets.ts does.
 */
import type { Timekeeper } from '../../core/clock.ts'
import type { ErrorKind, TargetFault } from '../../core/errors.ts'

/** So many failures in a row, and a target is left alone for a while. */
const FAILURES_TO_OPEN = 5
const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 60_000
/** Weight of the newest answer in the moving average of the time to the first byte. */
const NEWEST_SHARE = 0.2
/** Targets come from customers: the one that was not heard of for longest is forgotten first. */
const MAX_TARGETS = 10_000

interface TargetState {
  failuresInARow: number
  /**
   * Until then, on the clock's `elapsed` scale, the target is asked only when there is no other;
   * undefined: it is well.
   */
  restsUntil: number | undefined
  restMs: number
  /** One call is finding out whether the target is well again. */
  isProbed: boolean
  averageFirstByteMs: number | undefined
  lastAnsweredAtMs: number
  lastFailure: SeenFailure | undefined
  /** Since it was last about to be forgotten. */
  isHeardOf: boolean
}

/** The newest failure that was the target's own fault. */
export interface SeenFailure {
  readonly kind: ErrorKind
  /** The status that a caller saw, or would have seen without another target. */
  readonly status: number
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Set where somebody has to act before the target serves anybody. */
  readonly targetFault?: TargetFault | undefined
}

/** A failure as its caller got it, with its cause, which callers do not hear. */
export interface ToldFailure extends Pick<SeenFailure, 'kind' | 'status'> {
  readonly cause?: unknown
  readonly targetFault?: TargetFault | undefined
}

/** Must return at once. @param restsUntilMs since the Unix epoch */
export type OnOpened = (key: string, restsUntilMs: number, failure?: ToldFailure) => void

/** A target's behaviour since this node started. */
export interface SeenTarget {
  readonly condition: Condition
  readonly failuresInARow: number
  /** Milliseconds since the Unix epoch, as below; 0: it does not rest. */
  readonly restsUntilMs: number
  readonly averageFirstByteMs: number | undefined
  /** 0: it has not answered yet. */
  readonly lastAnsweredAtMs: number
  readonly lastFailure: SeenFailure | undefined
}

/** `well`: ask it. `resting`: ask it last. `probe`: it has rested, and one call may find out. */
export type Condition = 'well' | 'resting' | 'probe'

/**
 * A circuit breaker for each target: five failures in a row open it for 5 s, then a single call
 * probes; each failed probe doubles the rest, up to a minute. A target that says when to come back
 * (`retry-after`) rests until then.
 */
export class CircuitBreakers {
  /** Nothing is known of what was before: milliseconds since the Unix epoch. */
  readonly sinceMs: number
  readonly #clock: Pick<Timekeeper, 'now' | 'elapsed'>
  readonly #onOpened: OnOpened
  readonly #states = new Map<string, TargetState>()

  /** @param onOpened told when a target has failed so often that it is left alone */
  constructor(clock: Pick<Timekeeper, 'now' | 'elapsed'>, onOpened: OnOpened = () => {}) {
    this.sinceMs = clock.now()
    this.#clock = clock
    this.#onOpened = onOpened
  }

  /** @param key of the target: its account and its name */
  conditionOf(key: string): Condition {
    const state = this.#states.get(key)
    if (state?.restsUntil === undefined) return 'well'
    return this.#clock.elapsed() < state.restsUntil || state.isProbed ? 'resting' : 'probe'
  }

  /** Undefined: it was not asked since this node started, or so long ago that it is forgotten. */
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

  /** The moving average in milliseconds; undefined while nothing was seen. */
  firstByteMsOf(key: string): number | undefined {
    return this.#states.get(key)?.averageFirstByteMs
  }

  /** Milliseconds since the Unix epoch; 0 while nothing was seen. */
  lastAnsweredAtMsOf(key: string): number {
    return this.#states.get(key)?.lastAnsweredAtMs ?? 0
  }

  /**
   * A call is on its way to the target; while it probes a target that has rested, no other does.
   */
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
   * The target failed in a way that is its own fault.
   * @param restMs how long it asked to be left alone
   * @param told the error that its caller got, for those who look at the target's health
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
    // Every call would fail until somebody acts: one a minute finds out whether somebody has.
    const isUnusable = told?.targetFault !== undefined
    if (isUnusable) state.restMs = LONGEST_REST_MS
    const opens = isUnusable || wasProbed || state.failuresInARow >= FAILURES_TO_OPEN
    const rest = opens ? state.restMs : 0
    const longest = Math.max(rest, Math.min(restMs, LONGEST_REST_MS))
    if (longest === 0) return
    state.restsUntil = Math.max(state.restsUntil ?? 0, this.#clock.elapsed() + longest)
    // Reported by itself, with its reason.
    if (rest > 0 && !isUnusable) this.#onOpened(key, this.#toTime(state.restsUntil), told)
  }

  /** The call ended without saying anything of the target: its client left, or lost a race. */
  noteAbandoned(key: string): void {
    const state = this.#states.get(key)
    if (state !== undefined) state.isProbed = false
  }

  /** The keys of those that are left alone now, or are being found out about. */
  *notWell(): Iterable<string> {
    for (const [key, { restsUntil }] of this.#states) if (restsUntil !== undefined) yield key
  }

  /**
   * Forgets their failures, whose cause is gone, and keeps how fast they are. @param prefix of the
   * targets' keys
   */
  forgetFailures(prefix: string): void {
    for (const [key, state] of this.#states) if (key.startsWith(prefix)) recover(state)
  }

  /** Since the Unix epoch, of a moment on the `elapsed` scale. */
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
   * Those that were heard of since they came to the front go to the end, all at once: not each with
   * its call.
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
