/**
 * The bytes on their way into one socket, at the pace at which the kernel takes them. Knows neither
 * what they say nor who reads them.
 */
import { HeadWriter } from './head-writer.ts'

/** The part of a socket that takes bytes. */
export interface WritableSocket {
  /** @returns how many of them the kernel took; negative: the socket is closed */
  write(bytes: Uint8Array, from: number, length: number): number
}

/** Bytes up to this size are put together in `scratch` and leave in one write. */
export const SCRATCH_BYTES = 256 * 1024
/**
 * Large memory begins where a page does, a body's as well. To a place that is a few bytes further
 * into its page than its source processors of AMD copy at a sixteenth of their pace (`rep movsb`).
 * So what is put together begins well inside its page.
 */
export const SCRATCH_FROM = 1024
/** Filled and sent in one turn of the event loop: never kept. */
export const scratch = Buffer.allocUnsafeSlow(SCRATCH_FROM + SCRATCH_BYTES)
/** Writes the head of what lies there. */
export const head = new HeadWriter(scratch, SCRATCH_FROM)

/** A socket that is closed tells so by itself: until then bytes wait for it. */
export class SocketOutput {
  readonly #socket: WritableSocket
  /** Bytes that the kernel did not take yet, in order. */
  #unsent: Uint8Array[] = []
  #isClosed = false

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  /** The kernel has yet to take some of what was sent. */
  get isWaiting(): boolean {
    return this.#unsent.length > 0
  }

  /**
   * Sends what lies in `scratch` from `SCRATCH_FROM` on.
   * @param piece which lies there from `at` on too: what is left of it needs no copy
   * @returns whether anything can have been sent
   */
  sendScratch(end: number, piece: Uint8Array = NOTHING, at = end): boolean {
    const sent = this.#write(scratch, SCRATCH_FROM, end - SCRATCH_FROM)
    const to = SCRATCH_FROM + Math.max(0, sent)
    if (to === end) return true
    const pieceEnd = at + piece.byteLength
    if (to < at) this.keep(new Uint8Array(scratch.subarray(to, at)))
    if (to < pieceEnd) this.keep(piece.subarray(Math.max(0, to - at)))
    this.keep(new Uint8Array(scratch.subarray(Math.max(to, pieceEnd), end)))
    return sent >= 0
  }

  /**
   * Needs no copy: nobody writes over the bytes.
   * @returns whether anything can have been sent
   */
  sendOwned(bytes: Uint8Array): boolean {
    const sent = this.#write(bytes, 0, bytes.byteLength)
    if (sent < bytes.byteLength) this.keep(bytes.subarray(Math.max(0, sent)))
    return sent >= 0
  }

  /**
   * One after the other, as `sendOwned` does.
   * @returns whether anything can have been sent, also where the socket closed after a part
   */
  sendAll(parts: readonly Uint8Array[]): boolean {
    let isSent = false
    for (const part of parts) {
      if (!this.sendOwned(part)) return isSent
      isSent = true
    }
    return isSent
  }

  /** Sends what waited. @returns how many bytes of it; negative: the socket is closed */
  drain(): number {
    let all = 0
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const sent = this.#socket.write(first, 0, first.byteLength)
      if (sent < 0) return sent
      all += sent
      if (sent < first.byteLength) {
        this.#unsent[0] = first.subarray(sent)
        return all
      }
      this.#unsent.shift()
    }
    return all
  }

  /** Nobody waits for anything any more. */
  close(): void {
    this.#isClosed = true
    this.#unsent = []
  }

  protected keep(rest: Uint8Array): void {
    if (!this.#isClosed && rest.byteLength > 0) this.#unsent.push(rest)
  }

  #write(bytes: Uint8Array, from: number, length: number): number {
    return this.#unsent.length > 0 ? 0 : this.#socket.write(bytes, from, length)
  }
}

const NOTHING = new Uint8Array(0)
