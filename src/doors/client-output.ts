/**
 * The bytes on their way to one client, at the pace at which it takes them. Knows neither requests
 * nor what is sent.
 */
import type { Socket } from 'bun'

/** Pieces up to this size are put together with what frames them and leave in one write. */
const SCRATCH_BYTES = 256 * 1024

export class ClientOutput {
  readonly #socket: Socket<unknown>
  readonly #now: () => number
  /** Bytes that the kernel did not take yet, in order. */
  #unsent: Uint8Array[] = []
  #drained: PromiseWithResolvers<void> | undefined
  #isClosed = false
  /** When the client took something of them last. */
  takenAt = 0

  /** @param now in milliseconds, on a scale of its own */
  constructor(socket: Socket<unknown>, now: () => number) {
    this.#socket = socket
    this.#now = now
  }

  /** The client has yet to take some of what was sent. */
  get isWaiting(): boolean {
    return this.#unsent.length > 0
  }

  /** A head, or one with the body behind it. @param body nobody writes over it */
  send(head: string, body: Uint8Array = NOTHING): void {
    if (head.length + body.byteLength <= SCRATCH_BYTES) {
      const at = scratch.write(head, 0, 'latin1')
      scratch.set(body, at)
      this.#sendScratch(at + body.byteLength, body, at)
    } else {
      this.#sendOwned(Buffer.from(head, 'latin1'))
      this.#sendOwned(body)
    }
  }

  /**
   * A piece of a body, as a chunk or as it is.
   * @param head what goes out before the first piece
   * @param piece nobody writes over it
   * @returns a promise while the client does not keep up
   */
  sendPiece(head: string, piece: Uint8Array, isChunked: boolean): Promise<void> | undefined {
    const frame = isChunked ? `${piece.byteLength.toString(16)}\r\n` : ''
    const length = head.length + frame.length + piece.byteLength + CRLF.length
    if (length <= SCRATCH_BYTES) {
      const at = scratch.write(head + frame, 0, 'latin1')
      scratch.set(piece, at)
      let end = at + piece.byteLength
      if (isChunked) {
        scratch[end] = CR
        scratch[end + 1] = LF
        end += CRLF.length
      }
      this.#sendScratch(end, piece, at)
    } else {
      this.#sendOwned(Buffer.from(head + frame, 'latin1'))
      this.#sendOwned(piece)
      if (isChunked) this.#sendOwned(CRLF)
    }
    if (this.#unsent.length === 0) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Sends what waited. @returns whether the client has all of it */
  drain(): boolean {
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const sent = this.#write(first, first.byteLength)
      if (sent > 0) this.takenAt = this.#now()
      if (sent < first.byteLength) {
        this.#unsent[0] = first.subarray(sent)
        return false
      }
      this.#unsent.shift()
    }
    this.#drained?.resolve()
    this.#drained = undefined
    return true
  }

  /** The client is gone: nobody waits for it any more. */
  close(): void {
    this.#isClosed = true
    this.#unsent = []
    this.#drained?.resolve()
  }

  /**
   * Sends what lies in `scratch`.
   * @param piece which lies there from `at` on too: what of it is left needs no copy
   */
  #sendScratch(length: number, piece: Uint8Array, at: number): void {
    const sent = this.#unsent.length > 0 ? 0 : this.#write(scratch, length)
    if (sent === length) return
    const end = at + piece.byteLength
    if (sent < at) this.#keep(new Uint8Array(scratch.subarray(sent, at)))
    if (sent < end) this.#keep(piece.subarray(Math.max(0, sent - at)))
    this.#keep(new Uint8Array(scratch.subarray(Math.max(sent, end), length)))
  }

  #sendOwned(bytes: Uint8Array): void {
    const sent = this.#unsent.length > 0 ? 0 : this.#write(bytes, bytes.byteLength)
    if (sent < bytes.byteLength) this.#keep(bytes.subarray(sent))
  }

  #write(bytes: Uint8Array, length: number): number {
    // A socket that is closed tells so by itself.
    return Math.max(0, this.#socket.write(bytes, 0, length))
  }

  #keep(rest: Uint8Array): void {
    if (this.#isClosed || rest.byteLength === 0) return
    if (this.#unsent.length === 0) this.takenAt = this.#now()
    this.#unsent.push(rest)
  }
}

const NOTHING = new Uint8Array(0)
const CRLF = Buffer.from('\r\n')
const CR = 0x0d
const LF = 0x0a
/** Filled and sent in one turn of the event loop: never kept. */
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
