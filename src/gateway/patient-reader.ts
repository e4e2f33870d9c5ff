/** Waits for an upstream and, when it is silent for long, says so, so that the client's connection can be kept alive. */
import type { Deadline, Deadlines, DueCause } from '../upstream/deadlines.ts'

/**
 * A comment that clients ignore. Not `: ping`: one FIM client takes that for the end (wire.md §1.3).
 */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

/** In place of what the source reads. */
export const SILENCE = Symbol('silence')

export class PatientReader<T> {
  readonly #source: { read(): Promise<T> }
  readonly #deadlines: Deadlines
  readonly #silenceMs: number
  readonly #deadline: Deadline
  #reading: Promise<T> | undefined
  #onSilence: (() => void) | undefined

  constructor(source: { read(): Promise<T> }, deadlines: Deadlines, silenceMs: number) {
    this.#source = source
    this.#deadlines = deadlines
    this.#silenceMs = silenceMs
    this.#deadline = { dueAt: Number.POSITIVE_INFINITY, onDue: (cause) => this.#onDue(cause) }
    deadlines.add(this.#deadline)
  }

  /** Reads what the source has next, or SILENCE after one. @throws what the source throws */
  read(): Promise<T | typeof SILENCE> {
    this.#reading ??= this.#source.read()
    const reading = this.#reading
    return new Promise((resolve, reject) => {
      this.#onSilence = () => {
        // The deadline took itself out when it fell due.
        this.#deadlines.add(this.#deadline)
        this.#deadline.dueAt = this.#deadlines.now() + this.#silenceMs
        resolve(SILENCE)
      }
      this.#deadline.dueAt = this.#deadlines.now() + this.#silenceMs
      reading.then((chunk) => {
        this.#reading = undefined
        resolve(chunk)
      }, reject)
    })
  }

  #onDue(cause: DueCause): void {
    // Otherwise the exchange itself fails, and that is what the client is told.
    if (cause === 'due') this.#onSilence?.()
  }

  close(): void {
    this.#onSilence = undefined
    this.#deadlines.remove(this.#deadline)
  }
}
