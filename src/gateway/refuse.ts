/** Encodes every failure before the first byte in the caller's error envelope. */
import { GatewayError, retryHint, toGatewayError } from '../core/errors.ts'
import { UpstreamFailure } from '../net/upstream-failure.ts'
import type { Envelope } from '../wire/dialect.ts'
import { encodeError } from '../wire/envelope.ts'
import { type Call, isAdmitted } from './call.ts'
import { refusalCodeOf } from './refused-call.ts'
import { type SettlePorts, settle } from './settle/settle.ts'

/** Recorded when the client leaves before an answer; never sent. */
const CLIENT_LEFT_STATUS = 499

/**
 * Settles an admitted call that ends without an upstream's answer.
 * @returns the error for the client
 */
export async function settleRefused(
  ports: SettlePorts,
  call: Call,
  thrown: unknown,
): Promise<GatewayError> {
  const isCancelled = thrown instanceof UpstreamFailure && thrown.type === 'cancelled'
  const error = isCancelled
    ? new GatewayError('upstream_error', 'The client left before the answer was complete.', {
        cause: thrown,
      })
    : toGatewayError(thrown)
  if (!isAdmitted(call)) return error
  try {
    await settle(
      ports,
      call,
      isCancelled
        ? { outcome: 'cancelled', status: CLIENT_LEFT_STATUS }
        : {
            outcome: 'failed',
            status: error.status,
            errorKind: error.kind,
            refusalCode: refusalCodeOf(error, call),
            refusedBy: error.limit,
          },
    )
    return error
  } catch (cause) {
    return toGatewayError(cause)
  }
}

export function refuse(
  error: GatewayError,
  envelope: Envelope,
  headers: Readonly<Record<string, string>>,
): Response {
  return new Response(encodeError(envelope, error), {
    status: error.status,
    headers: {
      ...retryHint(error),
      ...headers,
      ...error.headers,
      'content-type': 'application/json',
      'cache-control': 'no-store',
    },
  })
}
