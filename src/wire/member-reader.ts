/**
 * Reads small top-level members of a JSON object from its bytes as they pass, and keeps no other
 * bytes.
 */
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  parseJson,
  QUOTE,
} from './json-scan.ts'

/** Limit of bytes kept per member; usage reports are a hundredth of this size. */
const MAX_MEMBER_BYTES = 64 * 1024
const MAX_KEY_BYTES = 64
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * A longer string without spaces is an image or sound, not prose, and counts as this many bytes of
 * text.
 */
const MEDIA_STRING_BYTES = 4 * 1024
const MEDIA_AS_TEXT_BYTES = 6 * 1024
const SPACE = 0x20

export class MemberReader {
  readonly #wanted: ReadonlySet<string>
  readonly #found = new Map<string, unknown>()
  #depth = 0
  #isInString = false
  /** True if the last byte so far was a backslash that escapes the next byte. */
  #isEscaped = false
  #stringBytes = 0
  #hasSpace = false
  /** The last top-level string, until a colon shows that it is a key. */
  #key = ''
  #isKeyPossible = false
  #member: string | undefined
  #held: Uint8Array[] = []
  #heldBytes = 0
  /** Bytes of all strings so far, without top-level keys; media count at a flat size. */
  textBytes = 0

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted
  }

  push(chunk: Uint8Array): void {
    let at = 0
    let heldFrom = 0
    const { length } = chunk
    while (at < length) {
      if (this.#isInString) {
        at = this.#skipString(chunk, at)
        continue
      }
      const byte = chunk[at]
      if (byte === QUOTE) {
        this.#isInString = true
        this.#stringBytes = 0
        this.#hasSpace = false
        this.#key = ''
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#depth += 1
        if (this.#depth === 1) this.#isKeyPossible = byte === OPEN_BRACE
      } else if (this.#depth === 1 && byte === COLON && this.#isKeyPossible) {
        this.#isKeyPossible = false
        if (this.#wanted.has(this.#key)) {
          this.#member = this.#key
          heldFrom = at + 1
        }
      } else if (
        byte === CLOSE_BRACE ||
        byte === CLOSE_BRACKET ||
        (byte === COMMA && this.#depth === 1)
      ) {
        if (this.#depth === 1 && this.#member !== undefined) {
          this.#hold(chunk.subarray(heldFrom, at))
          this.#take(this.#member)
        }
        if (byte === COMMA) this.#isKeyPossible = true
        else this.#depth -= 1
      }
      at += 1
    }
    if (this.#member !== undefined) this.#hold(chunk.subarray(heldFrom))
  }

  /** Parsed with JSON.parse; invalid or too long values are omitted. */
  get members(): Record<string, unknown> {
    return Object.fromEntries(this.#found)
  }

  #skipString(chunk: Uint8Array, start: number): number {
    let at = start
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at)
      const end = quote < 0 ? chunk.length : quote
      const isEscaped = this.#endsEscaped(chunk, at, end)
      if (quote >= 0 && isEscaped) {
        this.#isEscaped = false
        at = quote + 1
        continue
      }
      this.#noteString(chunk, start, end)
      this.#isEscaped = quote < 0 && isEscaped
      if (quote < 0) return chunk.length
      this.#isInString = false
      if (!(this.#depth === 1 && this.#isKeyPossible)) this.#countString()
      return quote + 1
    }
  }

  #endsEscaped(chunk: Uint8Array, start: number, end: number): boolean {
    let at = end
    while (at > start && chunk[at - 1] === BACKSLASH) at -= 1
    const isOdd = (end - at) % 2 === 1
    return at === start && this.#isEscaped ? !isOdd : isOdd
  }

  #noteString(chunk: Uint8Array, start: number, end: number): void {
    this.#stringBytes += end - start
    // The search is expensive for many short strings, so only long strings are searched.
    if (!this.#hasSpace && this.#stringBytes > MEDIA_STRING_BYTES)
      this.#hasSpace = chunk.subarray(start, end).includes(SPACE)
    if (this.#depth !== 1 || !this.#isKeyPossible || this.#key.length > MAX_KEY_BYTES) return
    this.#key += Buffer.from(chunk.subarray(start, Math.min(end, start + MAX_KEY_BYTES))).toString(
      'latin1',
    )
  }

  #countString(): void {
    const isMedia = this.#stringBytes > MEDIA_STRING_BYTES && !this.#hasSpace
    this.textBytes += isMedia ? MEDIA_AS_TEXT_BYTES : this.#stringBytes
  }

  #hold(bytes: Uint8Array): void {
    this.#heldBytes += bytes.byteLength
    // A copy, because the chunk may be overwritten. Beyond the limit only the length matters.
    if (this.#heldBytes <= MAX_MEMBER_BYTES) this.#held.push(new Uint8Array(bytes))
    else this.#held = []
  }

  #take(member: string): void {
    const json = Buffer.concat(this.#held).toString('utf8')
    const isWhole = this.#heldBytes <= MAX_MEMBER_BYTES
    this.#member = undefined
    this.#held = []
    this.#heldBytes = 0
    if (!isWhole) {
      this.#found.delete(member)
      return
    }
    try {
      this.#found.set(member, parseJson(json))
    } catch {
      // The answer is still passed on; only this member cannot be read.
      this.#found.delete(member)
    }
  }
}
