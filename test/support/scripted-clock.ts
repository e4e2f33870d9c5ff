/** A clock that only a test moves, from one timer to the next. */
import type { Timekeeper } from '../../src/core/clock.ts'

interface Timer {
  dueAt: number
  readonly everyMs: number | undefined
  readonly run: () => void
}

/** An ordinary time, so that no zero and no round number is right by chance. */
const STARTED_AT_MS = 1_790_000_123_456
const STARTED_ELAPSED_MS = 4_321.5

/** Work that still runs after this time never ends. */
const LONGEST_MS = 10 * 60_000

/** Steps of the event loop after which nothing happens without a timer. */
const TURNS = 4

export class ScriptedClock implements Timekeeper {
  readonly #timers = new Set<Timer>()
  #passedMs = 0
  #setByMs = 0

  now(): number {
    return Math.floor(STARTED_AT_MS + this.#passedMs + this.#setByMs)
  }

  elapsed(): number {
    return STARTED_ELAPSED_MS + this.#passedMs
  }

  after(ms: number, run: () => void): () => void {
    return this.#add({ dueAt: this.#passedMs + ms, everyMs: undefined, run })
  }

  every(ms: number, run: () => void): () => void {
    return this.#add({ dueAt: this.#passedMs + ms, everyMs: ms, run })
  }

  get passedMs(): number {
    return this.#passedMs
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Sets the machine's clock, or lets the machine sleep; no time passes. */
  jump(ms: number): void {
    this.#setByMs += ms
  }

  /** Lets time pass without firing timers. */
  pass(ms: number): void {
    this.#passedMs += ms
  }

  async advance(ms: number): Promise<void> {
    const until = this.#passedMs + ms
    for (;;) {
      await this.idle()
      const next = this.#next()
      if (next === undefined || next.dueAt > until) break
      this.#fire(next)
    }
    this.#passedMs = until
    await this.idle()
  }

  /**
   * Lets time pass until the work is done.
   * @throws when no timer is left that could end the work
   */
  async finish<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const end = () => {
      isOver = true
    }
    work.then(end, end)
    const until = this.#passedMs + LONGEST_MS
    for (;;) {
      await this.idle()
      if (isOver) return await work
      const next = this.#next()
      if (next === undefined)
        throw new Error('This hangs for ever: no timer is set that could end it.')
      if (next.dueAt > until) throw new Error(`This goes on for more than ${LONGEST_MS} ms.`)
      this.#fire(next)
    }
  }

  async idle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1)
      await new Promise((resolve) => setImmediate(resolve))
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** The earliest timer; of several at the same time, the timer that was set first. */
  #next(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers)
      if (next === undefined || timer.dueAt < next.dueAt) next = timer
    return next
  }

  #fire(timer: Timer): void {
    this.#passedMs = Math.max(this.#passedMs, timer.dueAt)
    if (timer.everyMs === undefined) this.#timers.delete(timer)
    else timer.dueAt += timer.everyMs
    timer.run()
  }
}
