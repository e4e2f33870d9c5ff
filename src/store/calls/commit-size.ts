/**
 * Decides how many rows share a commit, from earlier commits' duration: a commit writes every page
 * that its rows touched, and the event loop waits. Rows of one account share pages, rows of
 * thousands have several each. Must not know a table.
 */

/** Above this, a commit's fixed cost hardly matters. */
export const MOST_ROWS = 1_024
const LEAST_ROWS = 32
/**
 * Milliseconds of the event loop: after a longer commit the number of rows is halved, after a quick
 * one doubled.
 */
const LONG_MS = 1
const QUICK_MS = 0.4

export class CommitSize {
  #rows: number

  /** @param rows the first guess: 1,024 rows on pages of their own would take 16 ms */
  constructor(rows = 128) {
    this.#rows = rows
  }

  get rows(): number {
    return this.#rows
  }

  /** @param rows of the commit @param tookMs its duration */
  note(rows: number, tookMs: number): void {
    if (tookMs > LONG_MS)
      this.#rows = Math.max(LEAST_ROWS, Math.floor(Math.min(rows, this.#rows) / 2))
    // A commit smaller than allowed does not show how long a larger one takes.
    else if (tookMs < QUICK_MS && rows >= this.#rows)
      this.#rows = Math.min(MOST_ROWS, this.#rows * 2)
  }
}
