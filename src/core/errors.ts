/** The error type of the gateway, and the table that decides how an error looks from outside. */
import type { SpendState } from './spend-state.ts'

export type ErrorKind = keyof typeof KINDS

export interface ErrorPolicy {
  /** HTTP status; an `upstream_error` may carry the upstream's own 4xx instead. */
  readonly status: number
  /** Stable code of the flat envelope (`{error, message}`). */
  readonly flat: string
  /** `type` of the nested envelope (`{error: {type, code, …}}`). */
  readonly type: string
  /** Default `code` of the nested envelope; an error's own code replaces the default. */
  readonly code: string | null
  /**
   * True when the same request may succeed later. `x-should-retry` informs SDKs with another rule.
   */
  readonly retryable: boolean
}

type KindPolicy = Pick<ErrorPolicy, 'status' | 'type' | 'retryable'> & Partial<ErrorPolicy>

const CALLERS = 'invalid_request_error'

const KINDS = {
  invalid_request: { status: 400, type: CALLERS, retryable: false, code: null },
  unauthorized: { status: 401, type: CALLERS, retryable: false, code: 'invalid_api_key' },
  forbidden: { status: 403, type: CALLERS, retryable: false },
  gate_not_found: { status: 404, type: CALLERS, retryable: false, code: 'model_not_found' },
  not_found: { status: 404, type: CALLERS, retryable: false },
  method_not_allowed: { status: 405, type: CALLERS, retryable: false },
  request_timeout: { status: 408, type: CALLERS, retryable: true },
  conflict: { status: 409, type: CALLERS, retryable: false },
  precondition_failed: { status: 412, type: CALLERS, retryable: false },
  payload_too_large: { status: 413, type: CALLERS, retryable: false },
  upgrade_not_supported: { status: 426, type: CALLERS, retryable: false },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    retryable: true,
    flat: 'rate_limit_exceeded',
    code: 'rate_limit_exceeded',
  },
  quota_exceeded: {
    status: 429,
    type: 'insufficient_quota',
    retryable: false,
    code: 'insufficient_quota',
  },
  upstream_error: { status: 502, type: 'upstream_error', retryable: true },
  provider_auth_failed: { status: 502, type: 'upstream_error', retryable: false },
  upstream_timeout: { status: 504, type: 'upstream_error', retryable: true },
  unavailable: { status: 503, type: 'server_error', retryable: true },
  internal_error: { status: 500, type: 'server_error', retryable: true },
} as const satisfies Record<string, KindPolicy>

export const ERROR_KINDS = Object.keys(KINDS) as readonly ErrorKind[]

export const ERROR_POLICY = Object.fromEntries(
  Object.entries<KindPolicy>(KINDS).map(
    ([kind, { status, flat = kind, type, code = kind, retryable }]) => [
      kind,
      { status, flat, type, code, retryable },
    ],
  ),
) as Readonly<Record<ErrorKind, ErrorPolicy>>

/** `type` of the nested envelope for an upstream's refusal that the gateway rewords. */
const CALLERS_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
}

export function callersTypeOf(status: number): string | undefined {
  return CALLERS_TYPES[status]
}

/**
 * Why a target fails until a person acts: its account has no credit, or its model is unknown there.
 */
export type TargetFault = 'out_of_credit' | 'model_not_found'

export interface GatewayErrorOptions {
  /** The wrong field of the request, as the caller wrote the name (`input[2].type`). */
  readonly param?: string
  /** A narrower code for the nested envelope (`unsupported_parameter`). */
  readonly code?: string
  /**
   * Replaces the policy's `type` in the nested envelope: for an upstream's own 4xx, and for a client
   * that shows only errors of a certain type.
   */
  readonly type?: string | undefined
  /** Extra data for envelopes that support it, without secrets and prompts. */
  readonly details?: unknown
  /**
   * Replaces the policy's status: for an upstream's own 4xx, and for a client that retries the
   * policy's.
   */
  readonly status?: number
  /**
   * The limit that refuses: a budget's id, or the name of another limit (`requests_per_minute`).
   */
  readonly limit?: string
  /** Set when a limit in money is used up. */
  readonly spend?: SpendState | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Set when the target is at fault although the upstream reports the caller's mistake. */
  readonly targetFault?: TargetFault | undefined
  /** An upstream's own error body without secrets, forwarded when the dialects match. */
  readonly upstreamBody?: Uint8Array
  readonly cause?: unknown
}

/** Callers see the message, so never put a secret in it. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly kind: ErrorKind
  readonly status: number
  readonly param: string | undefined
  readonly code: string | null
  readonly type: string
  readonly details: unknown
  readonly limit: string | undefined
  readonly spend: SpendState | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly upstreamBody: Uint8Array | undefined
  readonly targetFault: TargetFault | undefined

  constructor(kind: ErrorKind, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const policy = ERROR_POLICY[kind]
    this.kind = kind
    this.status = options.status ?? policy.status
    this.param = options.param
    this.code = options.code ?? policy.code
    this.type = options.type ?? policy.type
    this.details = options.details
    this.limit = options.limit
    this.spend = options.spend
    this.headers = options.headers
    this.upstreamBody = options.upstreamBody
    this.targetFault = options.targetFault
  }
}

/** Codes of failures that persist until a setting changes, even if their kind is retryable. */
const PERSISTENT_CODES: ReadonlySet<string> = new Set(['address_refused'])
/** Statuses that some clients retry (Claude Code: 401, 403) although the refusal persists. */
const REPEATED_STATUSES: ReadonlySet<number> = new Set([401, 403, 429])

/**
 * True when clients would retry by status although the refusal would repeat. Clients obey
 * `x-should-retry: false`.
 */
export function isRepeatedInVain({ kind, code, status }: GatewayError): boolean {
  const isPersistent = !ERROR_POLICY[kind].retryable || PERSISTENT_CODES.has(code ?? '')
  return isPersistent && (status >= 500 || REPEATED_STATUSES.has(status))
}

export function retryHint(error: GatewayError): Record<string, string> {
  return isRepeatedInVain(error) ? { 'x-should-retry': 'false' } : {}
}

export function invalidRequest(message: string, param?: string, code?: string): GatewayError {
  return new GatewayError('invalid_request', message, {
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  })
}

/** Foreign errors become `internal_error` and keep their cause for the log. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError('internal_error', 'The gateway failed to handle this request.', {
    cause: thrown,
  })
}

/** Returns only the message, because a client's error may also hold a command with a password. */
export function reasonAway(error: unknown): string {
  return error instanceof Error ? error.message : 'no answer'
}
