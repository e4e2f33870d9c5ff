/**
 * How many rows share a commit, by what commits took: one writes every page that its rows touched,
 * and the event loop waits. Rows of one account share pages, rows of thousands have several each.
 * Must not know a table.
 */

/** They share what a commit costs by itself; more make it no cheaper. */
export const MOST_ROWS = 1_024
const LEAST_ROWS = 32
/**
 * Of the event loop: half as many rows follow a commit that took longer, twice as many one that was
 * quick.
 */
const LONG_MS = 1
const QUICK_MS = 0.4

export class CommitSize {
  #rows: number

  /** @param rows a first guess: 1,024 that touch pages of their own would be 16 ms of a commit */
  constructor(rows = 128) {
    this.#rows = rows
  }

  get rows(): number {
    return this.#rows
  }

  /** @param rows of the commit that took so long */
  note(rows: number, tookMs: number): void {
    if (tookMs > LONG_MS)
      this.#rows = Math.max(LEAST_ROWS, Math.floor(Math.min(rows, this.#rows) / 2))
    // One that was smaller than it might have been says nothing of a larger one.
    else if (tookMs < QUICK_MS && rows >= this.#rows)
      this.#rows = Math.min(MOST_ROWS, this.#rows * 2)
  }
}
