/**
 * Which ends of a key and of its text one may ask for. Times are milliseconds since the Unix epoch.
 * Knows neither store nor memory.
 */
import type { ApiKey, PreviousKey } from '../core/api-key.ts'
import { GatewayError, invalidRequest } from '../core/errors.ts'

/** @throws GatewayError `invalid_request` */
export function assertAhead(expiresAt: number | null | undefined, nowMs: number): void {
  if (expiresAt != null && expiresAt <= nowMs)
    throw invalidRequest('expiresAt: must be in the future', 'expiresAt')
}

/** @throws GatewayError `conflict` */
export function assertNotExpired({ expiresAt }: ApiKey, nowMs: number): void {
  if (expiresAt !== null && expiresAt <= nowMs)
    throw new GatewayError('conflict', 'This key has expired, and stays so: make a new one.')
}

/**
 * The text that a key has until it is rotated, as its previous one; null where it ends at once.
 * @throws GatewayError `conflict` where an earlier rotation has not ended
 */
export function endPrevious(
  { sha256, maskedPrefix, previous }: ApiKey,
  { nowMs, endsInMs }: { readonly nowMs: number; readonly endsInMs: number },
): PreviousKey | null {
  if (endsInMs <= 0) return null
  if (previous !== null && previous.endsAt > nowMs) throw isBeingRotated(previous)
  return { sha256, maskedPrefix, endsAt: nowMs + endsInMs }
}

function isBeingRotated({ endsAt }: PreviousKey): GatewayError {
  const until = new Date(endsAt).toISOString()
  return new GatewayError(
    'conflict',
    `This key is being rotated: what it was before ends at ${until}. Wait for that, or rotate ` +
      `with 'oldEndsInSeconds: 0', which ends all it was at once.`,
  )
}
