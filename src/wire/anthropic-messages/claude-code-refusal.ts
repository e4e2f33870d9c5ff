/**
 * Refusals by a stop as Claude Code shows them (2.1.332). With `apiKeyHelper`, Claude Code takes 403
 * for an old credential and repeats the call for minutes, in spite of `x-should-retry: false`. It
 * shows Anthropic's status for billing at once.
 */
import { GatewayError } from '../../core/errors.ts'
import type { SentHeaders } from '../dialect.ts'

const PAYMENT_REQUIRED = 402
const NO_RETRY = { 'x-should-retry': 'false' }

export function toClaudeCodeRefusal(error: GatewayError, headers: SentHeaders): GatewayError {
  const { kind, message, code } = error
  if (kind !== 'forbidden' || headers.get('user-agent')?.startsWith('claude-cli/') !== true)
    return error
  return new GatewayError(kind, message, {
    ...(code !== null && { code }),
    ...{ status: PAYMENT_REQUIRED, headers: { ...error.headers, ...NO_RETRY }, cause: error },
  })
}
