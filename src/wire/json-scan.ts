/**
 * Walks over JSON text as bytes and refuses whatever JSON.parse would refuse, without building
 * values; and reads text that somebody else wrote. It must not know what any member means, nor edit
 * anything.
 */

/** Deepest nesting of objects and arrays that is accepted; the outermost object is level 1. */
export const MAX_DEPTH = 256

/** The message says what is wrong and where, and never quotes the text: it may be a prompt. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  /** Its place, in bytes from the start of the scanned text. */
  readonly offset: number

  constructor(problem: string, offset: number) {
    super(`${problem} at byte ${offset}`)
    this.offset = offset
  }
}

export const QUOTE = 0x22
export const COMMA = 0x2c
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
export const LETTER_F = 0x66
export const LETTER_N = 0x6e
export const LETTER_T = 0x74
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39
export const COLON = 0x3a
const UPPER_E = 0x45
const BACKSLASH = 0x5c
const LETTER_E = 0x65
const LETTER_U = 0x75

const SHORT_ESCAPES = tableOf('"\\/bfnrt')
const HEX_DIGITS = tableOf('0123456789abcdefABCDEF')

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const character of characters) table[character.charCodeAt(0)] = 1
  return table
}

/** The text as bytes, and the same memory four bytes at a time. */
export interface JsonText {
  readonly bytes: Uint8Array
  /** From the start of the underlying buffer, since words must be aligned. */
  readonly words: Int32Array
  /** The start of the text in `words`, in bytes. */
  readonly offset: number
  /** Of those that were looked for: the next ones. Behind the place that is read, or unknown. */
  quoteAt: number
  backslashAt: number
  /** The last escape that was passed, or unknown. */
  escapeAt: number
  /** Those of all objects that were passed. */
  members: number
  readonly wanted: WantedNames | undefined
  /** One of the wanted names was passed, or one that is written with escapes. */
  mayHaveWanted: boolean
}

const UNKNOWN = -1

/** Names of members that a walk looks for at every depth: plain ones, without any escape. */
export class WantedNames {
  /** By how many bytes they have. */
  readonly #byLength: readonly (readonly Uint8Array[])[]

  constructor(names: readonly string[]) {
    const lengths = Math.max(...names.map(({ length }) => length)) + 1
    this.#byLength = Array.from({ length: lengths }, (_, length) =>
      names.filter((name) => name.length === length).map((name) => Buffer.from(name)),
    )
  }

  has(bytes: Uint8Array, start: number, end: number): boolean {
    for (const name of this.#byLength[end - start] ?? []) {
      let at = 0
      while (at < name.length && bytes[start + at] === name[at]) at += 1
      if (at === name.length) return true
    }
    return false
  }
}

export function toJsonText(bytes: Uint8Array, wanted?: WantedNames): JsonText {
  const { buffer, byteOffset } = bytes
  return toText(bytes, new Int32Array(buffer, 0, buffer.byteLength >> 2), byteOffset, wanted)
}

function toText(
  bytes: Uint8Array,
  words: Int32Array,
  offset: number,
  wanted: WantedNames | undefined,
): JsonText {
  return {
    bytes,
    words,
    offset,
    quoteAt: UNKNOWN,
    backslashAt: UNKNOWN,
    escapeAt: UNKNOWN,
    members: 0,
    wanted,
    mayHaveWanted: false,
  }
}

/** A small text is copied there before it is scanned: words over memory of its own cost more. */
const SCAN_ROOM = new Uint8Array(32 * 1024)
const SCAN_WORDS = new Int32Array(SCAN_ROOM.buffer)

/** The same for a walk that ends before another one begins. */
export function toLentText(bytes: Uint8Array, wanted?: WantedNames): JsonText {
  if (bytes.length > SCAN_ROOM.length) return toJsonText(bytes, wanted)
  SCAN_ROOM.set(bytes)
  return toText(bytes, SCAN_WORDS, 0, wanted)
}

export function unexpected(bytes: Uint8Array, at: number, wanted: string): JsonSyntaxError {
  return new JsonSyntaxError(
    `unexpected ${at >= bytes.length ? 'end' : 'character'}, ${wanted} is wanted`,
    at,
  )
}

// Each `skip…` takes the offset of what it skips and returns the offset just behind it.

export function skipSpace(bytes: Uint8Array, at: number): number {
  let byte = bytes[at] ?? QUOTE
  while (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB)
    byte = bytes[++at] ?? QUOTE
  return at
}

/**
 * One value of any type with everything in it. Iterative: a nesting bomb costs no stack.
 * @param outerDepth how many containers are open around the value
 */
export function skipValue(text: JsonText, at: number, outerDepth: number): number {
  const { bytes } = text
  let depth = outerDepth
  for (;;) {
    const first = bytes[at] ?? 0
    if (first === QUOTE) {
      at = skipString(text, at)
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      if (depth === MAX_DEPTH)
        throw new JsonSyntaxError(`nesting deeper than ${MAX_DEPTH} levels`, at)
      const closer = first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== closer) {
        CLOSERS[depth++] = closer
        if (closer === CLOSE_BRACE) at = skipKey(text, at)
        continue
      }
      at++
    } else if (isDigit(first) || first === MINUS) {
      at = skipNumber(bytes, at)
    } else {
      at = skipLiteral(bytes, at)
    }

    // A value is complete: close what it closes, then go on to the next one.
    for (;;) {
      if (depth === outerDepth) return at
      at = skipSpace(bytes, at)
      const closer = CLOSERS[depth - 1] ?? 0
      const byte = bytes[at]
      if (byte === COMMA) {
        at = skipSpace(bytes, at + 1)
        if (closer === CLOSE_BRACE) at = skipKey(text, at)
        break
      }
      if (byte !== closer)
        throw unexpected(bytes, at, closer === CLOSE_BRACE ? '"," or "}"' : '"," or "]"')
      depth--
      at++
    }
  }
}

/**
 * For each open container of the value being skipped, the byte that closes it. Shared, as the walk
 * is synchronous.
 */
const CLOSERS = new Uint8Array(MAX_DEPTH)

/** A member's key, its colon and the space around them: ends where the value starts. */
function skipKey(text: JsonText, at: number): number {
  if (text.bytes[at] !== QUOTE) throw unexpected(text.bytes, at, 'a key in double quotes')
  return skipColon(text.bytes, skipName(text, at))
}

/** A member's name, from its opening quote to just behind the closing one. */
export function skipName(text: JsonText, start: number): number {
  const end = skipString(text, start)
  text.members += 1
  if (text.wanted !== undefined && !text.mayHaveWanted)
    text.mayHaveWanted = text.escapeAt > start || text.wanted.has(text.bytes, start + 1, end - 1)
  return end
}

export function skipColon(bytes: Uint8Array, at: number): number {
  at = skipSpace(bytes, at)
  if (bytes[at] !== COLON) throw unexpected(bytes, at, '":"')
  return skipSpace(bytes, at + 1)
}

/** From the opening quote to just behind the closing one. */
export function skipString(text: JsonText, start: number): number {
  const { bytes } = text
  let at = start + 1
  for (;;) {
    at = skipPlain(text, at)
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === undefined) throw new JsonSyntaxError('unterminated string', start)
    if (byte !== BACKSLASH) throw new JsonSyntaxError('unescaped control character in a string', at)
    text.escapeAt = at
    do at = SHORT_ESCAPES[bytes[at + 1] ?? 0] === 1 ? at + 2 : skipUnicodeEscape(bytes, at)
    while (bytes[at] === BACKSLASH)
  }
}

/**
 * To the next quote, backslash or control character, or to the end: nearly all bytes of a prompt
 * pass here.
 */
function skipPlain(text: JsonText, at: number): number {
  const { bytes, words, offset } = text
  const wordsEnd = (offset + bytes.length) >> 2
  let index = (offset + at) >> 2
  if (index < wordsEnd) {
    // The bytes in front of `at` that share its word are blotted out with 0xff, which is never
    // special.
    const inFront = (1 << (((offset + at) & 3) * 8)) - 1
    let hits = specialBytes((words[index] ?? 0) | inFront) & HIGH_BITS
    if (hits === 0) {
      index++
      const nearEnd = Math.min(wordsEnd, index + NEAR_WORDS)
      for (; index + 4 <= nearEnd; index += 4) {
        const a = specialBytes(words[index] ?? 0)
        const b = specialBytes(words[index + 1] ?? 0)
        const c = specialBytes(words[index + 2] ?? 0)
        const d = specialBytes(words[index + 3] ?? 0)
        if (((a | b | c | d) & HIGH_BITS) !== 0) break
      }
      for (; index < nearEnd; index++) {
        hits = specialBytes(words[index] ?? 0) & HIGH_BITS
        if (hits !== 0) break
      }
      if (hits === 0 && nearEnd < wordsEnd) return skipFarPlain(text, index * 4 - offset)
    }
    at = index * 4 - offset
    // The lowest hit is exact and, words being little-endian, the first in the text.
    if (hits !== 0) return at + ((31 - Math.clz32(hits & -hits)) >> 3)
  }
  while (at < bytes.length && !isSpecial(bytes[at] ?? 0)) at++
  return at
}

/** In nearly every text there is a backslash sooner, at the end of a line. */
const NEAR_WORDS = 1024

/**
 * The same for a long text: the runtime finds quotes and backslashes at many times our pace, and to
 * look for control characters alone is a third of the work.
 * @param at where a word begins
 */
function skipFarPlain(text: JsonText, at: number): number {
  const { bytes, words, offset } = text
  if (text.quoteAt < at) text.quoteAt = nextOf(bytes, QUOTE, at)
  if (text.backslashAt < at) text.backslashAt = nextOf(bytes, BACKSLASH, at)
  const end = Math.min(text.quoteAt, text.backslashAt)
  const wordsEnd = (offset + end) >> 2
  let index = (offset + at) >> 2
  for (;;) {
    index = skipLetters(words, index, wordsEnd)
    if (index + 8 > wordsEnd || hasControl(words, index)) break
    index += 8
  }
  at = index * 4 - offset
  while (at < end && (bytes[at] ?? 0) >= SPACE) at++
  return at
}

const SPACES = 0x20202020

/** By eights, to the first eight with a byte that is no letter of ASCII, or to the last few. */
function skipLetters(words: Int32Array, from: number, end: number): number {
  let index = from
  for (; index + 8 <= end; index += 8) {
    const less =
      ((words[index] ?? 0) - SPACES) |
      ((words[index + 1] ?? 0) - SPACES) |
      ((words[index + 2] ?? 0) - SPACES) |
      ((words[index + 3] ?? 0) - SPACES) |
      ((words[index + 4] ?? 0) - SPACES) |
      ((words[index + 5] ?? 0) - SPACES) |
      ((words[index + 6] ?? 0) - SPACES) |
      ((words[index + 7] ?? 0) - SPACES)
    if ((less & HIGH_BITS) !== 0) break
  }
  return index
}

/** Of eight words: letters beyond ASCII end the walk too. */
function hasControl(words: Int32Array, index: number): boolean {
  const low =
    controlBytes(words[index] ?? 0) |
    controlBytes(words[index + 1] ?? 0) |
    controlBytes(words[index + 2] ?? 0) |
    controlBytes(words[index + 3] ?? 0) |
    controlBytes(words[index + 4] ?? 0) |
    controlBytes(words[index + 5] ?? 0) |
    controlBytes(words[index + 6] ?? 0) |
    controlBytes(words[index + 7] ?? 0)
  return (low & HIGH_BITS) !== 0
}

/** Sets the high bit of each byte that is a control character; the lowest is exact, as above. */
function controlBytes(word: number): number {
  return (word - SPACES) & ~word
}

/** The fastest of the runtime's. */
const { indexOf } = Buffer.prototype

/** Each is looked for once, behind the one before: a text of many costs no more. */
function nextOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = indexOf.call(bytes, byte, from)
  return at < 0 ? bytes.length : at
}

function isSpecial(byte: number): boolean {
  return byte < SPACE || byte === QUOTE || byte === BACKSLASH
}

const HIGH_BITS = 0x80808080

/**
 * Sets the high bit of each byte of the word that is special; the other bits mean nothing. Flipping
 * bit 1 puts the quote right above the control characters, so that one subtraction finds both. A
 * borrow can only raise false bits above a true one: the lowest is exact.
 */
function specialBytes(word: number): number {
  const quoteOrControl = (word ^ 0x02020202) - 0x21212121
  const backslash = (word ^ 0x5c5c5c5c) - 0x01010101
  return (quoteOrControl | backslash) & ~word
}

function skipUnicodeEscape(bytes: Uint8Array, backslash: number): number {
  const end = backslash + 6
  let valid = bytes[backslash + 1] === LETTER_U && end <= bytes.length
  for (let at = backslash + 2; valid && at < end; at++) valid = HEX_DIGITS[bytes[at] ?? 0] === 1
  if (!valid) throw new JsonSyntaxError('invalid escape in a string', backslash)
  return end
}

function skipNumber(bytes: Uint8Array, at: number): number {
  if (bytes[at] === MINUS) at++
  at = bytes[at] === DIGIT_ZERO ? at + 1 : skipDigits(bytes, at)
  if (bytes[at] === POINT) at = skipDigits(bytes, at + 1)
  if (bytes[at] === LETTER_E || bytes[at] === UPPER_E) {
    const sign = bytes[at + 1]
    at = skipDigits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1)
  }
  return at
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_ZERO && byte <= DIGIT_NINE
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (isDigit(bytes[at] ?? 0)) at++
  if (at === start) throw unexpected(bytes, at, 'a digit')
  return at
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

function skipLiteral(bytes: Uint8Array, start: number): number {
  const first = bytes[start]
  const literal = first === LETTER_T ? TRUE : first === LETTER_F ? FALSE : NULL
  if (first !== literal[0]) throw unexpected(bytes, start, 'a value')
  for (let index = 1; index < literal.length; index++) {
    if (bytes[start + index] !== literal[index])
      throw unexpected(bytes, start + index, 'true, false or null')
  }
  return start + literal.length
}

/** So many levels cost nothing worth a look; text without more brackets cannot have more. */
const HARMLESS_LEVELS = 8_192

/**
 * Reads like `JSON.parse`. Text of very many lists in lists costs a hundred times what other text
 * of its size does, and stands still for all of it.
 * @throws SyntaxError also of what is nested deeper than any request may be, where that is costly
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`)
  return JSON.parse(text)
}

function isTooDeep(text: string): boolean {
  if (text.length <= HARMLESS_LEVELS || !hasManyBrackets(text)) return false
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isText = !isText
    else if (isText) at += code === BACKSLASH ? 1 : 0
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1
      if (depth > MAX_DEPTH) return true
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1
  }
  return false
}

/**
 * From one to the next, which costs little where they are few: numbers and prose have next to none.
 */
function hasManyBrackets(text: string): boolean {
  let left = HARMLESS_LEVELS
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      left -= 1
      if (left === 0) return true
    }
  return false
}
