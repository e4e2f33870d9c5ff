/** The two error envelopes of the interface. It must not decide statuses or codes: core/errors.ts does. */
import { ERROR_POLICY, type GatewayError } from '../core/errors.ts'
import type { Envelope } from './dialect.ts'

export interface NestedError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** All four members are always there: OpenAI's schema requires them, null where there is nothing to say. */
export function toNestedError(error: GatewayError): NestedError {
  return {
    message: error.message,
    type: ERROR_POLICY[error.kind].type,
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

/** The JSON text of an error answer. An upstream's own body wins where the envelopes are the same. */
export function encodeError(envelope: Envelope, error: GatewayError): string | Uint8Array {
  if (envelope === 'flat') return JSON.stringify(toFlatError(error))
  return error.upstreamBody ?? JSON.stringify({ error: toNestedError(error) })
}
