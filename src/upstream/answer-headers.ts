/**
 * The header fields of one answer: read in a single pass, and looked up in the few names that a call asks for. Knows
 * nothing of what they mean.
 */

/** As much of the web's `Headers` as answers need. Names are in lower case. */
export interface AnswerHeaders extends Iterable<[string, string]> {
  /** Fields of the same name are one, with `, ` between their values (RFC 9110 §5.3). */
  get(name: string): string | null
  has(name: string): boolean
}

/** Building the runtime's own `Headers` costs as much as all else that is read of a small answer. */
export class FieldLines implements AnswerHeaders {
  readonly #names: string[] = []
  readonly #values: string[] = []

  append(name: string, value: string): void {
    this.#names.push(name)
    this.#values.push(value)
  }

  get(name: string): string | null {
    let at = this.#names.indexOf(name)
    if (at === -1) return null
    let value = this.#values[at] ?? ''
    for (at = this.#names.indexOf(name, at + 1); at !== -1; at = this.#names.indexOf(name, at + 1))
      value += `, ${this.#values[at]}`
    return value
  }

  has(name: string): boolean {
    return this.#names.includes(name)
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    for (const name of new Set(this.#names)) yield [name, this.get(name) ?? '']
  }
}

/**
 * @param bytes lines up to `end`, each but the last one with its CRLF
 * @returns undefined where a line is no header field of RFC 9112 §5, a folded one (§5.2) included
 */
export function readFields(bytes: Buffer, from: number, end: number): FieldLines | undefined {
  const fields = new FieldLines()
  const text = bytes.toString('latin1', from, end)
  let at = from
  while (at < end) {
    const nameFrom = at
    let kinds = 0
    for (let kind = kindAt(bytes, at); kind >= NAME; kind = kindAt(bytes, at)) {
      kinds |= kind
      at += 1
    }
    if (at === nameFrom || bytes[at] !== COLON) return undefined
    const name = text.slice(nameFrom - from, at - from)
    at += 1
    let valueFrom = at
    while (at < end && kindAt(bytes, at) > 0) at += 1
    let valueEnd = at
    // Blanks around a value are no part of it (RFC 9112 §5.1).
    while (valueFrom < valueEnd && isBlank(bytes[valueFrom])) valueFrom += 1
    while (valueEnd > valueFrom && isBlank(bytes[valueEnd - 1])) valueEnd -= 1
    // Making capitals small costs more than reading the name, and many have none.
    const isSmall = (kinds & CAPITAL) === 0
    fields.append(isSmall ? name : name.toLowerCase(), text.slice(valueFrom - from, valueEnd - from))
    if (at === end) break
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined
    at += 2
  }
  return fields
}

const COLON = 0x3a
const CR = 0x0d
const LF = 0x0a

/** What a byte may be part of, by its code: nothing, a value, a name too, and then perhaps in capitals. */
const VALUE = 1
const NAME = 2
const CAPITAL = 4
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[A-Z]/.test(character)) return NAME | CAPITAL
  if (/[!#$%&'*+\-.^_`|~0-9a-z]/.test(character)) return NAME
  return /[\t\x20-\x7e\x80-\xff]/.test(character) ? VALUE : 0
})

function kindAt(bytes: Buffer, at: number): number {
  return KINDS[bytes[at] ?? CR] ?? 0
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09
}
