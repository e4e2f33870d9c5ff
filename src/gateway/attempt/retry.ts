/** Decides whether and when a failed attempt is repeated. */
import type { GatewayError } from '../../core/errors.ts'
import { grownMs } from '../../core/retry-delay.ts'
import { isOutOfDescriptors } from './failures.ts'

/**
 * Statuses of temporary failures: a timeout, a conflict, a failed model (424), a limit.
 * refused-answer.ts turns other 5xx of upstreams into 502.
 */
const TEMPORARY_STATUSES = new Set([408, 409, 424, 429, 502, 503, 504])

export const FOREIGN_REASONING = 'foreign_reasoning'

export function isForeignReasoning(failure: GatewayError): boolean {
  return failure.code === FOREIGN_REASONING
}

/**
 * True when another target may succeed: a refused credential, an empty account, a retired model or
 * sealed reasoning affects a single target.
 */
export function movesOn(failure: GatewayError): boolean {
  return (
    isWorthRetrying(failure) ||
    failure.kind === 'provider_auth_failed' ||
    isForeignReasoning(failure) ||
    failure.targetFault !== undefined ||
    isAddressRefused(failure) ||
    // This process cannot open a connection, but another target may have an open connection.
    isOutOfDescriptors(failure)
  )
}

/** True when the failure counts against the target's health. */
export function isTargetsFault(failure: GatewayError): boolean {
  const isBlameless = isForeignReasoning(failure) || isOutOfDescriptors(failure)
  return movesOn(failure) && failure.status !== 409 && !isBlameless
}

const DELAYS = { firstMs: 200, longestMs: 8_000 }

/** A client's own mistake is never retried, and a refused credential stays refused. */
export function isWorthRetrying(failure: GatewayError): boolean {
  if (isAddressRefused(failure) || failure.targetFault !== undefined) return false
  if (failure.kind === 'upstream_timeout') return true
  return failure.kind === 'upstream_error' && TEMPORARY_STATUSES.has(failure.status)
}

export function mayPass(failure: GatewayError): boolean {
  return isWorthRetrying(failure) || isOutOfDescriptors(failure)
}

/**
 * An owned model's address does not change between retries, but another target has another address.
 */
function isAddressRefused(failure: GatewayError): boolean {
  return failure.code === 'address_refused'
}

/**
 * Exponential backoff with full jitter, in milliseconds; at least the upstream's `retry-after`.
 * @param retry 1 for the first retry
 */
export function retryDelayMs(
  retry: number,
  failure: GatewayError,
  random: () => number = Math.random,
): number {
  const requested = Math.min(DELAYS.longestMs, requestedDelayMs(failure))
  return Math.max(random() * grownMs(retry - 1, DELAYS), requested)
}

export function requestedDelayMs(failure: GatewayError): number {
  const inMs = Number(failure.headers?.['retry-after-ms'])
  if (Number.isFinite(inMs) && inMs > 0) return inMs
  const inSeconds = Number(failure.headers?.['retry-after'])
  return Number.isFinite(inSeconds) && inSeconds > 0 ? inSeconds * 1000 : 0
}
