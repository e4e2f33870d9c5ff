/** Time as a dependency, so that limits and journals can be tested without waiting. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Never goes back and never jumps, whatever is done to the machine's clock: for measuring how much time has passed. */
export const steadyClock: Clock = { now: () => Math.floor(performance.timeOrigin + performance.now()) }
