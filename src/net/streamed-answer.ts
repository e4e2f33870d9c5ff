/**
 * An answer in pieces, sent as they come at the pace of its client, and when it is over. It must
 * not know what is in them.
 */
import type { HeadLines } from './head-writer.ts'
import { type Answer, type HeadedAnswer, toHeaders } from './messages.ts'

/** The state of an answer on its way, for the server. */
export class AnswerProgress {
  /** How many pieces its client has taken. */
  taken = 0
  #isOver = false
  readonly #waiting: (() => void)[] = []

  /** Calls `run` once, at once where it is over already. */
  whenOver(run: () => void): void {
    if (this.#isOver) run()
    else this.#waiting.push(run)
  }

  /** Before its end has gone out. Safe to call again. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const run of this.#waiting.splice(0)) run()
  }
}

/** The client's end of an answer. */
export interface AnswerSink {
  /**
   * Sends a piece, in this turn where the client keeps up. A client that has left gets nothing.
   * @returns a promise while the client does not keep up: wait for it, or memory fills up
   */
  write(piece: Uint8Array): Promise<void> | undefined
  /**
   * The same for bytes that are there as text, one character each.
   * @param isLast nothing is written after it: the end of the answer leaves with it
   */
  writeText(piece: string, isLast?: boolean): Promise<void> | undefined
  /** The client has left. */
  readonly isLeft: boolean
  /** Calls `run` when the client leaves, at once where it has left. Only the last one counts. */
  whenLeft(run: () => void): void
  /**
   * Lets the answer end with its connection cut, so that no client takes it for whole. For a failure
   * that is written down already, and that the client has been told.
   */
  cut(): void
}

/** Sends all of an answer. Its connection is cut where it throws, as by `AnswerSink.cut`. */
export type SendPieces = (client: AnswerSink) => Promise<void>

export interface StreamedAnswerInit {
  readonly status?: number
  readonly headers: Headers | Readonly<Record<string, string>>
  /** The client left before `send` was called. */
  readonly onLeft?: () => Promise<void>
}

export class StreamedAnswer extends Response {
  readonly progress: AnswerProgress
  /** Its body as the server reads it: pulled once, or cancelled before. */
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

/** The same without the runtime's own objects, which cost more than to send the head. */
export class HeadedStream implements HeadedAnswer {
  readonly status: number
  readonly source: DirectSource
  readonly lines: string
  readonly more: HeadLines | undefined

  /** @param lines and `more`: see `WholeAnswer` */
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

/** @returns undefined for an answer that is over once it was handed over */
export function progressOf(answer: Answer): AnswerProgress | undefined {
  return answer instanceof HeadedStream || answer instanceof StreamedAnswer
    ? answer.source.progress
    : undefined
}

/**
 * The runtime's, or the server's own: its promises resolve also when the client leaves. Text is one
 * character a byte.
 */
interface DirectController extends Pick<ReadableStreamDirectController, 'flush' | 'close'> {
  write(piece: Uint8Array<ArrayBuffer>): number | Promise<number>
  writeText?(piece: string, isLast: boolean): number | Promise<number>
}

/** Costs less than an async generator: the runtime takes a piece in the turn in which it comes. */
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

  /** @param onLeft see `StreamedAnswerInit` */
  constructor(send: SendPieces, onLeft: (() => Promise<void>) | undefined) {
    this.#send = send
    this.#onLeft = onLeft
  }

  /** The server asks once; a reader in this process asks again for each piece. */
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
    // Servers cut the connection of a source that fails.
    if (this.#isCut) throw new Error('The answer is cut off.')
    controller.close()
  }
}

/** Sends an answer piece by piece, each when the client has taken the one before. */
export function sendEach(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): SendPieces {
  return async (client) => {
    for await (const piece of pieces) {
      await client.write(piece)
      if (client.isLeft) break
    }
  }
}
