/**
 * Looks each name up at most once within a time: those who ask meanwhile share the look. Must not
 * know what is looked up.
 */

export interface LooksOptions {
  /** A look is repeated when it is older than this. */
  readonly maxAgeMs: number
  /** Milliseconds on a scale that never jumps. */
  readonly now: () => number
}

interface Look {
  readonly startedAtMs: number
  readonly done: Promise<void>
}

export class Looks {
  readonly #options: LooksOptions
  /** In the order in which they began. */
  readonly #looks = new Map<string, Look>()

  constructor(options: LooksOptions) {
    this.#options = options
  }

  /**
   * Resolves when each of these was looked at, not too long ago.
   * @param look is given those that have to be looked at now
   * @throws what a look has thrown (rejects)
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
