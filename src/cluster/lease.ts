/** A right that expires by itself. */

export interface Moment {
  readonly steadyMs: number
  readonly wallMs: number
}

export interface Clocks {
  readonly steady: () => number
  readonly wall: () => number
}

export const systemClocks: Clocks = { steady: () => performance.now(), wall: () => Date.now() }

export function momentOf({ steady, wall }: Clocks): Moment {
  return { steadyMs: steady(), wallMs: wall() }
}

/** Clocks of two machines run at slightly different speeds. */
const SAFE_PART = 0.95

/**
 * A lease ends slightly before its granter assumes, because it starts before the request and is
 * shortened. The monotonic clock or the wall clock ends the lease, whichever is first.
 */
export class Lease {
  readonly #clocks: Clocks
  #endsAtSteadyMs = Number.NEGATIVE_INFINITY
  #endsAtWallMs = Number.NEGATIVE_INFINITY

  constructor(clocks: Clocks = systemClocks) {
    this.#clocks = clocks
  }

  isLive(): boolean {
    return this.#clocks.steady() < this.#endsAtSteadyMs && this.#clocks.wall() < this.#endsAtWallMs
  }

  get leftMs(): number {
    const { steady, wall } = this.#clocks
    return Math.max(0, Math.min(this.#endsAtSteadyMs - steady(), this.#endsAtWallMs - wall()))
  }

  get endedMs(): number {
    const { steady, wall } = this.#clocks
    return Math.max(0, steady() - this.#endsAtSteadyMs, wall() - this.#endsAtWallMs)
  }

  grant(asked: Moment, durationMs: number): void {
    this.#endsAtSteadyMs = asked.steadyMs + durationMs * SAFE_PART
    this.#endsAtWallMs = asked.wallMs + durationMs * SAFE_PART
  }

  end(): void {
    this.#endsAtSteadyMs = Number.NEGATIVE_INFINITY
  }
}
