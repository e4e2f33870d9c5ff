/**
 * Counts attempts by name (an address, an email) in a window of time. Its memory is bounded; it
 * knows nothing of what is tried.
 */

export interface ThrottleOptions {
  /** How many attempts a name has within the window. */
  readonly attempts: number
  readonly windowMs: number
  /** How many names are kept; the one whose window ends first goes first. */
  readonly maxNames?: number
  /** Milliseconds since any fixed point. */
  readonly now?: () => number
}

interface Window {
  count: number
  readonly endsAt: number
}

const DEFAULT_MAX_NAMES = 10_000

export class Throttle {
  readonly #options: ThrottleOptions
  readonly #maxNames: number
  readonly #now: () => number
  /**
   * In the order in which their windows end: each is as long as the other, and a name that comes
   * anew is put last.
   */
  readonly #windows = new Map<string, Window>()

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#maxNames = options.maxNames ?? DEFAULT_MAX_NAMES
    this.#now = options.now ?? (() => performance.now())
  }

  /**
   * Counts an attempt beforehand, so that attempts side by side count too.
   * @returns 0, or for how many ms the name has to wait
   */
  take(name: string): number {
    const now = this.#now()
    const window = this.#windows.get(name)
    if (window === undefined || window.endsAt <= now) {
      this.#windows.delete(name)
      this.#makeRoom(now)
      this.#windows.set(name, { count: 1, endsAt: now + this.#options.windowMs })
      return 0
    }
    if (window.count >= this.#options.attempts) return window.endsAt - now
    window.count += 1
    return 0
  }

  /** Takes one attempt back: it was none. */
  giveBack(name: string): void {
    const window = this.#windows.get(name)
    if (window !== undefined && window.count > 0) window.count -= 1
  }

  get size(): number {
    return this.#windows.size
  }

  #makeRoom(now: number): void {
    for (const [name, window] of this.#windows) {
      if (window.endsAt > now && this.#windows.size < this.#maxNames) return
      this.#windows.delete(name)
    }
  }
}
