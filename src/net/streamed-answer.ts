/** A streamed answer: its pieces, sent at the client's pace, and its end. */
import type { HeadLines } from './head-writer.ts'
import { type Answer, type HeadedAnswer, toHeaders } from './messages.ts'

export class AnswerProgress {
  taken = 0
  #isOver = false
  readonly #waiting: (() => void)[] = []

  /** Calls `run` once, immediately if the answer is over. */
  whenOver(run: () => void): void {
    if (this.#isOver) run()
    else this.#waiting.push(run)
  }

  /** Called before the end is sent. Idempotent. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const run of this.#waiting.splice(0)) run()
  }
}

export interface AnswerSink {
  /**
   * Sends a piece, in this turn if the client keeps up. Discarded after the client left.
   * @returns a promise while the client reads too slowly; await it to bound memory
   */
  write(piece: Uint8Array): Promise<void> | undefined
  /**
   * Like `write`, for text with one character per byte.
   * @param isLast no more text follows, so the end of the answer is sent with this text
   */
  writeText(piece: string, isLast?: boolean): Promise<void> | undefined
  readonly isLeft: boolean
  /**
   * Calls `run` when the client leaves, immediately if it has left. Only the last callback is kept.
   */
  whenLeft(run: () => void): void
  /**
   * Closes the connection, so the client does not take the answer as complete. For failures that
   * are already logged and reported to the client.
   */
  cut(): void
}

/** Sends a whole answer. An error closes the connection, as `AnswerSink.cut` does. */
export type SendPieces = (client: AnswerSink) => Promise<void>

export interface StreamedAnswerInit {
  readonly status?: number
  readonly headers: Headers | Readonly<Record<string, string>>
  /** Called when the client left before `send` was called. */
  readonly onLeft?: () => Promise<void>
}

export class StreamedAnswer extends Response {
  readonly progress: AnswerProgress
  /** The body as the server reads it: pulled once, or cancelled before. */
  readonly source: DirectSource

  constructor(
    send: SendPieces | DirectSource,
    { status = 200, headers, onLeft }: StreamedAnswerInit,
  ) {
    const source = send instanceof DirectSource ? send : new DirectSource(send, onLeft)
    super(new ReadableStream(source), { status, headers })
    this.source = source
    this.progress = source.progress
  }
}

/** A streamed answer without the runtime's objects, which cost more than sending the head. */
export class HeadedStream implements HeadedAnswer {
  readonly status: number
  readonly source: DirectSource
  readonly lines: string
  readonly more: HeadLines | undefined

  constructor(status: number, lines: string, source: DirectSource, more?: HeadLines) {
    this.status = status
    this.source = source
    this.lines = lines
    this.more = more
  }

  toResponse(): StreamedAnswer {
    return new StreamedAnswer(this.source, { status: this.status, headers: toHeaders(this) })
  }
}

export function progressOf(answer: Answer): AnswerProgress | undefined {
  return answer instanceof HeadedStream || answer instanceof StreamedAnswer
    ? answer.source.progress
    : undefined
}

/**
 * The runtime's controller or the server's own. Its promises also resolve when the client leaves.
 * Text has one character per byte.
 */
interface DirectController extends Pick<ReadableStreamDirectController, 'flush' | 'close'> {
  write(piece: Uint8Array<ArrayBuffer>): number | Promise<number>
  writeText?(piece: string, isLast: boolean): number | Promise<number>
}

/** Cheaper than an async generator: the runtime takes a piece in the same turn. */
export class DirectSource implements AnswerSink {
  readonly type = 'direct'
  readonly progress = new AnswerProgress()
  readonly #send: SendPieces
  readonly #onLeft: (() => Promise<void>) | undefined
  #controller: DirectController | undefined
  #sending: Promise<void> | undefined
  #whenLeft: (() => void) | undefined
  #isCut = false
  isLeft = false

  constructor(send: SendPieces, onLeft: (() => Promise<void>) | undefined) {
    this.#send = send
    this.#onLeft = onLeft
  }

  /** The server calls `pull` once; a reader in this process calls `pull` for each piece. */
  pull(controller: DirectController): Promise<void> {
    this.#controller = controller
    this.#sending ??= this.#sendAll(controller)
    return this.#sending
  }

  cancel(): void | Promise<void> {
    this.isLeft = true
    this.progress.end()
    if (this.#sending === undefined) return this.#onLeft?.()
    this.#whenLeft?.()
  }

  whenLeft(run: () => void): void {
    this.#whenLeft = run
    if (this.isLeft) run()
  }

  cut(): void {
    this.#isCut = true
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    if (piece.byteLength === 0 || this.isLeft) return undefined
    const controller = this.#controller
    return this.#sent(controller?.write(piece as Uint8Array<ArrayBuffer>))
  }

  writeText(piece: string, isLast = false): Promise<void> | undefined {
    if (piece === '' || this.isLeft) return undefined
    const controller = this.#controller
    if (controller?.writeText === undefined) return this.write(Buffer.from(piece, 'latin1'))
    return this.#sent(controller.writeText(piece, isLast))
  }

  #sent(taking: number | Promise<number> | undefined): Promise<void> | undefined {
    this.#controller?.flush()
    if (taking instanceof Promise) return this.#whenTaken(taking)
    this.progress.taken += 1
    return undefined
  }

  async #whenTaken(taking: Promise<number>): Promise<void> {
    await taking
    this.progress.taken += 1
  }

  async #sendAll(controller: DirectController): Promise<void> {
    try {
      await this.#send(this)
    } finally {
      this.progress.end()
    }
    if (this.isLeft) return
    // Servers close the connection when a source fails.
    if (this.#isCut) throw new Error('The answer is cut off.')
    controller.close()
  }
}

/** Sends an answer piece by piece, each after the client took the previous piece. */
export function sendEach(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): SendPieces {
  return async (client) => {
    for await (const piece of pieces) {
      await client.write(piece)
      if (client.isLeft) break
    }
  }
}
