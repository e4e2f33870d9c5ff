/** Time as a dependency, so that limits and journals can be tested without waiting. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** A clock that also measures and waits: all the time that the hot path knows. */
export interface Timekeeper extends Clock {
  /** Milliseconds and parts of them on a scale that never jumps: for durations and deadlines, not for dates. */
  elapsed(): number
  /** Calls `run` once, so many milliseconds from now. @returns what calls it off */
  after(ms: number, run: () => void): () => void
  /** Calls `run` every so many milliseconds; keeps no process alive. @returns what ends it */
  every(ms: number, run: () => void): () => void
}

export const systemClock: Clock = { now: () => Date.now() }

/** Read once: it does not change, and reading it costs as much as the time itself. */
const originMs = performance.timeOrigin

/** Never goes back and never jumps, whatever is done to the machine's clock: for measuring how much time has passed. */
export const steadyClock: Timekeeper = {
  now: () => Math.floor(originMs + performance.now()),
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  every(ms, run) {
    const timer = setInterval(run, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
