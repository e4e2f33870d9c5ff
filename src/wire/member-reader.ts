/**
 * Reads small top-level members of a JSON object out of its bytes as they flow by, and holds
 * nothing else of it. It must not know what a member means, nor judge whether the rest is valid.
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

/** Most bytes that are held of one member: usage reports are a hundredth of it. */
const MAX_MEMBER_BYTES = 64 * 1024
/** Most bytes that are held of a key: every wanted one is shorter. */
const MAX_KEY_BYTES = 64
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * A string so long that has no space is no prose: an image or a sound, and counts as so many bytes
 * of text.
 */
const MEDIA_STRING_BYTES = 4 * 1024
const MEDIA_AS_TEXT_BYTES = 6 * 1024
const SPACE = 0x20

export class MemberReader {
  readonly #wanted: ReadonlySet<string>
  readonly #found = new Map<string, unknown>()
  #depth = 0
  #isInString = false
  /** True if the string's last byte so far was a backslash that escapes the next one. */
  #isEscaped = false
  #stringBytes = 0
  #hasSpace = false
  /** Of the top level: the string that was read last, until a colon says that it is a key. */
  #key = ''
  #isKeyPossible = false
  /** The wanted member whose value is being read. */
  #member: string | undefined
  #held: Uint8Array[] = []
  #heldBytes = 0
  /**
   * Bytes of all strings so far, keys left out where they are the top level's; media at a flat
   * size.
   */
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

  /** JSON.parse reads them; what is no JSON, or implausibly long, is left out. */
  get members(): Record<string, unknown> {
    return Object.fromEntries(this.#found)
  }

  /** @returns where to go on: behind the closing quote, or the chunk's end */
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

  /** True if a run of backslashes up to `end` leaves the byte at `end` escaped. */
  #endsEscaped(chunk: Uint8Array, start: number, end: number): boolean {
    let at = end
    while (at > start && chunk[at - 1] === BACKSLASH) at -= 1
    const isOdd = (end - at) % 2 === 1
    return at === start && this.#isEscaped ? !isOdd : isOdd
  }

  #noteString(chunk: Uint8Array, start: number, end: number): void {
    this.#stringBytes += end - start
    // Only where it could matter: a search reads on until it finds one, and must not do so for each
    // short string.
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
    // A copy: whoever lends the chunk may write over it. Beyond the limit only its length is of
    // interest.
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
      // The answer is passed on as it is; there is just nothing to read in it.
      this.#found.delete(member)
    }
  }
}
