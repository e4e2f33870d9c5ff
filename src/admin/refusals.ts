import { describeProblems, type FieldNotes, type Problem } from '../contract/problems.ts'
import { GatewayError, retryHint, toGatewayError } from '../core/errors.ts'
import { type StoreFailure, storeFailureOf } from '../store/database/store-failure.ts'
import { encodeError } from '../wire/envelope.ts'

/**
 * Finds text that looks like a key of the gateway, wherever a caller may have pasted the key: a
 * field's name, a parameter, a path.
 */
const KEY_LIKE = /\b(sk-svc-|at-svc-|svc_|legacy_)[\x21\x23-\x5b\x5d-\x7e]{8,}(?<!:)/g

/** Enough to be useful, while the answer stays smaller than the request. */
const MAX_PROBLEMS = 100

/**
 * A 400 whose message names the first problem and the number of problems; its details list the
 * first hundred.
 */
export function refuse(problems: readonly Problem[]): GatewayError {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  return new GatewayError('invalid_request', `${first?.field}: ${first?.message}${more}`, {
    ...(first === undefined ? {} : { param: first.field }),
    details: problems.slice(0, MAX_PROBLEMS),
  })
}

interface Validation {
  readonly target: string
  readonly success: boolean
  readonly data?: unknown
  readonly error?: { readonly issues: Parameters<typeof describeProblems>[0] }
}

export function refuseProblems(notes: FieldNotes = {}): (result: Validation) => undefined {
  return (result) => {
    if (result.success || result.error === undefined) return undefined
    const problems = describeProblems(result.error.issues, result.data, notes)
    throw refuse(result.target === 'query' ? problems.map(toQueryProblem) : problems)
  }
}

function toQueryProblem(problem: Problem): Problem {
  return problem.message === 'is not a known field'
    ? { ...problem, message: 'is not a known parameter' }
    : problem
}

function toErrorResponse(thrown: unknown): Response {
  const error = toGatewayError(thrown)
  const body = encodeError('flat', error)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  return new Response(text.replaceAll(KEY_LIKE, '$1…'), {
    status: error.status,
    headers: { ...retryHint(error), ...error.headers, 'content-type': 'application/json' },
  })
}

export function answerError(
  thrown: unknown,
  requestId: string,
  { onFailure }: { readonly onFailure?: (error: GatewayError, requestId: string) => void },
): Response {
  const error = toRefusal(thrown)
  if (isWorthLogging(error)) onFailure?.(error, requestId)
  return toErrorResponse(error)
}

/** A failing database is not the gateway's error, so callers can retry. */
export function toRefusal(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  const failure = storeFailureOf(thrown)
  if (failure === undefined) return toGatewayError(thrown)
  return new GatewayError('unavailable', UNAVAILABLE[failure], {
    headers: { 'retry-after': '2' },
    cause: thrown,
  })
}

const UNAVAILABLE: Readonly<Record<StoreFailure, string>> = {
  away: 'The database cannot be reached. Try again soon.',
  full: "The database's disk is full, so nothing can be changed. Try again when there is room.",
  'read-only': 'The database accepts no changes at the moment. Try again soon.',
  busy: 'The database is busy. Try again soon.',
  denied:
    'The database does not permit this to the gateway: its operator has to grant it, as the log ' +
    'says.',
  gone:
    "The database's file is gone, so nothing can be changed. Its operator has to put it back or " +
    'restart the server.',
  disk: "The database's disk fails, so nothing can be changed. Try again soon.",
}

/** The log names an unreachable database once, not with every request. */
function isWorthLogging({ kind, cause }: GatewayError): boolean {
  if (kind === 'internal_error') return true
  const failure = storeFailureOf(cause)
  return failure !== undefined && failure !== 'away'
}
