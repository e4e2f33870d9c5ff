/** Refreshes each name at most once within a time; concurrent callers share the refresh. */

export interface LooksOptions {
  /** Maximum age of a refresh; an older refresh is repeated. */
  readonly maxAgeMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

interface Look {
  readonly startedAtMs: number
  readonly done: Promise<void>
}

export class Looks {
  readonly #options: LooksOptions
  readonly #looks = new Map<string, Look>()

  constructor(options: LooksOptions) {
    this.#options = options
  }

  /**
   * Resolves when each name was refreshed recently enough.
   * @param look called with the names to refresh now
   * @throws the refresh's error (rejects)
   */
  async refresh(
    names: readonly string[],
    look: (missing: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const nowMs = this.#options.now()
    for (const [name, { startedAtMs }] of this.#looks) {
      if (nowMs - startedAtMs < this.#options.maxAgeMs) break
      this.#looks.delete(name)
    }
    const missing = names.filter((name) => !this.#looks.has(name))
    if (missing.length > 0) {
      const begun = { startedAtMs: nowMs, done: look(missing) }
      for (const name of missing) this.#looks.set(name, begun)
    }
    await Promise.all(names.map((name) => this.#looks.get(name)?.done))
  }
}
