/**
 * How many bytes of request bodies the process holds at once, for all callers together. It must not
 * know what is in them, nor who sent them.
 */
import { GatewayError } from '../core/errors.ts'

/** Bodies that are being read or sent on give their bytes back within moments. */
const RETRY_SECONDS = '1'

export class BodyRoom {
  readonly #maxBytes: number
  #heldBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Nothing, until something is taken. */
  open(): BodyShare {
    return new BodyShare(this)
  }

  /** @throws GatewayError `unavailable`, with `retry-after` */
  take(bytes: number): void {
    if (this.#heldBytes + bytes > this.#maxBytes)
      throw new GatewayError(
        'unavailable',
        'The gateway holds as many bytes of requests as it may at the moment. Try again soon.',
        { headers: { 'retry-after': RETRY_SECONDS } },
      )
    this.#heldBytes += bytes
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes
  }
}

/** What one call holds: from its first byte until it is settled. */
export class BodyShare {
  readonly #room: BodyRoom
  #bytes = 0

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** @throws GatewayError `unavailable`, with `retry-after` */
  take(bytes: number): void {
    this.#room.take(bytes)
    this.#bytes += bytes
  }

  /** Safe to call again. */
  giveBack(): void {
    this.#room.giveBack(this.#bytes)
    this.#bytes = 0
  }
}
