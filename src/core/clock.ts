/** Time as a dependency, so that limits and journals can be tested without waiting. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Read once: it does not change, and reading it costs as much as the time itself. */
const originMs = performance.timeOrigin

/** Never goes back and never jumps, whatever is done to the machine's clock: for measuring how much time has passed. */
export const steadyClock: Clock = { now: () => Math.floor(originMs + performance.now()) }
