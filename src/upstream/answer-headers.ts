/**
 * The header fields of one answer: read in a single pass, and looked up in the few names that a call asks for. Knows
 * nothing of what they mean.
 */

/** As much of the web's `Headers` as answers need. Names are in lower case. */
export interface AnswerHeaders {
  /** Fields of the same name are one, with `, ` between their values (RFC 9110 §5.3). */
  get(name: string): string | null
  has(name: string): boolean
  /** Visits each name once. */
  forEach(visit: (value: string, name: string) => void): void
}

/** Building the runtime's own `Headers` costs as much as all else that is read of a small answer. */
export class FieldLines implements AnswerHeaders {
  readonly #names: string[] = []
  readonly #values: string[] = []

  /** How many different names there are. */
  get size(): number {
    return this.#names.length
  }

  append(name: string, value: string): void {
    const at = this.#names.indexOf(name)
    if (at === -1) {
      this.#names.push(name)
      this.#values.push(value)
    } else this.#values[at] += `, ${value}`
  }

  get(name: string): string | null {
    const at = this.#names.indexOf(name)
    return at === -1 ? null : (this.#values[at] ?? '')
  }

  has(name: string): boolean {
    return this.#names.includes(name)
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (let at = 0; at < this.#names.length; at += 1) visit(this.#values[at] ?? '', this.#names[at] ?? '')
  }
}

/**
 * @param bytes lines up to `end`, each but the last one with its CRLF
 * @returns undefined where a line is no header field of RFC 9112 §5, a folded one (§5.2) included,
 * and where there are more names than anybody sends
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
    if (fields.size > MAX_NAMES) return undefined
    if (at === end) break
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined
    at += 2
  }
  return fields
}

/** Vendors send about thirty. Each name is looked for among those before it. */
const MAX_NAMES = 500
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
