/**
 * Edits the top-level members of a JSON object in its bytes. All other bytes stay unchanged:
 * unknown fields, key order, number spelling.
 */

import { isUtf8 } from 'node:buffer'
import { type Cut, EditedBytes } from '../core/edited-bytes.ts'
import {
  type JsonSpan,
  JsonSyntaxError,
  LETTER_F,
  LETTER_N,
  LETTER_T,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLACES,
  QUOTE,
  skipSpace,
  type WalkedObject,
  type Wanted,
  walkArray,
  walkObject,
} from './json-scan.ts'

export { JsonSyntaxError }

type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/** Byte offsets. */
export interface JsonMember {
  readonly key: string
  readonly start: number
  readonly valueStart: number
  /** Exclusive; without trailing white space. */
  readonly valueEnd: number
}

export type JsonEdit =
  | { readonly type: 'replace'; readonly member: JsonMember; readonly json: string }
  | { readonly type: 'remove'; readonly member: JsonMember }
  /** Inserted after the value's first byte: its opening quote, bracket or brace. */
  | { readonly type: 'insert'; readonly member: JsonMember; readonly text: string }
  | { readonly type: 'add'; readonly key: string; readonly json: string }

// A leading U+FEFF inside a slice is text, not a byte order mark.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** A JSON object with valid text and distinct top-level keys. */
export class JsonObject {
  #bytes: Uint8Array | undefined
  readonly bodyStart: number
  readonly members: readonly JsonMember[]
  readonly memberCount: number
  /**
   * False when no member has a searched name. True also when nothing was searched, or a name
   * contains escapes.
   */
  readonly mayHaveWanted: boolean
  /**
   * False when no string value begins, as written, with a searched prefix. True also when nothing
   * was searched.
   */
  readonly mayBeginAsWanted: boolean
  /** The text contains the byte `~`, which is rare. */
  readonly hasTilde: boolean
  readonly #byKey: ReadonlyMap<string, JsonMember>

  constructor(
    bytes: Uint8Array,
    bodyStart: number,
    members: readonly JsonMember[],
    byKey: ReadonlyMap<string, JsonMember>,
    seen: Pick<JsonObject, 'memberCount' | 'mayHaveWanted' | 'mayBeginAsWanted' | 'hasTilde'>,
  ) {
    this.#bytes = bytes
    this.bodyStart = bodyStart
    this.members = members
    this.memberCount = seen.memberCount
    this.mayHaveWanted = seen.mayHaveWanted
    this.mayBeginAsWanted = seen.mayBeginAsWanted
    this.hasTilde = seen.hasTilde
    this.#byKey = byKey
  }

  get bytes(): Uint8Array {
    if (this.#bytes === undefined) throw new TypeError('the text of the object was released')
    return this.#bytes
  }

  /**
   * Releases the text, even if other code still holds the object. Idempotent.
   * @returns the released bytes
   */
  release(): Uint8Array | undefined {
    const bytes = this.#bytes
    this.#bytes = undefined
    return bytes
  }

  get(key: string): JsonMember | undefined {
    return this.#byKey.get(key)
  }

  type(member: JsonMember): JsonType {
    switch (this.bytes[member.valueStart]) {
      case QUOTE:
        return 'string'
      case OPEN_BRACE:
        return 'object'
      case OPEN_BRACKET:
        return 'array'
      case LETTER_T:
      case LETTER_F:
        return 'boolean'
      case LETTER_N:
        return 'null'
      default:
        return 'number'
    }
  }

  /** Parses the value and builds the whole tree, so use this for small values. */
  value(member: JsonMember): unknown {
    const { valueStart, valueEnd } = member
    switch (this.type(member)) {
      case 'string':
        return decodeString(this.bytes, valueStart, valueEnd)
      case 'boolean':
        return this.bytes[valueStart] === LETTER_T
      case 'null':
        return null
      default:
        return JSON.parse(decoder.decode(this.raw(member)))
    }
  }

  raw(member: JsonMember): Uint8Array {
    return this.bytes.subarray(member.valueStart, member.valueEnd)
  }
}

/**
 * Validates the whole text. Accepts what JSON.parse accepts if the value is an object in valid
 * UTF-8 without duplicate top-level keys (RFC 8259 §4), within MAX_DEPTH and MAX_MEMBERS.
 * @param wanted searched for at every depth, for `mayHaveWanted` and `mayBeginAsWanted`
 * @throws JsonSyntaxError
 */
export function scanJsonObject(bytes: Uint8Array, wanted?: Wanted): JsonObject {
  const walked = walkUtf8(bytes, wanted)
  const members: JsonMember[] = []
  const byKey = new Map<string, JsonMember>()
  for (let index = 0; index < walked.places; index += 1) {
    const place = 4 * index
    const start = PLACES[place] ?? 0
    const key = decodeKey(bytes, start, PLACES[place + 1] ?? 0, index)
    const valueStart = PLACES[place + 2] ?? 0
    const member = { key, start, valueStart, valueEnd: PLACES[place + 3] ?? 0 }
    if (byKey.set(key, member).size === index) throw new JsonSyntaxError('duplicate key', start)
    members.push(member)
  }
  return new JsonObject(bytes, skipSpace(bytes, 0) + 1, members, byKey, walked)
}

function walkUtf8(bytes: Uint8Array, wanted: Wanted | undefined): WalkedObject {
  let walked: WalkedObject | undefined
  let problem: unknown
  try {
    walked = walkObject(bytes, wanted)
  } catch (thrown) {
    problem = thrown
  }
  if (walked?.isAscii !== true && !isUtf8(bytes))
    throw new JsonSyntaxError('invalid UTF-8', firstInvalidUtf8(bytes))
  if (walked === undefined) throw problem
  return walked
}

/**
 * The positions of an array member's elements, without surrounding white space. An object can be
 * read with `scanJsonObject(object.bytes.subarray(start, end))`.
 * @param most stop soon after this many, even if there are more
 * @throws TypeError when the member is not an array
 */
export function arrayElements(
  object: JsonObject,
  member: JsonMember,
  most = Number.POSITIVE_INFINITY,
): readonly JsonSpan[] {
  if (object.type(member) !== 'array') throw new TypeError('the member is not an array')
  return walkArray(object.raw(member), member.valueStart, most)
}

/**
 * Added members come first in the object. `json` and `text` are inserted unchanged, so they must be
 * valid JSON.
 * @throws TypeError when a member is edited twice or belongs to another object, or when the result
 * would contain a duplicate key
 */
export function editJson(object: JsonObject, edits: readonly JsonEdit[]): EditedBytes {
  const [only] = edits
  if (only === undefined) return new EditedBytes(object)
  // Fast path: nearly every call only replaces a gate's name by a model's.
  if (edits.length === 1 && only.type === 'replace' && isMember(object, only.member))
    return new EditedBytes(object, [toCut(only)])
  return makeEdits(object, edits)
}

function makeEdits(object: JsonObject, edits: readonly JsonEdit[]): EditedBytes {
  const { added, edited } = checkEdits(object, edits)
  const { members } = object
  const lastKept = members.findLastIndex((member) => edited.get(member)?.type !== 'remove')

  const cuts: Cut[] = []
  if (added.size > 0) {
    const text = Array.from(added, ([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')
    cuts.push({
      start: object.bodyStart,
      end: object.bodyStart,
      text: lastKept >= 0 ? `${text},` : text,
    })
  }
  for (const [index, member] of members.entries()) {
    const edit = edited.get(member)
    if (edit?.type === 'replace') {
      cuts.push(toCut(edit))
    } else if (edit?.type === 'insert') {
      cuts.push({ start: member.valueStart + 1, end: member.valueStart + 1, text: edit.text })
    } else if (edit?.type === 'remove' && index < lastKept) {
      cuts.push({
        start: member.start,
        end: members[index + 1]?.start ?? member.valueEnd,
        text: '',
      })
    }
  }
  // Members removed at the end have no comma after them, so the comma before them is removed.
  const last = members.at(-1)
  if (last !== undefined && edited.get(last)?.type === 'remove') {
    cuts.push({
      start: members[lastKept]?.valueEnd ?? object.bodyStart,
      end: last.valueEnd,
      text: '',
    })
  }
  return new EditedBytes(object, cuts)
}

/** Like `editJson`, in one piece; without edits, returns the same array. */
export function spliceJson(object: JsonObject, edits: readonly JsonEdit[]): Uint8Array {
  return editJson(object, edits).toBytes()
}

function toCut({ member, json }: Extract<JsonEdit, { type: 'replace' }>): Cut {
  return { start: member.valueStart, end: member.valueEnd, text: json }
}

function isMember(object: JsonObject, member: JsonMember): boolean {
  return object.get(member.key) === member
}

function checkEdits(object: JsonObject, edits: readonly JsonEdit[]) {
  const edited = new Map<JsonMember, JsonEdit>()
  const added = new Map<string, string>()
  for (const edit of edits) {
    if (edit.type === 'add') {
      if (added.has(edit.key)) throw new TypeError(`"${edit.key}" is added twice`)
      added.set(edit.key, edit.json)
    } else {
      const { member } = edit
      if (!isMember(object, member))
        throw new TypeError(`"${member.key}" is another object's member`)
      if (edited.has(member)) throw new TypeError(`"${member.key}" is edited twice`)
      edited.set(member, edit)
    }
  }
  for (const key of added.keys()) {
    const present = object.get(key)
    if (present !== undefined && edited.get(present)?.type !== 'remove')
      throw new TypeError(`"${key}" is there already`)
  }
  return { added, edited }
}

/**
 * The last key seen at each position: callers repeat their keys in order, and comparing costs less
 * than creating a string.
 */
const newestKeys: string[] = []
const MAX_NEWEST = 64
const MAX_KEPT_CHARACTERS = 64

function decodeKey(bytes: Uint8Array, start: number, end: number, place: number): string {
  const likely = newestKeys[place]
  if (likely !== undefined && likely.length === end - start - 2) {
    let same = 0
    while (same < likely.length && bytes[start + 1 + same] === likely.charCodeAt(same)) same += 1
    if (same === likely.length) return likely
  }
  const key = decodeString(bytes, start, end)
  // A text as long as its bytes contains only ASCII and no escapes.
  const isPlain = key.length === end - start - 2 && key.length <= MAX_KEPT_CHARACTERS
  if (isPlain && place < MAX_NEWEST) newestKeys[place] = key
  return key
}

function decodeString(text: Uint8Array, start: number, end: number): string {
  // Called on bytes that are not a Buffer, because creating a Buffer costs as much as all the rest.
  const inner = Buffer.prototype.utf8Slice.call(text, start + 1, end - 1)
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner
}

/** Decoding inserts U+FFFD at invalid bytes, so the re-encoded text first differs there. */
function firstInvalidUtf8(bytes: Uint8Array): number {
  const repaired = encoder.encode(decoder.decode(bytes))
  const offset = bytes.findIndex((byte, index) => byte !== repaired[index])
  return offset === -1 ? bytes.length : offset
}
