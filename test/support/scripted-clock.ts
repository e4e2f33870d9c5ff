/**
 * Time that passes only when a test says so: from one timer to the next, in no time. It must not
 * know what is timed.
 */
import type { Timekeeper } from '../../src/core/clock.ts'

interface Timer {
  dueAt: number
  /** Undefined: it falls due once. */
  readonly everyMs: number | undefined
  readonly run: () => void
}

/** An ordinary moment, so that no zero and no round number is right by chance. */
const STARTED_AT_MS = 1_790_000_123_456
const STARTED_ELAPSED_MS = 4_321.5

/** Whatever still runs after so much time will never end. */
const LONGEST_MS = 10 * 60_000

/**
 * Turns of the event loop after which nothing happens any more of itself: there are no sockets and
 * no files here, so all that can happen follows from promises, and a body that is a stream takes a
 * turn or two more.
 */
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

  /** Since the test began, in milliseconds. */
  get passedMs(): number {
    return this.#passedMs
  }

  /** How many waits have not fallen due. */
  get pending(): number {
    return this.#timers.size
  }

  /** The machine's clock is set by so much, or the machine slept: no time passes by it. */
  jump(ms: number): void {
    this.#setByMs += ms
  }

  /** Lets so much time pass for whoever sets no timers. */
  pass(ms: number): void {
    this.#passedMs += ms
  }

  /** Lets so much time pass, and with it all that falls due. */
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

  /** Lets time pass until the work is done. @throws when nothing is left that could ever end it */
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

  /** Lets everything happen that needs no more time. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1)
      await new Promise((resolve) => setImmediate(resolve))
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** The earliest; of several at the same moment the one that was set first. */
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
