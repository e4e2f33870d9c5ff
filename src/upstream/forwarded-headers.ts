/**
 * Which headers may pass from one side to the other. Everything passes but what belongs to one hop, what opens
 * something, and what says who somebody is. Knows no LLM.
 */

/** RFC 9110 §7.6.1 and what the gateway's own connection decides. */
const HOP_BY_HOP = [
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
]

/** Of a request: who the caller is and how it got here, and what browsers add. */
const REQUEST_ONLY = ['forwarded', 'via', 'x-real-ip', 'origin', 'referer']

/** Of an answer: the upstream's server, its limits (the gateway has its own), and its pages' policies. */
const ANSWER_ONLY = [
  'server',
  'date',
  'alt-svc',
  'x-request-id',
  'request-id',
  'x-powered-by',
  'via',
  'nel',
  'report-to',
]

const REQUEST_PREFIXES = ['x-forwarded-', 'sec-', 'x-gatehouse-', 'cf-', 'proxy-']
const ANSWER_PREFIXES = [
  'access-control-',
  'strict-transport',
  'content-security',
  'x-gatehouse-',
  'cf-',
  'proxy-',
]

/**
 * Cookies and anything whose name says that it opens something or names an account: `authorization`, `x-api-key`,
 * `x-amz-security-token`, an `…-organization` that belongs to the caller's own credential and not to ours; and what is
 * left of a limit of that account.
 */
const CREDENTIAL =
  /(?:^|[-_])(?:ratelimit|authorization|auth|authenticate|cookie2?|api-?key|apikey|token|secret|credentials?|password|session|signature|organization|project|workspace)(?:$|[-_])/

/** Decides by name once and remembers: the names that clients and vendors send are few. */
class HeaderRule {
  readonly #names: ReadonlySet<string>
  readonly #prefixes: readonly string[]
  readonly #decided = new Map<string, boolean>()

  constructor(names: readonly string[], prefixes: readonly string[]) {
    this.#names = new Set([...HOP_BY_HOP, ...names])
    this.#prefixes = prefixes
  }

  mayPass(name: string): boolean {
    const known = this.#decided.get(name)
    if (known !== undefined) return known
    const decision =
      !this.#names.has(name) &&
      !this.#prefixes.some((prefix) => name.startsWith(prefix)) &&
      !CREDENTIAL.test(name)
    // Names come from outside: a bounded memory, so that inventing them costs only the inventor.
    if (this.#decided.size < 1000) this.#decided.set(name, decision)
    return decision
  }
}

const requestRule = new HeaderRule(REQUEST_ONLY, REQUEST_PREFIXES)
const answerRule = new HeaderRule(ANSWER_ONLY, ANSWER_PREFIXES)

export function forwardRequestHeaders(headers: Headers): Record<string, string> {
  return forward(headers, requestRule)
}

/** Of a request that is translated, only these: they belong to no dialect (https://www.w3.org/TR/trace-context/). */
export function forwardTraceHeaders(headers: Headers): Record<string, string> {
  const parent = headers.get('traceparent')
  if (parent === null || !TRACE_PARENT.test(parent)) return {}
  const state = headers.get('tracestate')
  return state === null ? { traceparent: parent } : { traceparent: parent, tracestate: state }
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

export function forwardAnswerHeaders(headers: Headers): Record<string, string> {
  return forward(headers, answerRule)
}

function forward(headers: Headers, rule: HeaderRule): Record<string, string> {
  const passed: Record<string, string> = {}
  const connection = headers.get('connection')
  for (const [name, value] of headers) {
    if (rule.mayPass(name) && !namedIn(connection, name)) passed[name] = value
  }
  return passed
}

/** `Connection: x-foo` makes `x-foo` a header of this hop only. */
function namedIn(connection: string | null, name: string): boolean {
  if (connection === null || connection === 'keep-alive') return false
  return connection
    .toLowerCase()
    .split(',')
    .some((token) => token.trim() === name)
}
