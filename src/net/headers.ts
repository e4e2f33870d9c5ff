/**
 * Headers of requests to upstreams and of their answers: the names that may pass from one side to
 * the other, and the lines before a request's body. Connects to nothing, and knows no LLM and no
 * list of names.
 */
import { FieldLines, type HeaderFields } from './fields.ts'

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
  pick(headers: HeaderFields): Record<string, string> {
    const hop = namedIn(headers.get('connection'))
    const picked: Record<string, string> = {}
    if (headers instanceof FieldLines) {
      for (let at = 0; at < headers.size; at += 1)
        this.#pickInto(picked, headers.nameAt(at), headers.valueAt(at))
    } else
      headers.forEach((value, name) => {
        this.#pickInto(picked, name, value)
      })
    if (hop !== undefined) for (const name of hop) delete picked[name]
    return picked
  }

  #pickInto(picked: Record<string, string>, name: string, value: string): void {
    if (this.#decided.get(name) ?? this.#decide(name)) picked[name] = value
  }

  #decide(name: string): boolean {
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
export function forwardTraceHeaders(headers: HeaderFields): Record<string, string> {
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
export function upstreamRequestId(headers: HeaderFields): string | undefined {
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
   * The lines that follow, in Latin-1, but for the body's length.
   * @throws Error where a value is none that a header may have
   */
  linesAfter(own: HeaderValues): string {
    let lines = ''
    for (const name in own) if (!this.#fixedNames.has(name)) lines += toLine(name, own[name])
    return lines === '' ? this.#linesOfUsual() : lines + this.#missingIn(own)
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
