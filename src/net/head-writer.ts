/**
 * Writes the head of a message into bytes, line by line: a text of all of it would be made only to
 * be copied. Knows no connection and no name.
 */

/** Lines of a head that are written when it is sent. */
export interface HeadLines {
  /** @throws Error for a value that could hold a whole message of its own */
  writeTo(head: HeadWriter): void
}

/** Used for one head after the other, each within one turn of the event loop. */
export class HeadWriter {
  readonly #bytes: Buffer
  readonly #from: number
  #end: number

  /** @param from the head's place in the bytes */
  constructor(bytes: Buffer, from: number) {
    this.#bytes = bytes
    this.#from = from
    this.#end = from
  }

  /** The end of the head in the bytes. */
  get end(): number {
    return this.#end
  }

  /** The head so far, one character a byte. */
  toString(): string {
    return this.#bytes.toString('latin1', this.#from, this.#end)
  }

  /** Begins anew. @param first its first line, and what follows it, in Latin-1 */
  begin(first: string | Uint8Array): void {
    this.#end = this.#from
    if (typeof first === 'string') {
      this.text(first)
      return
    }
    this.#makeSure(first.byteLength)
    this.#bytes.set(first, this.#end)
    this.#end += first.byteLength
  }

  /** @param text lines or a part of one, in Latin-1 */
  text(text: string): void {
    this.#makeSure(text.length)
    if (text.length > FEW_CHARACTERS) latin1Write.call(this.#bytes, text, this.#end)
    else
      for (let index = 0; index < text.length; index += 1)
        this.#bytes[this.#end + index] = text.charCodeAt(index)
    this.#end += text.length
  }

  /** @throws Error for a value that could hold a whole message of its own */
  field(name: string, value: string): void {
    this.text(name)
    this.text(': ')
    this.#makeSure(value.length)
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index)
      if (!isOfValue(code)) throw unusableValue(name)
      this.#bytes[this.#end + index] = code
    }
    this.#end += value.length
    this.text('\r\n')
  }

  /** The bytes take what they have room for, and leave out the rest without a word. */
  #makeSure(length: number): void {
    if (this.#end + length > this.#bytes.length)
      throw new RangeError('The head of a message is too long.')
  }
}

/** Calling the runtime to copy costs more than copying these. */
const FEW_CHARACTERS = 24
/** Half of the price of `write`, which has to find out what it is asked for. */
export const { latin1Write } = Buffer.prototype as Buffer & {
  latin1Write(text: string, at: number): number
}

/** A tab, or what can be seen, or any byte above (RFC 9110 §5.5). */
function isOfValue(code: number): boolean {
  return code >= 0x20 ? code !== 0x7f && code <= 0xff : code === 0x09
}

function unusableValue(name: string): Error {
  return new Error(`The header ${name} has a value that no header can have.`)
}

/**
 * A line of a head as text.
 * @throws Error for a value that could hold a whole message of its own
 */
export function fieldLine(name: string, value: string): string {
  if (NOT_IN_VALUES.test(value)) throw unusableValue(name)
  return `${name}: ${value}\r\n`
}

const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
