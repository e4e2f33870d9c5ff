/**
 * Time as a dependency, so that limits and journals can be tested without waiting. Must not know
 * what is timed.
 */

export interface Clock {
  /**
   * Milliseconds since the Unix epoch, as the machine has them now: it jumps when the machine's
   * clock is set.
   */
  now(): number
}

/** Measures durations and deadlines. */
export interface Stopwatch {
  /**
   * Milliseconds and parts of them, since nobody says when, on a scale that never jumps and never
   * goes back.
   */
  elapsed(): number
}

/** A clock that also measures and waits: all the time that the hot path knows. */
export interface Timekeeper extends Clock, Stopwatch {
  /** Calls `run` once, so many milliseconds from now. @returns what calls it off */
  after(ms: number, run: () => void): () => void
  /**
   * Calls `run` every so many milliseconds, and keeps no process alive: the one way to repeat a job
   * at an even pace. The first time may come half a second later, so that jobs come together. A job
   * whose pause depends on its outcome sets its own timer.
   * @returns what ends it
   */
  every(ms: number, run: () => void): () => void
}

/** The machine's own. */
export const systemClock: Timekeeper = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  every: (ms, run) => (ms % BEAT_MS === 0 ? beat.add(ms / BEAT_MS, run) : repeat(ms, run)),
}

function repeat(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  timer.unref()
  return () => clearInterval(timer)
}

interface Job {
  readonly beats: number
  readonly run: () => void
  left: number
}

/**
 * Jobs at whole beats share a timer, and so a process that does nothing else is woken once for all
 * of them: waking costs it more than the jobs do.
 */
class Beat {
  readonly #jobs = new Set<Job>()
  #end: (() => void) | undefined

  /** Runs first when so many whole beats are over: never early. */
  add(beats: number, run: () => void): () => void {
    // The beat that is under way began before.
    const job = { beats, run, left: this.#end === undefined ? beats : beats + 1 }
    this.#jobs.add(job)
    this.#end ??= repeat(BEAT_MS, () => this.#strike())
    return () => {
      this.#jobs.delete(job)
      if (this.#jobs.size > 0) return
      this.#end?.()
      this.#end = undefined
    }
  }

  #strike(): void {
    for (const job of this.#jobs) {
      job.left -= 1
      if (job.left > 0) continue
      job.left = job.beats
      try {
        job.run()
      } catch (thrown) {
        // A timer of its own would end so; the others go on.
        queueMicrotask(() => {
          throw thrown
        })
      }
    }
  }
}

const BEAT_MS = 500
const beat = new Beat()

/** Milliseconds since the Unix epoch: what the clock would say, and what it says. */
export interface ClockStep {
  readonly fromMs: number
  readonly toMs: number
}

const LOOK_MS = 1_000
/** Clocks that are kept right are moved by less, and slowly. */
const LEAST_STEP_MS = 2_000

/**
 * Notices that the machine's clock was set, or that the machine slept.
 * @returns what ends it
 */
export function watchClock(clock: Timekeeper, onStep: (step: ClockStep) => void): () => void {
  let aheadMs = clock.now() - clock.elapsed()
  return clock.every(LOOK_MS, () => {
    const toMs = clock.now()
    const fromMs = Math.round(clock.elapsed() + aheadMs)
    if (Math.abs(toMs - fromMs) < LEAST_STEP_MS) return
    aheadMs += toMs - fromMs
    onStep({ fromMs, toMs })
  })
}
