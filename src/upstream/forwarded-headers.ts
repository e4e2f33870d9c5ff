/**
 * Which headers may pass from one side to the other: those that a list names, and of these never
 * one that belongs to one hop, opens something, or says whose account it is. Knows no LLM, and no
 * list.
 */
import type { AnswerHeaders } from './answer-headers.ts'

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

  /** What of these headers passes. */
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

/** Where vendors say what they call a request, the likelier first. */
// provider-name-ok: headers, wherever they come from
const REQUEST_IDS = ['x-request-id', 'request-id', 'mistral-correlation-id', 'x-amzn-requestid']
const LONGEST_ID = 200

/** What the vendor calls the request; undefined where it says nothing usable. */
export function upstreamRequestId(headers: AnswerHeaders): string | undefined {
  for (const name of REQUEST_IDS) {
    const id = headers.get(name)
    if (id !== null && id !== '' && id.length <= LONGEST_ID && !NOT_PLAIN.test(id)) return id
  }
  return undefined
}

const NOT_PLAIN = /[^\x21-\x7e]/
