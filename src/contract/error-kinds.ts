/**
 * Why a call failed, as the log names it: the closed list. Must not decide what each looks like
 * from outside.
 */

export const ERROR_KINDS = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'gate_not_found',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'conflict',
  'precondition_failed',
  'payload_too_large',
  'upgrade_not_supported',
  'rate_limited',
  'quota_exceeded',
  'upstream_error',
  'provider_auth_failed',
  'upstream_timeout',
  'unavailable',
  'internal_error',
] as const

export type LoggedErrorKind = (typeof ERROR_KINDS)[number]
