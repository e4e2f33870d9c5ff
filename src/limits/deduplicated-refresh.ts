/** Refreshes each name at most once within a time; concurrent callers share the refresh. */

export interface DeduplicatedRefreshOptions {
  /** Maximum age of a refresh before it is repeated, in milliseconds. */
  readonly maxAgeMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

interface Refresh {
  readonly startedAtMs: number
  readonly done: Promise<void>
}

export class DeduplicatedRefresh {
  readonly #options: DeduplicatedRefreshOptions
  readonly #refreshes = new Map<string, Refresh>()

  constructor(options: DeduplicatedRefreshOptions) {
    this.#options = options
  }

  /**
   * Resolves when each name was refreshed recently enough.
   * @param refreshNow called with the names to refresh now
   * @throws the refresh's error (rejects)
   */
  async refresh(
    names: readonly string[],
    refreshNow: (missing: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const nowMs = this.#options.now()
    for (const [name, { startedAtMs }] of this.#refreshes) {
      if (nowMs - startedAtMs < this.#options.maxAgeMs) break
      this.#refreshes.delete(name)
    }
    const missing = names.filter((name) => !this.#refreshes.has(name))
    if (missing.length > 0) {
      const begun = { startedAtMs: nowMs, done: refreshNow(missing) }
      for (const name of missing) this.#refreshes.set(name, begun)
    }
    await Promise.all(names.map((name) => this.#refreshes.get(name)?.done))
  }
}
