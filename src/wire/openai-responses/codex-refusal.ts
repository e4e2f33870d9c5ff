/**
 * The refusal of a used-up limit as Codex shows it (0.171.0). For `insufficient_quota` Codex prints
 * words of its own; for this type it prints the header's, after "You've hit your usage limit."
 */
import { GatewayError } from '../../core/errors.ts'
import type { SentHeaders } from '../dialect.ts'

const TYPE = 'usage_limit_reached'
const WORDS = 'x-codex-promo-message'
/** Codex ignores a header with other characters. */
const NOT_PRINTABLE = /[^\x20-\x7e]/gu

export function toCodexRefusal(error: GatewayError, headers: SentHeaders): GatewayError {
  const { kind, message, code, limit, spend } = error
  if (kind !== 'quota_exceeded' || headers.get('originator')?.startsWith('codex') !== true)
    return error
  // Codex appends ", or try again later."
  const words = message.replaceAll(NOT_PRINTABLE, '?').replace(/\.$/, '')
  return new GatewayError(kind, message, {
    ...(code !== null && { code }),
    ...(limit !== undefined && { limit }),
    ...{ type: TYPE, spend, headers: { ...error.headers, [WORDS]: words }, cause: error },
  })
}
