/**
 * Writes the head of a message into bytes, line by line, because one text of all lines would be
 * copied.
 */

/** Header lines that are produced when the head is sent. */
export interface HeadLines {
  /** @throws Error for a value that could inject another message */
  writeTo(head: HeadWriter): void
}

/** Reused for one head after the other, each within one turn of the event loop. */
export class HeadWriter {
  readonly #bytes: Buffer
  readonly #from: number
  #end: number

  constructor(bytes: Buffer, from: number) {
    this.#bytes = bytes
    this.#from = from
    this.#end = from
  }

  get end(): number {
    return this.#end
  }

  toString(): string {
    return this.#bytes.toString('latin1', this.#from, this.#end)
  }

  /**
   * Starts a new head.
   * @param first the first line, optionally with more lines, in Latin-1
   */
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

  /** @param text complete lines or a part of a line, in Latin-1 */
  text(text: string): void {
    this.#makeSure(text.length)
    if (text.length > FEW_CHARACTERS) latin1Write.call(this.#bytes, text, this.#end)
    else
      for (let index = 0; index < text.length; index += 1)
        this.#bytes[this.#end + index] = text.charCodeAt(index)
    this.#end += text.length
  }

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

  /** `latin1Write` truncates silently, so the length is checked first. */
  #makeSure(length: number): void {
    if (this.#end + length > this.#bytes.length)
      throw new RangeError('The head of a message is too long.')
  }
}

/** Below this length a loop is faster than the runtime's copy. */
const FEW_CHARACTERS = 24
/** `latin1Write` costs half as much as `write`, which first examines its arguments. */
export const { latin1Write } = Buffer.prototype as Buffer & {
  latin1Write(text: string, at: number): number
}

/** A tab, a visible character, or a byte above 0x7f (RFC 9110 §5.5). */
function isOfValue(code: number): boolean {
  return code >= 0x20 ? code !== 0x7f && code <= 0xff : code === 0x09
}

function unusableValue(name: string): Error {
  return new Error(`The header ${name} has an invalid value.`)
}

/** @throws Error for a value that could inject another message */
export function fieldLine(name: string, value: string): string {
  if (NOT_IN_VALUES.test(value)) throw unusableValue(name)
  return `${name}: ${value}\r\n`
}

const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
