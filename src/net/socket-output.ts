/** Writes bytes to one socket at the pace at which the kernel accepts them. */
import { HeadWriter } from './head-writer.ts'

export interface WritableSocket {
  /** @returns how many bytes the kernel accepted; negative: the socket is closed */
  write(bytes: Uint8Array, from: number, length: number): number
}

/** Bytes up to this size are copied into `scratch` and sent in one write. */
export const SCRATCH_BYTES = 256 * 1024
/**
 * AMD processors copy at a sixteenth of their speed when the target is a few bytes further into its
 * page than the source (`rep movsb`). Large buffers are page-aligned, so the scratch area begins
 * well inside a page.
 */
export const SCRATCH_FROM = 1024
/** Filled and sent within one turn of the event loop; never retained. */
export const scratch = Buffer.allocUnsafeSlow(SCRATCH_FROM + SCRATCH_BYTES)
export const head = new HeadWriter(scratch, SCRATCH_FROM)

/** A closed socket reports itself; until then bytes are queued. */
export class SocketOutput {
  readonly #socket: WritableSocket
  #unsent: Uint8Array[] = []
  #isClosed = false

  constructor(socket: WritableSocket) {
    this.#socket = socket
  }

  get isWaiting(): boolean {
    return this.#unsent.length > 0
  }

  /**
   * Sends `scratch` from `SCRATCH_FROM` on.
   * @param piece the source of the bytes from `at` on, so an unsent rest needs no copy
   * @returns true when anything may have been sent
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
   * Sends bytes without a copy; they must not be modified afterwards.
   * @returns true when anything may have been sent
   */
  sendOwned(bytes: Uint8Array): boolean {
    const sent = this.#write(bytes, 0, bytes.byteLength)
    if (sent < bytes.byteLength) this.keep(bytes.subarray(Math.max(0, sent)))
    return sent >= 0
  }

  /**
   * Like `sendOwned` for each part in order.
   * @returns true when anything may have been sent, also when the socket closed after a part
   */
  sendAll(parts: readonly Uint8Array[]): boolean {
    let isSent = false
    for (const part of parts) {
      if (!this.sendOwned(part)) return isSent
      isSent = true
    }
    return isSent
  }

  /**
   * Sends queued bytes.
   * @returns how many were sent; negative: the socket is closed
   */
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
