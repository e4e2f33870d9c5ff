/**
 * Walks over JSON text and refuses what JSON.parse would refuse, a window of the text at a time, so
 * that its memory does not grow with the text. Written in AssemblyScript, a TypeScript of
 * WebAssembly's own types: a walk looks at every byte of every body, and here it looks at sixteen at
 * once. Must not know what any member means; src/wire/json-scan.ts is the one that calls it.
 */

// The memory: small tables, the places that were found, and the window.

const CLOSERS: usize = 0
/** Of the byte behind a backslash: how many bytes the escape has. */
const ESCAPES: usize = 256
/** 1 for each hexadecimal digit. */
const HEX_DIGITS: usize = 512
/** Names to look for: a byte of length and the name, one after another, and a 0. */
export const WANTED: usize = 768
/** Beginnings of texts to look for, in the same form. */
export const BEGINNINGS: usize = 1024
/** 1 for each byte that one of them begins with. */
export const FIRST_BYTES: usize = 1280
/** Of each place: key's start and end, value's start and end, in bytes from the text's start. */
export const PLACES: usize = 1536
export const MOST_PLACES: i32 = 1000
const BYTES_PER_PLACE: i32 = 16
export const WINDOW: usize = 17664
export const WINDOW_BYTES: i32 = 65536
/** Sixteen bytes are read at once, also behind the window's end. */
const BEHIND: usize = 16

/** Deepest nesting of objects and arrays that is accepted; the outermost object is level 1. */
export const MAX_DEPTH: i32 = 256

// What is walked over.

export const AN_OBJECT: i32 = 0
/** Inside an object. */
export const AN_ARRAY: i32 = 1
export const ANY_VALUE: i32 = 2

// What a walk ends with.

export const DONE: i32 = 0
export const FAILED: i32 = 1
/** The next window is to begin `consumed` bytes further on. */
export const MORE: i32 = 2
/** The same, and there is room for places again once they were read. */
export const FULL: i32 = 3

// Why it failed.

const WANTS_OBJECT: i32 = 0
const WANTS_KEY: i32 = 1
const WANTS_COLON: i32 = 2
const WANTS_VALUE: i32 = 3
const WANTS_COMMA_OR_BRACE: i32 = 4
const WANTS_COMMA_OR_BRACKET: i32 = 5
const WANTS_DIGIT: i32 = 6
const WANTS_LITERAL: i32 = 7
const TOO_DEEP: i32 = 8
const TOO_MANY: i32 = 9
const UNTERMINATED: i32 = 10
const CONTROL_CHARACTER: i32 = 11
const BAD_ESCAPE: i32 = 12
const TEXT_BEHIND: i32 = 13
const NO_PROBLEM: i32 = -1

// What the walk is at: a window may end at any of these.

const AT_BEGIN: i32 = 0
const AT_FIRST_KEY: i32 = 1
const AT_KEY: i32 = 2
const IN_LONG_KEY: i32 = 3
const AT_COLON: i32 = 4
const AT_FIRST_ELEMENT: i32 = 5
const AT_VALUE: i32 = 6
const IN_STRING: i32 = 7
const IN_NUMBER: i32 = 8
const AT_END_OF_VALUE: i32 = 9
const BEHIND_VALUE: i32 = 10
const BEHIND_ALL: i32 = 11

let state: i32 = AT_BEGIN
let shape: i32 = AN_OBJECT
let depth: i32 = 0
let outerDepth: i32 = 0
/** Of the members or elements whose places are kept. */
let placesDepth: i32 = 0
let places: i32 = 0
/** Of the window, in the text. */
let base: u32 = 0
let consumedBytes: i32 = 0
let problem: i32 = NO_PROBLEM
let failedAt: u32 = 0
/** Where a string that does not end in the window is taken up again. */
let takenUpAt: usize = 0
let stringStart: u32 = 0
let hasEscape: bool = false
let memberCount: i32 = 0
let hasWanted: bool = false
let hasBeginning: bool = false
let hasWide: bool = false
let hasTilde: bool = false
let numberPart: i32 = 0

store<u8>(ESCAPES + 0x22, 2)
store<u8>(ESCAPES + 0x2f, 2)
store<u8>(ESCAPES + 0x5c, 2)
store<u8>(ESCAPES + 0x62, 2)
store<u8>(ESCAPES + 0x66, 2)
store<u8>(ESCAPES + 0x6e, 2)
store<u8>(ESCAPES + 0x72, 2)
store<u8>(ESCAPES + 0x74, 2)
store<u8>(ESCAPES + 0x75, 6)
for (let digit: usize = 0; digit < 10; digit += 1) store<u8>(HEX_DIGITS + 0x30 + digit, 1)
for (let letter: usize = 0; letter < 6; letter += 1) {
  store<u8>(HEX_DIGITS + 0x41 + letter, 1)
  store<u8>(HEX_DIGITS + 0x61 + letter, 1)
}

/**
 * Begins a walk. @param wanted whether what is in `WANTED` and `BEGINNINGS` is to be looked for
 */
export function begin(what: i32, wanted: bool): void {
  shape = what
  state = AT_BEGIN
  outerDepth = what === AN_ARRAY ? 1 : 0
  placesDepth = what === ANY_VALUE ? -1 : outerDepth + 1
  depth = outerDepth
  places = 0
  base = 0
  problem = NO_PROBLEM
  memberCount = 0
  hasWanted = !wanted
  hasBeginning = !wanted
  hasWide = false
  hasTilde = false
}

export function consumed(): i32 {
  return consumedBytes
}

/** How many of them, since the walk began or was `FULL`. */
export function placesFound(): i32 {
  return places
}

/** Of all objects. */
export function membersFound(): i32 {
  return memberCount
}

/** Whether a name was one of those wanted, or was written with an escape. */
export function wantedFound(): bool {
  return hasWanted
}

/** Whether a text that is a value began, as it is written, with one of those. */
export function beginningFound(): bool {
  return hasBeginning
}

/** Whether the text of an object has a byte that is not ASCII's. */
export function wideFound(): bool {
  return hasWide
}

/** Whether it has a tilde, which is rare. */
export function tildeFound(): bool {
  return hasTilde
}

export function problemFound(): i32 {
  return problem
}

/** In bytes from the text's start. */
export function problemAt(): u32 {
  return failedAt
}

/**
 * Goes on with the window, of so many bytes.
 * @param isLast whether the text ends with it
 * @returns DONE, FAILED, MORE or FULL
 */
export function walk(length: i32, isLast: bool): i32 {
  const stop = WINDOW + <usize>length
  // What is there of an earlier window must not look like this one's: 0 ends whatever is read.
  store<u64>(stop, 0)
  store<u64>(stop, 0, 8)
  if (shape === AN_OBJECT) look(stop)
  // The last window ended FULL.
  if (shape === AN_ARRAY && places === MOST_PLACES) places = 0
  let at = WINDOW
  let now = state
  // Each case goes on to the next one: so texts follow one another without a look at `now`.
  while (true) {
    switch (now) {
      case AT_FIRST_KEY:
      case AT_KEY: {
        at = skipSpace(at)
        if (at === stop && !isLast) return pause(now, at)
        const byte = load<u8>(at)
        if (byte !== 0x22) {
          if (now === AT_KEY || byte !== 0x7d) return fail(WANTS_KEY, at)
          depth -= 1
          at += 1
          now = AT_END_OF_VALUE
          continue
        }
        if (depth === placesDepth && places === MOST_PLACES) return fail(TOO_MANY, at)
        stringStart = placeOf(at)
        hasEscape = false
        const end = skipString(at + 1, stop, isLast)
        if (end === 0) {
          if (problem !== NO_PROBLEM) return FAILED
          // From its quote, unless it is as long as the window.
          return at > WINDOW ? pause(now, at) : pause(IN_LONG_KEY, takenUpAt)
        }
        noteKey(placeOf(end))
        if (!hasWanted) hasWanted = hasEscape || isWanted(at + 1, end - at - 2)
        at = end
      }
      case AT_COLON: {
        at = skipSpace(at)
        if (at === stop && !isLast) return pause(AT_COLON, at)
        if (load<u8>(at) !== 0x3a) return fail(WANTS_COLON, at)
        at += 1
      }
      case AT_VALUE: {
        at = skipSpace(at)
        // A word of five letters may not be whole.
        if (at + 5 > stop && !isLast) return pause(AT_VALUE, at)
        if (depth === placesDepth) store<u32>(placeEntry(), placeOf(at), 8)
        const first = load<u8>(at)
        if (first === 0x22) {
          if (!hasBeginning) hasBeginning = beginsAsWanted(at + 1, stop)
          stringStart = placeOf(at)
          const end = skipString(at + 1, stop, isLast)
          if (end === 0) return problem === NO_PROBLEM ? pause(IN_STRING, takenUpAt) : FAILED
          at = end
        } else if (first === 0x7b || first === 0x5b) {
          if (depth === MAX_DEPTH) return fail(TOO_DEEP, at)
          // Of either, the byte that closes it is the next but one.
          store<u8>(CLOSERS + <usize>depth, first + 2)
          depth += 1
          at += 1
          now = first === 0x7b ? AT_FIRST_KEY : AT_FIRST_ELEMENT
          continue
        } else if (isDigit(first) || first === 0x2d) {
          numberPart = first === 0x2d ? SIGN : first === 0x30 ? ZERO : WHOLE
          at += 1
          now = IN_NUMBER
          continue
        } else {
          const end = skipWord(at)
          if (end === 0) return FAILED
          at = end
        }
      }
      case AT_END_OF_VALUE: {
        if (depth === placesDepth) {
          store<u32>(placeEntry(), placeOf(at), 12)
          places += 1
        }
        if (depth === outerDepth) {
          now = BEHIND_ALL
          continue
        }
      }
      case BEHIND_VALUE: {
        // Of an object no more than these are taken, which its next key is told.
        if (shape === AN_ARRAY && places === MOST_PLACES) return stopFull(at)
        at = skipSpace(at)
        if (at === stop && !isLast) return pause(BEHIND_VALUE, at)
        const closer = load<u8>(CLOSERS + <usize>depth - 1)
        const byte = load<u8>(at)
        if (byte === 0x2c) {
          now = closer === 0x7d ? AT_KEY : AT_VALUE
        } else if (byte === closer) {
          depth -= 1
          now = AT_END_OF_VALUE
        } else {
          return fail(closer === 0x7d ? WANTS_COMMA_OR_BRACE : WANTS_COMMA_OR_BRACKET, at)
        }
        at += 1
        continue
      }
      case AT_FIRST_ELEMENT: {
        at = skipSpace(at)
        if (at === stop && !isLast) return pause(now, at)
        now = AT_VALUE
        if (load<u8>(at) !== 0x5d) continue
        depth -= 1
        at += 1
        now = AT_END_OF_VALUE
        continue
      }
      case IN_NUMBER: {
        at = skipNumber(at)
        if (at === stop && !isLast) return pause(now, at)
        if (!isWholeNumber(numberPart)) return fail(WANTS_DIGIT, at)
        now = AT_END_OF_VALUE
        continue
      }
      case IN_STRING: {
        const end = skipString(at, stop, isLast)
        if (end === 0) return problem === NO_PROBLEM ? pause(now, takenUpAt) : FAILED
        at = end
        now = AT_END_OF_VALUE
        continue
      }
      case IN_LONG_KEY: {
        const end = skipString(at, stop, isLast)
        if (end === 0) return problem === NO_PROBLEM ? pause(now, takenUpAt) : FAILED
        noteKey(placeOf(end))
        // No wanted name is as long.
        if (hasEscape) hasWanted = true
        at = end
        now = AT_COLON
        continue
      }
      case AT_BEGIN: {
        at = skipSpace(at)
        if (at === stop && !isLast) return pause(now, at)
        if (shape === AN_OBJECT && load<u8>(at) !== 0x7b) return fail(WANTS_OBJECT, at)
        now = AT_VALUE
        continue
      }
      default: {
        at = skipSpace(at)
        if (at !== stop) return fail(TEXT_BEHIND, at)
        return isLast ? DONE : pause(now, at)
      }
    }
  }
}

/** At all bytes of the window, whatever they are: a look at each of its texts would cost more. */
function look(stop: usize): void {
  if (ASC_FEATURE_SIMD) {
    let all = i8x16.splat(0)
    let tildes = i8x16.splat(0)
    for (let at = WINDOW; at < stop; at += BEHIND) {
      const bytes = v128.load(at)
      all = v128.or(all, bytes)
      tildes = v128.or(tildes, i8x16.eq(bytes, i8x16.splat(0x7e)))
    }
    if (i8x16.bitmask(all) !== 0) hasWide = true
    if (v128.any_true(tildes)) hasTilde = true
    return
  }
  let all: u64 = 0
  let tildes: u64 = 0
  for (let at = WINDOW; at < stop; at += 8) {
    const word = load<u64>(at)
    const tilde = word ^ 0x7e7e7e7e7e7e7e7e
    all |= word
    // A borrow can only raise false bits above a true one: there is one where any is.
    tildes |= (tilde - 0x0101010101010101) & ~tilde
  }
  if ((all & 0x8080808080808080) !== 0) hasWide = true
  if ((tildes & 0x8080808080808080) !== 0) hasTilde = true
}

function pause(now: i32, at: usize): i32 {
  state = now
  consumedBytes = <i32>(at - WINDOW)
  base += consumedBytes
  return MORE
}

function stopFull(at: usize): i32 {
  pause(BEHIND_VALUE, at)
  return FULL
}

function fail(why: i32, at: usize): i32 {
  problem = why
  failedAt = placeOf(at)
  return FAILED
}

function placeOf(at: usize): u32 {
  return base + <u32>(at - WINDOW)
}

function placeEntry(): usize {
  return PLACES + <usize>(places * BYTES_PER_PLACE)
}

function noteKey(end: u32): void {
  memberCount += 1
  if (depth !== placesDepth) return
  store<u32>(placeEntry(), stringStart)
  store<u32>(placeEntry(), end, 4)
}

function skipSpace(from: usize): usize {
  let at = from
  while (true) {
    const byte = load<u8>(at)
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at += 1
  }
}

/**
 * From within a string to just behind its closing quote.
 * @returns 0 where it has a problem, or does not end in the window: `takenUpAt`
 */
function skipString(from: usize, stop: usize, isLast: bool): usize {
  let at = from
  while (true) {
    at = skipPlain(at)
    const byte = load<u8>(at)
    if (byte === 0x22) return at + 1
    if (byte !== 0x5c) {
      takenUpAt = stop
      if (at < stop) fail(CONTROL_CHARACTER, at)
      else if (isLast) {
        problem = UNTERMINATED
        failedAt = stringStart
      }
      return 0
    }
    hasEscape = true
    if (ASC_FEATURE_SIMD && load<u8>(at, 1) !== 0x75 && hasBackslash(at + 2)) {
      at = skipSimpleEscapes(at)
      if (load<u8>(at) !== 0x5c) continue
    }
    do {
      // One that is cut is read again as a whole.
      if (at + 6 > stop && !isLast) {
        takenUpAt = at
        return 0
      }
      const bytes = load<u8>(ESCAPES + <usize>load<u8>(at, 1))
      if (bytes === 0 || (bytes === 6 && !hasDigits(at))) {
        fail(BAD_ESCAPE, at)
        return 0
      }
      at += bytes
    } while (load<u8>(at) === 0x5c)
  }
}

/**
 * Past text in which escapes of two bytes follow one another, sixteen bytes at once and without a
 * branch for each of them: in code, and in JSON within a text, nobody foretells where the next is.
 * @param from a backslash that begins one
 * @returns the place of a closing quote, of a byte that is wrong, of an escape that is not as simple,
 * or of what follows sixteen bytes without any
 */
function skipSimpleEscapes(from: usize): usize {
  let at = from
  /** The byte before is a backslash that belongs to the first of these. */
  let isCut: u32 = 0
  while (true) {
    const bytes = v128.load(at)
    const all = <u32>i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(0x5c)))
    const ends = <u32>(
      i8x16.bitmask(
        v128.or(i8x16.lt_u(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x22))),
      )
    )
    // Of backslashes in a row every other one begins an escape: the byte behind a row is escaped
    // where their number is odd. Adding its first one carries a bit to there.
    const backslashes = all & ~isCut
    const firsts = backslashes & ~(backslashes << 1)
    const behindEven = (backslashes + (firsts & EVEN_PLACES)) & ~backslashes
    const behindOdd = (backslashes + (firsts & ODD_PLACES)) & ~backslashes
    const escaped = (behindEven & ODD_PLACES) | (behindOdd & EVEN_PLACES) | isCut
    const stops = ((ends & ~escaped) | (escaped & ~simpleEscapes(bytes))) & 0xffff
    if (stops !== 0) {
      const first = <u32>ctz(stops)
      return at + <usize>first - <usize>((escaped >> first) & 1)
    }
    isCut = escaped >> 16
    at += BEHIND
    if (all === 0) return at
  }
}

const EVEN_PLACES: u32 = 0x55555555
const ODD_PLACES: u32 = 0xaaaaaaaa

/** Whether there is one among sixteen bytes. */
function hasBackslash(at: usize): bool {
  return v128.any_true(i8x16.eq(v128.load(at), i8x16.splat(0x5c)))
}

/** A bit for each byte that may stand behind a backslash by itself: all but `u`. */
function simpleEscapes(bytes: v128): u32 {
  // A bit for each upper half of such a byte, and of each lower half those with which it is one.
  const upper = i8x16.swizzle(
    i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0),
    i8x16.shr_u(bytes, 4),
  )
  const lower = i8x16.swizzle(
    i8x16(0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1),
    v128.and(bytes, i8x16.splat(0x0f)),
  )
  return 0xffff & ~(<u32>i8x16.bitmask(i8x16.eq(v128.and(upper, lower), i8x16.splat(0))))
}

/** Four, behind `\\u`. */
function hasDigits(at: usize): bool {
  const all =
    load<u8>(HEX_DIGITS + <usize>load<u8>(at, 2)) &
    load<u8>(HEX_DIGITS + <usize>load<u8>(at, 3)) &
    load<u8>(HEX_DIGITS + <usize>load<u8>(at, 4)) &
    load<u8>(HEX_DIGITS + <usize>load<u8>(at, 5))
  return all === 1
}

/** To the next quote, backslash or control character: nearly all bytes of a prompt pass here. */
function skipPlain(from: usize): usize {
  let at = from
  if (ASC_FEATURE_SIMD) {
    while (true) {
      const bytes = v128.load(at)
      const special = v128.or(
        v128.or(i8x16.lt_u(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x22))),
        i8x16.eq(bytes, i8x16.splat(0x5c)),
      )
      const hits = i8x16.bitmask(special)
      if (hits !== 0) return at + <usize>ctz(hits)
      at += BEHIND
    }
  }
  while (true) {
    const hits = specialBytes(load<u64>(at)) & 0x8080808080808080
    // The lowest hit is exact and, words being little-endian, the first in the text.
    if (hits !== 0) return at + <usize>(ctz(hits) >> 3)
    at += 8
  }
}

/**
 * Sets the high bit of each byte of the word that is special; the other bits mean nothing. Flipping
 * bit 1 puts the quote right above the control characters, so that one subtraction finds both. A
 * borrow can only raise false bits above a true one: the lowest is exact.
 */
function specialBytes(word: u64): u64 {
  const quoteOrControl = (word ^ 0x0202020202020202) - 0x2121212121212121
  const backslash = (word ^ 0x5c5c5c5c5c5c5c5c) - 0x0101010101010101
  return (quoteOrControl | backslash) & ~word
}

function isWanted(name: usize, length: usize): bool {
  let at = WANTED
  while (true) {
    const wantedLength = <usize>load<u8>(at)
    if (wantedLength === 0) return false
    if (wantedLength === length && isSame(at + 1, name, length)) return true
    at += wantedLength + 1
  }
}

/** Most texts are told by their first byte. Of one that the window cuts there may be more. */
function beginsAsWanted(text: usize, stop: usize): bool {
  if (load<u8>(FIRST_BYTES + <usize>load<u8>(text)) === 0) return false
  let at = BEGINNINGS
  while (true) {
    const length = <usize>load<u8>(at)
    if (length === 0) return false
    if (isSame(at + 1, text, min(length, stop - text))) return true
    at += length + 1
  }
}

function isSame(one: usize, other: usize, length: usize): bool {
  for (let index: usize = 0; index < length; index += 1) {
    if (load<u8>(one + index) !== load<u8>(other + index)) return false
  }
  return true
}

function isDigit(byte: u32): bool {
  return byte - 0x30 < 10
}

// The parts of a number, by what was read of it last.

const SIGN: i32 = 0
const ZERO: i32 = 1
const WHOLE: i32 = 2
const POINT: i32 = 3
const FRACTION: i32 = 4
const EXPONENT: i32 = 5
const EXPONENT_SIGN: i32 = 6
const EXPONENT_DIGITS: i32 = 7

function isWholeNumber(part: i32): bool {
  return part === ZERO || part === WHOLE || part === FRACTION || part === EXPONENT_DIGITS
}

/** To the first byte that is none of it. */
function skipNumber(from: usize): usize {
  let at = from
  let part = numberPart
  while (true) {
    const byte = load<u8>(at)
    if (isDigit(byte)) {
      if (part === ZERO) break
      if (part === SIGN) part = byte === 0x30 ? ZERO : WHOLE
      else if (part === POINT) part = FRACTION
      else if (part === EXPONENT || part === EXPONENT_SIGN) part = EXPONENT_DIGITS
    } else if (byte === 0x2e && (part === ZERO || part === WHOLE)) {
      part = POINT
    } else if ((byte | 0x20) === 0x65 && isWholeNumber(part) && part !== EXPONENT_DIGITS) {
      part = EXPONENT
    } else if ((byte === 0x2b || byte === 0x2d) && part === EXPONENT) {
      part = EXPONENT_SIGN
    } else {
      break
    }
    at += 1
  }
  numberPart = part
  return at
}

/** `true`, `false` or `null`. @returns 0 where it is none of them */
function skipWord(at: usize): usize {
  const first = load<u8>(at)
  const word: u64 = first === 0x74 ? 0x65757274 : first === 0x66 ? 0x65736c6166 : 0x6c6c756e
  const length: usize = first === 0x66 ? 5 : 4
  if (first !== 0x74 && first !== 0x66 && first !== 0x6e) {
    fail(WANTS_VALUE, at)
    return 0
  }
  for (let index: usize = 1; index < length; index += 1) {
    if (load<u8>(at + index) !== <u8>(word >> (<u64>index * 8))) {
      fail(WANTS_LITERAL, at + index)
      return 0
    }
  }
  return at + length
}
