/** Whether an API key or access token expires soon, for the dashboard and the command line. */
import { EXPIRES_SOON_MS as SOON_MS } from '../core/access-token.ts'

/** The last milliseconds before an end, in which the end counts as soon. */
export const EXPIRES_SOON_MS = SOON_MS

export function stateOfExpiry(expiresAt: string, now: number): 'later' | 'soon' | 'expired' {
  const leftMs = Date.parse(expiresAt) - now
  if (leftMs <= 0) return 'expired'
  return leftMs <= EXPIRES_SOON_MS ? 'soon' : 'later'
}

/** The latest end, as a time of the API, that counts as soon. */
export function endOfSoon(now: number): string {
  return new Date(now + EXPIRES_SOON_MS).toISOString()
}
