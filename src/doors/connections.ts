/**
 * How long a connection is kept: for an answer as long as its client takes it, between requests for
 * a while, and not at all when there are nearly too many. Knows the server's clock for each
 * request, and no path.
 */
import type { Timekeeper } from '../core/clock.ts'
import { type AnswerProgress, StreamedAnswer } from '../gateway/relay/streamed-answer.ts'

export interface ConnectionLimits {
  /**
   * How long a connection may wait for its next request, or for the rest of a body that nobody
   * reads; milliseconds.
   */
  readonly idleMs: number
  /**
   * How long a client may take nothing of an answer in pieces, in milliseconds. Longer than any
   * silence of its source.
   */
  readonly stallMs: number
}

/** The runtime's server: closes a request's connection after so many seconds; 0: never. */
export interface IdleClock {
  timeout(request: Request, seconds: number): unknown
}

interface OpenAnswer {
  readonly request: Request
  readonly progress: AnswerProgress
  taken: number
  /** On the clock's `elapsed` scale. */
  takenAt: number
}

/** How often clients that take nothing are looked for, in milliseconds. */
const SWEEP_MS = 5_000

export class Connections {
  readonly #server: IdleClock
  readonly #clock: Pick<Timekeeper, 'elapsed' | 'every'>
  readonly #limits: ConnectionLimits
  readonly #open = new Set<OpenAnswer>()
  #endSweeps: (() => void) | undefined

  constructor(
    server: IdleClock,
    limits: ConnectionLimits,
    clock: Pick<Timekeeper, 'elapsed' | 'every'>,
  ) {
    this.#server = server
    this.#limits = limits
    this.#clock = clock
  }

  /** The gateway's own deadlines count from now on: a model may think for minutes. */
  begin(request: Request): void {
    this.#server.timeout(request, 0)
  }

  /** Call this before the answer goes out: the runtime ignores it later. */
  answered(request: Request, answer: Response): void {
    if (answer instanceof StreamedAnswer) this.#watch(request, answer.progress)
    else this.#rest(request)
  }

  #rest(request: Request): void {
    this.#server.timeout(request, Math.ceil(this.#limits.idleMs / 1000))
  }

  #watch(request: Request, progress: AnswerProgress): void {
    const open = { request, progress, taken: progress.taken, takenAt: this.#clock.elapsed() }
    this.#open.add(open)
    this.#endSweeps ??= this.#clock.every(SWEEP_MS, () => this.#sweep())
    progress.whenOver(() => {
      this.#open.delete(open)
      this.#rest(request)
    })
  }

  #sweep(): void {
    const now = this.#clock.elapsed()
    for (const open of this.#open) {
      if (open.taken !== open.progress.taken) {
        open.taken = open.progress.taken
        open.takenAt = now
      } else if (now - open.takenAt >= this.#limits.stallMs) {
        this.#open.delete(open)
        // The runtime closes it as soon as it can: in an answer there is no other way.
        this.#server.timeout(open.request, 1)
      }
    }
    if (this.#open.size > 0) return
    this.#endSweeps?.()
    this.#endSweeps = undefined
  }
}
