/** Buffers the bytes for one client and sends them at the client's pace. */
import type { Socket } from 'bun'
import { type HeadWriter, latin1Write } from './head-writer.ts'
import { SCRATCH_BYTES, SCRATCH_FROM, SocketOutput, scratch } from './socket-output.ts'

export class ClientOutput extends SocketOutput {
  readonly #now: () => number
  #drained: PromiseWithResolvers<void> | undefined
  takenAt = 0

  constructor(socket: Socket<unknown>, now: () => number) {
    super(socket)
    this.#now = now
  }

  send(text: string): void {
    if (text.length <= SCRATCH_BYTES) this.#sendScratchText(text)
    else this.sendOwned(Buffer.from(text, 'latin1'))
  }

  #sendScratchText(text: string): void {
    this.sendScratch(SCRATCH_FROM + latin1Write.call(scratch, text, SCRATCH_FROM))
  }

  /**
   * @param head a head in `scratch`
   * @param body must not be modified afterwards
   */
  sendHead({ end }: HeadWriter, body: Uint8Array): void {
    if (end + body.byteLength <= scratch.length) {
      scratch.set(body, end)
      this.sendScratch(end + body.byteLength, body, end)
    } else {
      this.sendScratch(end)
      this.sendOwned(body)
    }
  }

  /**
   * Sends a piece of a body, as a chunk or unframed.
   * @param head sent before the first piece
   * @param piece must not be modified afterwards
   * @returns a promise while the client reads too slowly
   */
  sendPiece(head: string, piece: Uint8Array, isChunked: boolean): Promise<void> | undefined {
    const frame = isChunked ? `${piece.byteLength.toString(16)}\r\n` : ''
    const length = head.length + frame.length + piece.byteLength + CRLF.length
    if (length <= SCRATCH_BYTES) {
      const at = SCRATCH_FROM + scratch.write(head + frame, SCRATCH_FROM, 'latin1')
      scratch.set(piece, at)
      let end = at + piece.byteLength
      if (isChunked) {
        scratch[end] = CR
        scratch[end + 1] = LF
        end += CRLF.length
      }
      this.sendScratch(end, piece, at)
    } else {
      this.sendOwned(Buffer.from(head + frame, 'latin1'))
      this.sendOwned(piece)
      if (isChunked) this.sendOwned(CRLF)
    }
    return this.#whenDrained()
  }

  /**
   * Like `sendPiece`, for text with one character per byte.
   * @param end sent after the text
   */
  sendText(
    head: string,
    piece: string,
    isChunked: boolean,
    end: string,
  ): Promise<void> | undefined {
    const text = isChunked ? `${head}${chunkHead(piece.length)}${piece}\r\n${end}` : head + piece
    if (text.length > SCRATCH_BYTES) {
      this.sendPiece(head, Buffer.from(piece, 'latin1'), isChunked)
      if (end !== '') this.send(end)
      return this.#whenDrained()
    }
    this.#sendScratchText(text)
    return this.#whenDrained()
  }

  #whenDrained(): Promise<void> | undefined {
    if (!this.isWaiting) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  override drain(): number {
    const sent = super.drain()
    if (sent > 0) this.takenAt = this.#now()
    if (!this.isWaiting) {
      this.#drained?.resolve()
      this.#drained = undefined
    }
    return sent
  }

  override close(): void {
    super.close()
    this.#drained?.resolve()
  }

  protected override keep(rest: Uint8Array): void {
    if (!this.isWaiting) this.takenAt = this.#now()
    super.keep(rest)
  }
}

export class PiecesSink {
  readonly #output: ClientOutput
  readonly #isChunked: boolean
  #head: string
  #end: string

  /** @param head all header lines except the body's framing and the empty line */
  constructor(output: ClientOutput, head: string, isChunked: boolean) {
    this.#output = output
    this.#head = `${head}${isChunked ? CHUNKED : ''}\r\n`
    this.#isChunked = isChunked
    this.#end = isChunked ? LAST_CHUNK : ''
  }

  begin(): void {
    if (this.#head !== '') this.#output.send(this.#takeHead())
  }

  write(piece: Uint8Array): number | Promise<number> {
    const slow = this.#output.sendPiece(this.#takeHead(), piece, this.#isChunked)
    return slow === undefined ? piece.byteLength : slow.then(() => piece.byteLength)
  }

  writeText(piece: string, isLast: boolean): number | Promise<number> {
    const end = isLast ? this.#takeEnd() : ''
    const slow = this.#output.sendText(this.#takeHead(), piece, this.#isChunked, end)
    return slow === undefined ? piece.length : slow.then(() => piece.length)
  }

  flush(): number {
    return 0
  }

  close(): void {}

  end(): void {
    if (this.#end !== '') this.#output.send(this.#takeEnd())
  }

  #takeEnd(): string {
    const end = this.#end
    this.#end = ''
    return end
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }
}

/** Events of all streams have similar lengths, so the heads are cached by length. */
const chunkHeads: string[] = new Array(1024).fill('')

function chunkHead(length: number): string {
  const known = chunkHeads[length]
  if (known !== undefined && known !== '') return known
  const head = `${length.toString(16)}\r\n`
  if (known !== undefined) chunkHeads[length] = head
  return head
}

const CHUNKED = 'transfer-encoding: chunked\r\n'
const LAST_CHUNK = '0\r\n\r\n'
const CRLF = Buffer.from('\r\n')
const CR = 0x0d
const LF = 0x0a
