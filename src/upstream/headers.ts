/**
 * Headers of requests to upstreams and of their answers: the fields of an answer read in one pass,
 * the names that may pass from one side to the other, and the lines before a request's body.
 * Connects to nothing, and knows no LLM and no list of names.
 */

/** The part of the web's `Headers` that answers need. Names are in lower case. */
export interface AnswerHeaders {
  /** Fields of the same name are one, with `, ` between their values (RFC 9110 §5.3). */
  get(name: string): string | null
  has(name: string): boolean
  /** Visits each name once. */
  forEach(visit: (value: string, name: string) => void): void
}

/**
 * Building the runtime's own `Headers` costs as much as all else that is read of a small answer.
 */
class FieldLines implements AnswerHeaders {
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
    for (let at = 0; at < this.#names.length; at += 1)
      visit(this.#values[at] ?? '', this.#names[at] ?? '')
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
  let line = 0
  while (at < end) {
    const name = nameAt(bytes, at, line)
    at += name.length
    if (name === '' || bytes[at] !== COLON) return undefined
    line += 1
    at += 1
    let valueFrom = at
    while (at < end && kindAt(bytes, at) > 0) at += 1
    let valueEnd = at
    // Blanks around a value are no part of it (RFC 9112 §5.1).
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

/** Vendors send about thirty. Each name is looked for among those before it. */
const MAX_NAMES = 500
const COLON = 0x3a
const CR = 0x0d
const LF = 0x0a

/** The use of each byte, by its code: in nothing, in a value, in a name too. */
const VALUE = 1
const NAME = 2
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(character)) return NAME
  return /[\t\x20-\x7e\x80-\xff]/.test(character) ? VALUE : 0
})
/** Of each byte the small letter, where it is a capital one. */
const SMALL = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x41 && code <= 0x5a ? code + 0x20 : code,
)

/**
 * The newest name of each line: upstreams send the same ones in the same order, and a text made
 * anew costs more than to compare.
 */
const newest: string[] = []
const MAX_NEWEST = 64

/** @returns the name that begins there, in lower case; empty where none does */
function nameAt(bytes: Buffer, from: number, line: number): string {
  const likely = newest[line]
  if (likely !== undefined && isNameAt(bytes, from, likely)) return likely
  let to = from
  while (kindAt(bytes, to) === NAME) to += 1
  const name = bytes.toString('latin1', from, to).toLowerCase()
  if (name !== '' && line < MAX_NEWEST) newest[line] = name
  return name
}

/** @param name in lower case; nothing of it is left over */
function isNameAt(bytes: Buffer, from: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1)
    if (SMALL[bytes[from + index] ?? CR] !== name.charCodeAt(index)) return false
  return kindAt(bytes, from + name.length) !== NAME
}

function kindAt(bytes: Buffer, at: number): number {
  return KINDS[bytes[at] ?? CR] ?? 0
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09
}

// Never forwarded, whoever lists it: a header of one hop, one that opens something, one that says
// whose account it is.

/** RFC 9110 §7.6.1 and what the gateway's own connection decides. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'expect',
])

/** Decided by the gateway, whoever names them. */
const OURS = [
  'x-gatehouse-',
  'x-ratelimit-',
  'x-forwarded-',
  'forwarded',
  'x-request-id',
  'request-id',
]

/**
 * Cookies and anything whose name says that it opens something or names an account:
 * `authorization`, `x-api-key`, `x-amz-security-token`, an `…-organization` that belongs to the
 * caller's own credential and not to ours.
 */
const CREDENTIAL =
  /(?:^|[-_])(?:authorization|auth|authenticate|cookie2?|api-?key|apikey|token|secret|credentials?|password|signature|organization|project|workspace|jwt|assertion|principal)(?:$|[-_])/

/** Whether a header of this name may be in a list at all: an operator's too. */
export function mayBeForwarded(name: string): boolean {
  return (
    !HOP_BY_HOP.has(name) && !OURS.some((ours) => name.startsWith(ours)) && !CREDENTIAL.test(name)
  )
}

/** A list of names in lower case, of which one that ends in `*` is a beginning. */
export class HeaderList {
  readonly #names: ReadonlySet<string>
  readonly #beginnings: readonly string[]
  readonly #decided = new Map<string, boolean>()

  constructor(names: readonly string[]) {
    this.#names = new Set(names.filter((name) => !name.endsWith('*')))
    this.#beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  }

  /** Picks the headers that pass. */
  pick(headers: AnswerHeaders): Record<string, string> {
    const hop = namedIn(headers.get('connection'))
    // The runtime's own call back from native code for each: one object of them all costs less.
    return headers instanceof Headers
      ? this.#pickOf(headers.toJSON(), hop)
      : this.#pickEach(headers, hop)
  }

  #pickOf(
    headers: Readonly<Record<string, string>>,
    hop: ReadonlySet<string> | undefined,
  ): Record<string, string> {
    const picked: Record<string, string> = {}
    for (const name in headers)
      if (this.#holds(name) && hop?.has(name) !== true) picked[name] = headers[name] ?? ''
    return picked
  }

  #pickEach(headers: AnswerHeaders, hop: ReadonlySet<string> | undefined): Record<string, string> {
    const picked: Record<string, string> = {}
    headers.forEach((value, name) => {
      if (this.#holds(name) && hop?.has(name) !== true) picked[name] = value
    })
    return picked
  }

  #holds(name: string): boolean {
    const known = this.#decided.get(name)
    if (known !== undefined) return known
    const isNamed =
      this.#names.has(name) || this.#beginnings.some((beginning) => name.startsWith(beginning))
    const decision = isNamed && mayBeForwarded(name)
    // Names come from outside: a bounded memory, so that inventing them costs only the inventor.
    if (this.#decided.size < 1000) this.#decided.set(name, decision)
    return decision
  }
}

/** `Connection: x-foo` makes `x-foo` a header of this hop only. */
function namedIn(connection: string | null): ReadonlySet<string> | undefined {
  if (connection === null || connection === 'keep-alive') return undefined
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map((token) => token.trim()),
  )
}

/**
 * Of a request that is translated, only these: they belong to no dialect
 * (https://www.w3.org/TR/trace-context/).
 */
export function forwardTraceHeaders(headers: Headers): Record<string, string> {
  const parent = headers.get('traceparent')
  if (parent === null || !TRACE_PARENT.test(parent)) return {}
  const state = headers.get('tracestate')
  return state === null ? { traceparent: parent } : { traceparent: parent, tracestate: state }
}

const TRACE_PARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

/** The headers in which vendors give their id of a request, the likelier first. */
// provider-name-ok: headers, wherever they come from
const REQUEST_IDS = ['x-request-id', 'request-id', 'mistral-correlation-id', 'x-amzn-requestid']
const LONGEST_ID = 200

/** The vendor's id of the request; undefined where there is none that is usable. */
export function upstreamRequestId(headers: AnswerHeaders): string | undefined {
  for (const name of REQUEST_IDS) {
    const id = headers.get(name)
    if (id !== null && id !== '' && id.length <= LONGEST_ID && !NOT_PLAIN.test(id)) return id
  }
  return undefined
}

const NOT_PLAIN = /[^\x21-\x7e]/

/** Names in lower case. */
type HeaderValues = Readonly<Record<string, string>>

/**
 * The headers that all requests to one place have in common, checked once and kept as bytes. They
 * may hold a credential: like one, they cannot be printed, and they are given up with it.
 */
export class CommonHeaders {
  readonly #fixed: HeaderValues
  readonly #usual: HeaderValues
  readonly #fixedNames: ReadonlySet<string>
  #beginning: Beginning | undefined
  #usualLines: string | undefined

  /**
   * @param fixed those that count whatever a request says itself
   * @param usual those that count where it says nothing
   */
  constructor(fixed: HeaderValues, usual: HeaderValues = {}) {
    this.#fixed = fixed
    this.#usual = usual
    this.#fixedNames = new Set(Object.keys(fixed))
  }

  /** All headers of a request, for whoever has to see them before they are sent. */
  join(own: HeaderValues): Record<string, string> {
    return { ...this.#usual, ...own, ...this.#fixed }
  }

  /**
   * The first lines, of which requests share the bytes: never to be written over.
   * @param opening a request line and a host
   * @throws Error where a value is none that a header may have
   */
  begin(opening: string): Buffer {
    if (this.#beginning?.opening === opening) return this.#beginning.bytes
    const bytes = Buffer.from(opening + toLines(this.#fixed), 'latin1')
    this.#beginning = { opening, bytes }
    return bytes
  }

  /**
   * The lines that follow, in Latin-1, with the empty one at the end.
   * @throws Error where a value is none that a header may have
   */
  end(own: HeaderValues, bodyBytes: number): string {
    let lines = ''
    for (const name in own) if (!this.#fixedNames.has(name)) lines += toLine(name, own[name])
    lines += lines === '' ? this.#linesOfUsual() : this.#missingIn(own)
    return `${lines}content-length: ${bodyBytes}\r\n\r\n`
  }

  toJSON(): string {
    return REDACTED
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED
  }

  #linesOfUsual(): string {
    this.#usualLines ??= this.#missingIn({})
    return this.#usualLines
  }

  #missingIn(own: HeaderValues): string {
    let lines = ''
    for (const name in this.#usual)
      if (own[name] === undefined && !this.#fixedNames.has(name))
        lines += toLine(name, this.#usual[name])
    const agent = own[AGENT] ?? this.#fixed[AGENT] ?? this.#usual[AGENT]
    return agent === undefined ? lines + USER_AGENT : lines
  }
}

interface Beginning {
  readonly opening: string
  readonly bytes: Buffer
}

function toLines(headers: HeaderValues): string {
  let lines = ''
  for (const name in headers) lines += toLine(name, headers[name])
  return lines
}

/** @throws Error for a value that could hold a whole request of its own */
function toLine(name: string, value: string | undefined): string {
  // The first lines name the host; a signature may name it too.
  if (value === undefined || name === 'host') return ''
  if (NOT_IN_VALUES.test(value))
    throw new Error(`The header ${name} of a request has a value that no header can have.`)
  return `${name}: ${value}\r\n`
}

const AGENT = 'user-agent'
const REDACTED = '[headers]'
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
/** Some vendors' doors refuse whoever does not say what it is. */
const USER_AGENT = 'user-agent: gatehouse\r\naccept: */*\r\n'
