/**
 * One piece of memory lent again and again for bytes that are used at once and copied by whoever
 * keeps them.
 */

/** What is kept between uses; a larger request gets memory of its own. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024
const SMALLEST_BYTES = 64 * 1024
/**
 * Large memory begins where a page does: the scratch buffer's as well as that of the body that is
 * copied. To a place that is a few bytes further into its page than its source, as behind a longer
 * model name, processors of AMD copy at a sixteenth of their pace (`rep movsb`). So what is lent
 * begins well inside its page, where there is room for that.
 */
const START = 1024

/**
 * New memory costs more than filling it: the system hands it out page by page, each cleared first,
 * and a megabyte has 256 of them. So the edited body of a request is written where the one before
 * it was.
 */
export class ScratchBuffer {
  #bytes = Buffer.alloc(0)

  /** Memory for `length` bytes with anything in it, lent until the next call. */
  take(length: number): Buffer {
    if (length > MAX_KEPT_BYTES) return Buffer.allocUnsafeSlow(START + length).subarray(START)
    if (length > this.#bytes.length) {
      const doubled = Math.max(START + length, this.#bytes.length * 2, SMALLEST_BYTES)
      this.#bytes = Buffer.allocUnsafeSlow(Math.min(doubled, MAX_KEPT_BYTES))
    }
    const start = Math.min(START, this.#bytes.length - length)
    return this.#bytes.subarray(start, start + length)
  }
}

/**
 * For the bodies of requests to upstreams. Whoever rewrites a request sends it in the same turn of
 * the event loop, and an exchange has written or copied its body when `send` returns
 * (docs/decisions/0043).
 */
export const requestScratch = new ScratchBuffer()
