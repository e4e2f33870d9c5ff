/**
 * The one error type and the one table that decides what an error looks like from outside.
 * It must not know any dialect's envelope: those are in wire/.
 */

export type ErrorKind = keyof typeof ERROR_POLICY

export interface ErrorPolicy {
  /** HTTP status; an `upstream_error` may carry the upstream's own 4xx instead. */
  readonly status: number
  /** Stable code of the flat envelope (`{error, message}`). */
  readonly flat: string
  /** `type` of the nested envelope (`{error: {type, code, …}}`). */
  readonly type: string
  /** Default `code` of the nested envelope; a reason given with the error replaces it. */
  readonly code: string | null
  /**
   * True where the same request may succeed later; `x-should-retry` tells SDKs whose own rule
   * differs.
   */
  readonly retryable: boolean
}

export const ERROR_POLICY = {
  invalid_request: {
    status: 400,
    flat: 'invalid_request',
    type: 'invalid_request_error',
    code: null,
    retryable: false,
  },
  unauthorized: {
    status: 401,
    flat: 'unauthorized',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    retryable: false,
  },
  forbidden: {
    status: 403,
    flat: 'forbidden',
    type: 'invalid_request_error',
    code: 'forbidden',
    retryable: false,
  },
  gate_not_found: {
    status: 404,
    flat: 'gate_not_found',
    type: 'invalid_request_error',
    code: 'model_not_found',
    retryable: false,
  },
  not_found: {
    status: 404,
    flat: 'not_found',
    type: 'invalid_request_error',
    code: 'not_found',
    retryable: false,
  },
  method_not_allowed: {
    status: 405,
    flat: 'method_not_allowed',
    type: 'invalid_request_error',
    code: 'method_not_allowed',
    retryable: false,
  },
  request_timeout: {
    status: 408,
    flat: 'request_timeout',
    type: 'invalid_request_error',
    code: 'request_timeout',
    retryable: true,
  },
  conflict: {
    status: 409,
    flat: 'conflict',
    type: 'invalid_request_error',
    code: 'conflict',
    retryable: false,
  },
  payload_too_large: {
    status: 413,
    flat: 'payload_too_large',
    type: 'invalid_request_error',
    code: 'payload_too_large',
    retryable: false,
  },
  upgrade_not_supported: {
    status: 426,
    flat: 'upgrade_not_supported',
    type: 'invalid_request_error',
    code: 'upgrade_not_supported',
    retryable: false,
  },
  rate_limited: {
    status: 429,
    flat: 'rate_limit_exceeded',
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    retryable: true,
  },
  quota_exceeded: {
    status: 429,
    flat: 'quota_exceeded',
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    retryable: false,
  },
  upstream_error: {
    status: 502,
    flat: 'upstream_error',
    type: 'upstream_error',
    code: 'upstream_error',
    retryable: true,
  },
  provider_auth_failed: {
    status: 502,
    flat: 'provider_auth_failed',
    type: 'upstream_error',
    code: 'provider_auth_failed',
    retryable: false,
  },
  upstream_timeout: {
    status: 504,
    flat: 'upstream_timeout',
    type: 'upstream_error',
    code: 'upstream_timeout',
    retryable: true,
  },
  unavailable: {
    status: 503,
    flat: 'unavailable',
    type: 'server_error',
    code: 'unavailable',
    retryable: true,
  },
  internal_error: {
    status: 500,
    flat: 'internal_error',
    type: 'server_error',
    code: 'internal_error',
    retryable: true,
  },
} as const satisfies Record<string, ErrorPolicy>

/**
 * `type` of the nested envelope where our own words report an upstream's refusal of the caller's
 * request.
 */
const CALLERS_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
}

/** Undefined: the kind's own. */
export function callersTypeOf(status: number): string | undefined {
  return CALLERS_TYPES[status]
}

export interface GatewayErrorOptions {
  /** The field of the request that is wrong, as the caller wrote it (`input[2].type`). */
  readonly param?: string
  /** A narrower code for the nested envelope (`unsupported_parameter`). */
  readonly code?: string
  /** Replaces the policy's `type` in the nested envelope: only for an upstream's own 4xx. */
  readonly type?: string | undefined
  /** Extra data, where the envelope has a place for it. Must be free of secrets and of prompts. */
  readonly details?: unknown
  /** Replaces the policy's status: only for an upstream's own 4xx. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An upstream's own error answer (bytes, scrubbed), sent as it is where the dialects match. */
  readonly upstreamBody?: Uint8Array
  readonly cause?: unknown
}

/**
 * Every refusal and failure the gateway makes. Its message is shown to the caller: never put a
 * secret in it.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly kind: ErrorKind
  readonly status: number
  readonly param: string | undefined
  readonly code: string | null
  readonly type: string
  readonly details: unknown
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly upstreamBody: Uint8Array | undefined

  constructor(kind: ErrorKind, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const policy = ERROR_POLICY[kind]
    this.kind = kind
    this.status = options.status ?? policy.status
    this.param = options.param
    this.code = options.code ?? policy.code
    this.type = options.type ?? policy.type
    this.details = options.details
    this.headers = options.headers
    this.upstreamBody = options.upstreamBody
  }
}

/** A 400 that names the field it is about. */
export function invalidRequest(message: string, param?: string, code?: string): GatewayError {
  return new GatewayError('invalid_request', message, {
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  })
}

/**
 * Turns anything thrown into a GatewayError; what is not ours becomes `internal_error` and keeps
 * its cause for the log.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError('internal_error', 'The gateway failed to handle this request.', {
    cause: thrown,
  })
}
