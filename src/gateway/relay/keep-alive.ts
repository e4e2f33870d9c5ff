/** Sends comments that keep a client's connection alive while its upstream is silent. */
import type { Deadline, Deadlines, DueCause } from '../../net/deadlines.ts'
import type { AnswerSink } from '../../net/streamed-answer.ts'

/**
 * Clients ignore comments. The text is not `ping`, because a FIM client ends a stream at that word.
 */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

export interface KeepAlivePorts {
  readonly deadlines: Deadlines
  /** Silence after which a comment is sent, in milliseconds. */
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

  async during<T>(work: Promise<T>): Promise<T> {
    this.restart()
    try {
      return await work
    } finally {
      this.#deadline.dueAt = Number.POSITIVE_INFINITY
    }
  }

  restart(): void {
    const { deadlines, keepAliveMs } = this.#ports
    this.#deadline.dueAt = deadlines.now() + keepAliveMs
  }

  close(): void {
    this.#ports.deadlines.remove(this.#deadline)
  }

  #onDue(cause: DueCause): void {
    // Every other cause makes the work itself fail, and the client gets that failure, so nothing is
    // done here.
    if (cause !== 'due') return
    // A due deadline is removed, so the deadline is added again.
    this.#ports.deadlines.add(this.#deadline)
    this.restart()
    // Not awaited: a slow client needs no comment, and the upstream waits for the client anyway.
    this.#client.write(KEEP_ALIVE)?.catch(() => undefined)
  }
}
