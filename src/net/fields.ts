/** Header fields of an HTTP/1.1 message, parsed in one pass over the bytes. */

/** The subset of the web's `Headers` that the gateway needs. Names are in lower case. */
export interface HeaderFields {
  /**
   * Fields of the same name are joined with `, ` (RFC 9110 §5.3), those of `cookie` with `; ` (RFC
   * 9113 §8.2.3).
   */
  get(name: string): string | null
  has(name: string): boolean
  forEach(visit: (value: string, name: string) => void): void
}

/**
 * The runtime's `Headers` cost as much to build as all other parsing of a small message, so this
 * class replaces them.
 */
export class FieldLines implements HeaderFields {
  /** Names and values alternate: one array grows at half the cost of two. */
  readonly #fields: string[] = []

  get size(): number {
    return this.#fields.length / 2
  }

  nameAt(at: number): string {
    return this.#fields[2 * at] ?? ''
  }

  valueAt(at: number): string {
    return this.#fields[2 * at + 1] ?? ''
  }

  append(name: string, value: string): void {
    const at = this.#find(name)
    if (at === -1) this.#fields.push(name, value)
    else this.#fields[2 * at + 1] += (name === 'cookie' ? '; ' : ', ') + value
  }

  get(name: string): string | null {
    const at = this.#find(name)
    return at === -1 ? null : this.valueAt(at)
  }

  has(name: string): boolean {
    return this.#find(name) !== -1
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (let at = 0; at < this.size; at += 1) visit(this.valueAt(at), this.nameAt(at))
  }

  #find(name: string): number {
    for (let at = 0; at < this.#fields.length; at += 2) if (this.#fields[at] === name) return at / 2
    return -1
  }
}

/**
 * @param bytes lines up to `end`, each except the last with its CRLF
 * @param memory names from the same kind of sender; read and extended
 * @returns undefined for an invalid field line (RFC 9112 §5), including a folded one (§5.2), or too
 * many names
 */
export function readFields(
  bytes: Buffer,
  { from, end }: { readonly from: number; readonly end: number },
  memory: NameMemory,
): FieldLines | undefined {
  const fields = new FieldLines()
  const text = bytes.toString('latin1', from, end)
  let at = from
  let line = 0
  while (at < end) {
    const name = nameAt(bytes, at, memory, line)
    at += name.length
    if (name === '' || bytes[at] !== COLON) return undefined
    line += 1
    at += 1
    let valueFrom = at
    while (at < end && kindAt(bytes, at) > 0) at += 1
    let valueEnd = at
    // Whitespace around a value is not part of the value (RFC 9112 §5.1).
    while (valueFrom < valueEnd && isBlank(bytes[valueFrom])) valueFrom += 1
    while (valueEnd > valueFrom && isBlank(bytes[valueEnd - 1])) valueEnd -= 1
    fields.append(name, text.slice(valueFrom - from, valueEnd - from))
    if (fields.size > MAX_NAMES) return undefined
    if (at === end) break
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined
    at += 2
  }
  return fields
}

/** Providers send about thirty names. Lookup by name is linear. */
const MAX_NAMES = 500
const COLON = 0x3a
const CR = 0x0d
const LF = 0x0a

/** Character classes by byte: invalid, allowed in a value, allowed in a name too. */
const VALUE = 1
const NAME = 2
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(character)) return NAME
  return /[\t\x20-\x7e\x80-\xff]/.test(character) ? VALUE : 0
})
const SMALL = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x41 && code <= 0x5a ? code + 0x20 : code,
)

/**
 * The last name seen on each line. Senders repeat their names in order, and comparing bytes costs
 * less than creating a string.
 */
export type NameMemory = string[]

const MAX_NEWEST = 64

function nameAt(bytes: Buffer, from: number, newest: NameMemory, line: number): string {
  const likely = newest[line]
  if (likely !== undefined && isNameAt(bytes, from, likely)) return likely
  let to = from
  while (kindAt(bytes, to) === NAME) to += 1
  const name = bytes.toString('latin1', from, to).toLowerCase()
  if (name !== '' && line < MAX_NEWEST) newest[line] = name
  return name
}

/** @param name in lower case; must match up to the colon */
function isNameAt(bytes: Buffer, from: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1)
    if (SMALL[bytes[from + index] ?? CR] !== name.charCodeAt(index)) return false
  return kindAt(bytes, from + name.length) !== NAME
}

export function isTextAt(bytes: Buffer, from: number, to: number, text: string): boolean {
  if (text.length !== to - from) return false
  for (let index = 0; index < text.length; index += 1)
    if (bytes[from + index] !== text.charCodeAt(index)) return false
  return true
}

function kindAt(bytes: Buffer, at: number): number {
  return KINDS[bytes[at] ?? CR] ?? 0
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09
}
