/** Whether an API key or access token expires soon, for the dashboard and the command line. */
import { EXPIRES_SOON_MS } from '../core/access-token.ts'

export function stateOfExpiry(expiresAt: string, now: number): 'later' | 'soon' | 'expired' {
  const leftMs = Date.parse(expiresAt) - now
  if (leftMs <= 0) return 'expired'
  return leftMs <= EXPIRES_SOON_MS ? 'soon' : 'later'
}

/** The latest end, as a time of the API, that counts as soon. */
export function endOfSoon(now: number): string {
  return new Date(now + EXPIRES_SOON_MS).toISOString()
}
