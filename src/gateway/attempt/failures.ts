/** Converts failures between gateway and upstream into GatewayErrors. */
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { UpstreamFailure, type UpstreamFailureType } from '../../net/upstream-failure.ts'
import { SseFrameTooLargeError } from '../../wire/sse.ts'

const OUT_OF_DESCRIPTORS = 'out_of_handles'
const RETRY_SECONDS = '1'

const TIMEOUTS: ReadonlySet<UpstreamFailureType> = new Set([
  'connect_timeout',
  'first_byte_timeout',
  'idle_timeout',
  'total_timeout',
])

/**
 * True when the gateway ended the answer: the gate's timeout, a revoked key, or an event above the
 * size limit. An account can cause each of these ends.
 */
export function isOurEnd(thrown: unknown): boolean {
  return isGuaranteedEnd(thrown) || thrown instanceof SseFrameTooLargeError
}

/** True when the call must end within a guaranteed time. */
export function isGuaranteedEnd(thrown: unknown): boolean {
  return (
    thrown instanceof UpstreamFailure &&
    (thrown.type === 'total_timeout' || thrown.type === 'revoked')
  )
}

export function isSilence(thrown: unknown): boolean {
  return (
    thrown instanceof UpstreamFailure &&
    (thrown.type === 'first_byte_timeout' || thrown.type === 'idle_timeout')
  )
}

export function keyRevoked(): GatewayError {
  return new GatewayError(
    'unauthorized',
    'The API key or session of this call was deleted or has expired.',
  )
}

/** The reason why the caller may no longer call, after an upstream was asked. */
function toRevoked(failure: UpstreamFailure): GatewayError {
  const { kind, message, code } =
    failure.cause instanceof GatewayError ? failure.cause : keyRevoked()
  return new GatewayError(kind, message, { cause: failure, ...(code === null ? {} : { code }) })
}

export function outOfDescriptors(cause: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway has no file descriptor left for another connection. Try again soon.',
    { code: OUT_OF_DESCRIPTORS, headers: { 'retry-after': RETRY_SECONDS }, cause },
  )
}

export function isOutOfDescriptors({ kind, code }: GatewayError): boolean {
  return kind === 'unavailable' && code === OUT_OF_DESCRIPTORS
}

/** @param target `provider/model`, named in the message for the caller */
export function toFailure(thrown: unknown, target: string): GatewayError {
  if (thrown instanceof UpstreamFailure) {
    if (thrown.type === 'revoked') return toRevoked(thrown)
    const kind = TIMEOUTS.has(thrown.type)
      ? 'upstream_timeout'
      : thrown.type === 'shutdown'
        ? 'unavailable'
        : 'upstream_error'
    return new GatewayError(kind, `${thrown.message} (${target})`, {
      code: thrown.type,
      cause: thrown,
    })
  }
  if (thrown instanceof SseFrameTooLargeError)
    return unusableAnswer(target, 'sent an event above the size limit')
  return toGatewayError(thrown)
}

export function unusableAnswer(target: string, what: string): GatewayError {
  // The quoted words may end with a full stop already.
  const end = what.endsWith('.') ? '' : '.'
  return new GatewayError('upstream_error', `The upstream of ${target} ${what}${end}`, {
    code: 'bad_upstream_answer',
  })
}
