/**
 * How often a value fell below each bound. Plain numbers: adding one costs a search among a few.
 */

/** Seconds: from an answer out of a cache to a model that thinks for minutes. */
export const SECONDS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
] as const

export class SecondsHistogram {
  /** By upper bound, each without those below it; the last is for what exceeds all bounds. */
  readonly counts = new Float64Array(SECONDS.length + 1)
  sum = 0
  count = 0

  addMs(ms: number): void {
    const seconds = ms / 1000
    let index = 0
    while (index < SECONDS.length && seconds > (SECONDS[index] ?? 0)) index += 1
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.sum += seconds
    this.count += 1
  }
}
