/** The error envelopes of the API. */
import { ERROR_POLICY, type GatewayError } from '../core/errors.ts'
import type { Envelope } from './dialect.ts'

export interface NestedError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** OpenAI's schema requires all four members, some of them nullable. */
export function toNestedError(error: GatewayError): NestedError {
  return {
    message: error.message,
    type: error.type,
    param: error.param ?? null,
    code: error.code,
  }
}

function toFlatError(error: GatewayError): Record<string, unknown> {
  const details = error.details ?? (error.param === undefined ? undefined : { field: error.param })
  return {
    error: ERROR_POLICY[error.kind].flat,
    message: error.message,
    ...(details === undefined ? {} : { details }),
  }
}

/** Mistral's parsers need these four members, with `param` and `code` as text or null. */
function toAltError(error: GatewayError): Record<string, unknown> {
  const { type, param, code } = toNestedError(error)
  return { ...toFlatError(error), object: 'error', type, param, code }
}

/** Clients of the Messages API distinguish errors by these types alone. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

function toMessagesError(error: GatewayError): Record<string, unknown> {
  // Claude Code retries `rate_limit_error` for minutes, but shows `billing_error` immediately.
  const ofKind = error.kind === 'quota_exceeded' ? 'billing_error' : undefined
  const type =
    ofKind ??
    MESSAGES_TYPES[error.status] ??
    (error.status < 500 ? 'invalid_request_error' : 'api_error')
  // An upstream's refusal contains its own words, in any dialect.
  const details = error.kind === 'invalid_request' &&
    error.details !== undefined && { details: error.details }
  return { type: 'error', error: { type, message: error.message, ...details } }
}

/**
 * An upstream's own body may span lines, and some clients read line by line, so the data is one
 * line.
 */
export function encodeErrorData(envelope: Envelope, error: GatewayError): string {
  const body = encodeError(envelope, error)
  // A line end in JSON text can only be white space between tokens.
  return typeof body === 'string' ? body : new TextDecoder().decode(body).replaceAll(/[\r\n]/g, ' ')
}

export function encodeError(envelope: Envelope, error: GatewayError): string | Uint8Array {
  if (envelope === 'flat') return JSON.stringify(toFlatError(error))
  if (envelope === 'alt') return JSON.stringify(toAltError(error))
  if (envelope === 'messages') return error.upstreamBody ?? JSON.stringify(toMessagesError(error))
  return error.upstreamBody ?? JSON.stringify({ error: toNestedError(error) })
}
