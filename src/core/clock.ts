/** Time as a dependency, so limits and journals can be tested without waiting. */

export interface Clock {
  /**
   * Milliseconds since the Unix epoch by the machine's clock, which jumps when somebody sets the
   * clock.
   */
  now(): number
}

export interface Stopwatch {
  /** Milliseconds with fractions since an arbitrary time; monotonic. */
  elapsed(): number
}

/**
 * Smaller differences between the clocks of two machines are ignored: an HTTP date has whole
 * seconds, and sign-in and signatures tolerate minutes.
 */
export const TOLERATED_SKEW_MS = 60_000

/** A clock that also measures and waits: the only time source of the hot path. */
export interface Timekeeper extends Clock, Stopwatch {
  after(ms: number, run: () => void): () => void
  /**
   * Calls `run` at an even pace without keeping the process alive. The first run may come half a
   * second later, so jobs run together. A job whose pause depends on its outcome sets its own
   * timer.
   * @returns a function that stops the job
   */
  every(ms: number, run: () => void): () => void
}

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
 * Jobs at multiples of a beat share a timer, so an idle process wakes once for all jobs: waking
 * costs more than the jobs.
 */
class Beat {
  readonly #jobs = new Set<Job>()
  #end: (() => void) | undefined

  /** The first run comes after this many whole beats, never early. */
  add(beats: number, run: () => void): () => void {
    // The current beat began earlier, so the job waits for an additional beat.
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
        // An error must not stop the other jobs, so the error is rethrown outside the loop.
        queueMicrotask(() => {
          throw thrown
        })
      }
    }
  }
}

const BEAT_MS = 500
const beat = new Beat()

/** Milliseconds since the Unix epoch: the expected time, and the clock's time. */
export interface ClockStep {
  readonly fromMs: number
  readonly toMs: number
}

const LOOK_MS = 1_000
/**
 * Minimum jump that counts as a set clock. Time synchronisation corrects a clock by less, and
 * slowly.
 */
const LEAST_STEP_MS = 2_000

/**
 * Detects that somebody set the machine's clock, or that the machine slept.
 * @returns a function that stops the detection
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
