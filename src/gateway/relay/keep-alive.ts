/**
 * Comments that keep a client's connection alive while whoever answers it is silent. It must not
 * know who that is.
 */
import type { Deadline, Deadlines, DueCause } from '../../net/deadlines.ts'
import type { AnswerSink } from '../../net/streamed-answer.ts'

/**
 * A comment that clients ignore. Not `: ping`: one FIM client takes that for the end (wire.md
 * §1.3).
 */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

export interface KeepAlivePorts {
  readonly deadlines: Deadlines
  /** Silence after which a comment keeps the client's connection alive, in milliseconds. */
  readonly keepAliveMs: number
}

export class KeepAlive {
  readonly #ports: KeepAlivePorts
  readonly #client: AnswerSink
  readonly #deadline: Deadline

  constructor(ports: KeepAlivePorts, client: AnswerSink) {
    this.#ports = ports
    this.#client = client
    this.#deadline = { dueAt: Number.POSITIVE_INFINITY, onDue: (cause) => this.#onDue(cause) }
    ports.deadlines.add(this.#deadline)
  }

  /** Fills the silence until the work is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.restart()
    try {
      return await work
    } finally {
      this.#deadline.dueAt = Number.POSITIVE_INFINITY
    }
  }

  /** The client has just been told something. */
  restart(): void {
    const { deadlines, keepAliveMs } = this.#ports
    this.#deadline.dueAt = deadlines.now() + keepAliveMs
  }

  close(): void {
    this.#ports.deadlines.remove(this.#deadline)
  }

  #onDue(cause: DueCause): void {
    // Otherwise the work itself fails, and the client gets that failure.
    if (cause !== 'due') return
    // The deadline took itself out when it fell due.
    this.#ports.deadlines.add(this.#deadline)
    this.restart()
    // A client that does not keep up loses nothing by it, and whoever answers it waits for it.
    this.#client.write(KEEP_ALIVE)?.catch(() => undefined)
  }
}
