/**
 * Decides how many rows share a commit, from the duration of earlier commits. A commit writes every
 * page that its rows touched, while the event loop waits.
 */

export const MOST_ROWS = 1_024
const LEAST_ROWS = 32
/**
 * Event loop time of a commit. A longer commit halves the number of rows, a quick commit doubles
 * the number.
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

  note(rows: number, tookMs: number): void {
    if (tookMs > LONG_MS)
      this.#rows = Math.max(LEAST_ROWS, Math.floor(Math.min(rows, this.#rows) / 2))
    // A commit smaller than allowed does not show how long a larger commit takes.
    else if (tookMs < QUICK_MS && rows >= this.#rows)
      this.#rows = Math.min(MOST_ROWS, this.#rows * 2)
  }
}
