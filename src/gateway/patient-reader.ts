/** Reads from an upstream and, when it is silent for long, says so, so that the client's connection can be kept alive. */
import type { Deadline, Deadlines, DueCause } from '../upstream/deadlines.ts'
import type { Exchange } from '../upstream/exchange.ts'

/**
 * A comment that clients ignore. Not `: ping`: one FIM client takes that for the end (wire.md §1.3).
 */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

export class PatientReader {
  readonly #exchange: Exchange
  readonly #deadlines: Deadlines
  readonly #silenceMs: number
  readonly #deadline: Deadline
  #reading: Promise<Uint8Array | undefined> | undefined
  #onSilence: (() => void) | undefined

  constructor(exchange: Exchange, deadlines: Deadlines, silenceMs: number) {
    this.#exchange = exchange
    this.#deadlines = deadlines
    this.#silenceMs = silenceMs
    this.#deadline = { dueAt: Number.POSITIVE_INFINITY, onDue: (cause) => this.#onDue(cause) }
    deadlines.add(this.#deadline)
  }

  /** The next chunk, undefined at the clean end, or KEEP_ALIVE after a silence. @throws UpstreamFailure */
  read(): Promise<Uint8Array | undefined> {
    this.#reading ??= this.#exchange.read()
    const reading = this.#reading
    return new Promise((resolve, reject) => {
      this.#onSilence = () => {
        // The deadline took itself out when it fell due.
        this.#deadlines.add(this.#deadline)
        this.#deadline.dueAt = this.#deadlines.now() + this.#silenceMs
        resolve(KEEP_ALIVE)
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
