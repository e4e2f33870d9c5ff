/**
 * Headers of upstream requests and answers: the names that may be forwarded, and the lines of a
 * request's head.
 */
import { FieldLines, type HeaderFields } from './fields.ts'

// Hop-by-hop headers, credentials, and headers that name an account are never forwarded, even when
// listed.

/** RFC 9110 §7.6.1, and headers that the gateway's own connection sets. */
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

/** Headers that the gateway always sets itself. */
const OURS = [
  'x-gatehouse-',
  'x-ratelimit-',
  'x-forwarded-',
  'forwarded',
  'x-request-id',
  'request-id',
]

/**
 * Cookies, and names that suggest a credential or an account: `authorization`, `x-api-key`,
 * `x-amz-security-token`. An `…-organization` belongs to the caller's credential, not the
 * gateway's.
 */
const CREDENTIAL =
  /(?:^|[-_])(?:authorization|auth|authenticate|cookie2?|api-?key|apikey|token|secret|credentials?|password|signature|organization|project|workspace|jwt|assertion|principal)(?:$|[-_])/

export function mayBeForwarded(name: string): boolean {
  return (
    !HOP_BY_HOP.has(name) && !OURS.some((ours) => name.startsWith(ours)) && !CREDENTIAL.test(name)
  )
}

/** A list of lower-case names; a name that ends in `*` matches as a prefix. */
export class HeaderList {
  readonly #names: ReadonlySet<string>
  readonly #beginnings: readonly string[]
  readonly #except: HeaderList | undefined
  readonly #decided = new Map<string, boolean>()

  /** @param except names that never match */
  constructor(names: readonly string[], except: readonly string[] = []) {
    this.#names = new Set(names.filter((name) => !name.endsWith('*')))
    this.#beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
    this.#except = except.length === 0 ? undefined : new HeaderList(except)
  }

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

  #isNamed(name: string): boolean {
    return this.#names.has(name) || this.#beginnings.some((beginning) => name.startsWith(beginning))
  }

  #decide(name: string): boolean {
    const except = this.#except
    const isPassed = this.#isNamed(name) && (except === undefined || !except.#isNamed(name))
    const decision = isPassed && mayBeForwarded(name)
    // Names come from clients, so the cache is bounded.
    if (this.#decided.size < 1000) this.#decided.set(name, decision)
    return decision
  }
}

/** `Connection: x-foo` makes `x-foo` a hop-by-hop header. */
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
 * Trace headers belong to no dialect, so translated requests forward them
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

/** Headers in which providers send their request id, the most common first. */
// provider-name-ok: header names, whichever provider sends them
const REQUEST_IDS = ['x-request-id', 'request-id', 'mistral-correlation-id', 'x-amzn-requestid']
const LONGEST_ID = 200

export function upstreamRequestId(headers: HeaderFields): string | undefined {
  for (const name of REQUEST_IDS) {
    const id = headers.get(name)
    if (id !== null && id !== '' && id.length <= LONGEST_ID && !NOT_PLAIN.test(id)) return id
  }
  return undefined
}

const NOT_PLAIN = /[^\x21-\x7e]/

type HeaderValues = Readonly<Record<string, string>>

/**
 * Headers shared by all requests to one target, validated once and kept as bytes. The headers may
 * contain a credential, so they cannot be printed.
 */
export class CommonHeaders {
  readonly #fixed: HeaderValues
  readonly #usual: HeaderValues
  readonly #fixedNames: ReadonlySet<string>
  #beginning: Beginning | undefined
  #usualLines: string | undefined

  /**
   * @param fixed override the request's own headers
   * @param usual apply when the request does not set them
   */
  constructor(fixed: HeaderValues, usual: HeaderValues = {}) {
    this.#fixed = fixed
    this.#usual = usual
    this.#fixedNames = new Set(Object.keys(fixed))
  }

  join(own: HeaderValues): Record<string, string> {
    return { ...this.#usual, ...own, ...this.#fixed }
  }

  /**
   * The first lines as bytes that requests share: never modify them.
   * @param opening a request line and a host
   * @throws Error for an invalid header value
   */
  begin(opening: string): Buffer {
    if (this.#beginning?.opening === opening) return this.#beginning.bytes
    const bytes = Buffer.from(opening + toLines(this.#fixed), 'latin1')
    this.#beginning = { opening, bytes }
    return bytes
  }

  /**
   * The remaining lines in Latin-1, without the body's length.
   * @throws Error for an invalid header value
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

function toLine(name: string, value: string | undefined): string {
  // The first lines contain the host already; a signature may list the host too.
  if (value === undefined || name === 'host') return ''
  if (NOT_IN_VALUES.test(value)) throw new Error(`The request header ${name} has an invalid value.`)
  return `${name}: ${value}\r\n`
}

const AGENT = 'user-agent'
const REDACTED = '[headers]'
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
/** Some providers reject requests without a User-Agent. */
const USER_AGENT = 'user-agent: gatehouse\r\naccept: */*\r\n'
