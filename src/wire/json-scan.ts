/**
 * Validates JSON text as bytes without building values, refusing everything that JSON.parse
 * refuses. The scanner itself is wasm/json-walk.ts.
 */
import { PLAIN_WALK, WIDE_WALK } from './json-walk.generated.ts'

/** The message says what is wrong and where, and never quotes the text, which may be a prompt. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
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
export const COLON = 0x3a
const BACKSLASH = 0x5c

/** The exports of wasm/json-walk.ts, where each export is described. */
interface JsonWalk {
  readonly memory: WebAssembly.Memory
  readonly WANTED: WebAssembly.Global<'i32'>
  readonly BEGINNINGS: WebAssembly.Global<'i32'>
  readonly FIRST_BYTES: WebAssembly.Global<'i32'>
  readonly PLACES: WebAssembly.Global<'i32'>
  readonly MOST_PLACES: WebAssembly.Global<'i32'>
  readonly WINDOW: WebAssembly.Global<'i32'>
  readonly WINDOW_BYTES: WebAssembly.Global<'i32'>
  readonly MAX_DEPTH: WebAssembly.Global<'i32'>
  begin(shape: number, wanted: boolean): void
  walk(length: number, isLast: boolean): number
  consumed(): number
  placesFound(): number
  membersFound(): number
  wantedFound(): number
  beginningFound(): number
  wideFound(): number
  tildeFound(): number
  problemFound(): number
  problemAt(): number
}

const [AN_OBJECT, AN_ARRAY, ANY_VALUE] = [0, 1, 2]
const [DONE, FAILED, , FULL] = [0, 1, 2, 3]

/** Processors without AVX, and runtimes on them, lack wide instructions. */
function compileWalk(): JsonWalk {
  const wide = Buffer.from(WIDE_WALK, 'base64')
  const code = WebAssembly.validate(wide) ? wide : Buffer.from(PLAIN_WALK, 'base64')
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code))
  return exports as unknown as JsonWalk
}

const WALK = compileWalk()
const MEMORY = new Uint8Array(WALK.memory.buffer)
const WINDOW = WALK.WINDOW.value
const WINDOW_BYTES = WALK.WINDOW_BYTES.value

/** Maximum nesting of objects and arrays; the outermost object is level 1. */
export const MAX_DEPTH = WALK.MAX_DEPTH.value
/** Far more members than any request or answer has at its top level; each needs a table entry. */
const MAX_MEMBERS = WALK.MOST_PLACES.value
/**
 * Byte offsets from the last scan of an object, by member: the start and end of the key, and the
 * end of the value.
 */
export const PLACES = new Uint32Array(WALK.memory.buffer, WALK.PLACES.value, 4 * MAX_MEMBERS)

/** Words, without escapes, that a scan searches for at every depth. */
export class Wanted {
  readonly tables: Uint8Array

  /**
   * @param names member names
   * @param beginnings prefixes of string values
   */
  constructor(names: readonly string[], beginnings: readonly string[] = []) {
    const from = WALK.WANTED.value
    const [beginningsAt, firstBytesAt] = [
      WALK.BEGINNINGS.value - from,
      WALK.FIRST_BYTES.value - from,
    ]
    this.tables = new Uint8Array(WALK.PLACES.value - from)
    const [table, more] = [toTable(names), toTable(beginnings)]
    if (table.length > beginningsAt || beginningsAt + more.length > firstBytesAt)
      throw new RangeError('so many names are not looked for')
    this.tables.set(table)
    this.tables.set(more, beginningsAt)
    for (const text of beginnings) this.tables[firstBytesAt + text.charCodeAt(0)] = 1
  }
}

/** The scanner's own form: each word after its length byte, and a 0 at the end. */
function toTable(words: readonly string[]): Uint8Array {
  return Buffer.from(words.flatMap((word) => [word.length, ...Buffer.from(word)]).concat(0))
}

let wantedNow: Wanted | undefined

function begin(shape: number, wanted?: Wanted): void {
  if (wanted !== undefined && wanted !== wantedNow) {
    MEMORY.set(wanted.tables, WALK.WANTED.value)
    wantedNow = wanted
  }
  WALK.begin(shape, wanted !== undefined)
}

export interface WalkedObject {
  readonly places: number
  /** Includes the members of nested objects. */
  readonly memberCount: number
  readonly mayHaveWanted: boolean
  readonly mayBeginAsWanted: boolean
  readonly isAscii: boolean
  readonly hasTilde: boolean
}

export function walkObject(bytes: Uint8Array, wanted?: Wanted): WalkedObject {
  begin(AN_OBJECT, wanted)
  walkWindows(bytes)
  return {
    places: WALK.placesFound(),
    memberCount: WALK.membersFound(),
    mayHaveWanted: WALK.wantedFound() === 1,
    mayBeginAsWanted: WALK.beginningFound() === 1,
    isAscii: WALK.wideFound() === 0,
    hasTilde: WALK.tildeFound() === 1,
  }
}

export interface JsonSpan {
  readonly start: number
  readonly end: number
}

/**
 * The positions of an array's elements, without surrounding white space.
 * @param bytes an array inside an object, where it begins at `offset`
 * @param most stop soon after this many
 * @throws JsonSyntaxError
 */
export function walkArray(bytes: Uint8Array, offset: number, most: number): readonly JsonSpan[] {
  const spans: JsonSpan[] = []
  begin(AN_ARRAY)
  walkWindows(bytes, { spans, offset, most })
  return spans
}

export function countWrittenMembers(bytes: Uint8Array): number {
  begin(ANY_VALUE)
  walkWindows(bytes)
  return WALK.membersFound()
}

interface Found {
  readonly spans: JsonSpan[]
  readonly offset: number
  readonly most: number
}

function walkWindows(bytes: Uint8Array, found?: Found): void {
  for (let from = 0; ; from += WALK.consumed()) {
    const end = Math.min(from + WINDOW_BYTES, bytes.length)
    const isWhole = from === 0 && end === bytes.length
    MEMORY.set(isWhole ? bytes : bytes.subarray(from, end), WINDOW)
    const result = WALK.walk(end - from, end === bytes.length)
    if (result === FAILED) throw toSyntaxError(bytes)
    const isOver = result === DONE || (found !== undefined && hasEnough(found))
    if (found !== undefined && (isOver || result === FULL)) takeSpans(found)
    if (isOver) return
  }
}

function hasEnough({ spans, most }: Found): boolean {
  return spans.length + WALK.placesFound() >= most
}

function takeSpans({ spans, offset }: Found): void {
  const count = 4 * WALK.placesFound()
  for (let at = 0; at < count; at += 4)
    spans.push({ start: offset + (PLACES[at + 2] ?? 0), end: offset + (PLACES[at + 3] ?? 0) })
}

const WANTS = [
  'an object',
  'a key in double quotes',
  '":"',
  'a value',
  '"," or "}"',
  '"," or "]"',
  'a digit',
  'true, false or null',
]
const PROBLEMS = [
  `nesting deeper than ${MAX_DEPTH} levels`,
  `more than ${MAX_MEMBERS} members in the object`,
  'unterminated string',
  'unescaped control character in a string',
  'invalid escape in a string',
  'text after the end of the object',
]

function toSyntaxError(bytes: Uint8Array): JsonSyntaxError {
  const [problem, at] = [WALK.problemFound(), WALK.problemAt()]
  const wanted = WANTS[problem]
  if (wanted === undefined)
    return new JsonSyntaxError(PROBLEMS[problem - WANTS.length] ?? 'no JSON', at)
  const found = at >= bytes.length ? 'end' : 'character'
  return new JsonSyntaxError(`unexpected ${found}, ${wanted} is wanted`, at)
}

export function skipSpace(bytes: Uint8Array, at: number): number {
  let byte = bytes[at] ?? QUOTE
  while (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB)
    byte = bytes[++at] ?? QUOTE
  return at
}

/** Up to this depth the cost is negligible; text with fewer brackets cannot be deeper. */
const HARMLESS_LEVELS = 8_192

/**
 * Like `JSON.parse`. Very many nested lists cost a hundred times as much as other text of the same
 * size, so deep nesting is refused.
 * @throws SyntaxError also for nesting deeper than allowed, if it is costly
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

/** Searching for the next bracket is fast, because numbers and prose contain almost no brackets. */
function hasManyBrackets(text: string): boolean {
  let left = HARMLESS_LEVELS
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      left -= 1
      if (left === 0) return true
    }
  return false
}
