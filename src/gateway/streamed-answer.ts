/**
 * An answer in pieces, and what its server has to know of it: whether its client takes them, and
 * when it is over. It must not know what is in them.
 */

export class AnswerProgress {
  /** How many pieces its client has asked for. */
  taken = 0
  #isOver = false
  readonly #waiting: (() => void)[] = []

  /** Calls `run` once, at once where it is over already. */
  whenOver(run: () => void): void {
    if (this.#isOver) run()
    else this.#waiting.push(run)
  }

  /** To be said by the body itself, before its end has gone out. Safe to call again. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const run of this.#waiting.splice(0)) run()
  }
}

export interface StreamedAnswerInit {
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
  /** The generator ends it. */
  readonly progress: AnswerProgress
  /**
   * The client left, perhaps before the generator was begun: one that was not runs no `finally`.
   */
  readonly onLeft?: () => unknown
}

export class StreamedAnswer extends Response {
  readonly progress: AnswerProgress

  /**
   * @param pieces is pulled at the client's pace: a slow reader slows its source instead of filling
   * memory
   */
  constructor(pieces: AsyncGenerator<Uint8Array>, init: StreamedAnswerInit) {
    const { status = 200, headers, progress } = init
    // Bun takes an async iterable as a body, which the web's own type does not know.
    super(watch(pieces, init) as unknown as ReadableStream<Uint8Array>, { status, headers })
    this.progress = progress
  }
}

function watch(
  pieces: AsyncGenerator<Uint8Array>,
  { progress, onLeft }: StreamedAnswerInit,
): AsyncGenerator<Uint8Array> {
  const { next, return: end } = pieces
  pieces.next = () => {
    progress.taken += 1
    return next.call(pieces)
  }
  pieces.return = async (value) => {
    const result = await end.call(pieces, value)
    progress.end()
    await onLeft?.()
    return result
  }
  return pieces
}

/**
 * More than this is handed over at the client's own pace: the runtime would give a slow client no
 * more time for much than for little.
 */
const MOST_AT_ONCE_BYTES = 1024 * 1024
const PIECE_BYTES = 256 * 1024

/** A body that is there as a whole. The runtime gives one in pieces no length. */
export function answerWhole(
  body: Uint8Array,
  { status, headers }: Omit<StreamedAnswerInit, 'progress'>,
): Response {
  if (body.byteLength <= MOST_AT_ONCE_BYTES) return new Response(body, { status: status ?? 200, headers })
  const progress = new AnswerProgress()
  return new StreamedAnswer(cut(body, progress), {
    ...(status === undefined ? {} : { status }),
    headers,
    progress,
  })
}

async function* cut(body: Uint8Array, progress: AnswerProgress): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < body.byteLength; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES)
  } finally {
    progress.end()
  }
}
