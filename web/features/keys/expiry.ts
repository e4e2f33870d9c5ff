import { stateOfExpiry } from '../../../src/contract/expiry.ts'
import { startOfDay, type TimeZone } from '../../format/time-zone.ts'

const DAY_MS = 86_400_000

export const EXPIRY_CHOICES = [
  { choice: 'never', label: 'Never' },
  { choice: '30d', label: 'In 30 days' },
  { choice: '90d', label: 'In 90 days' },
  { choice: '1y', label: 'In 1 year' },
  { choice: 'date', label: 'On a date…' },
] as const

export interface Expiry {
  /** `keep` leaves the expiry of an existing key unchanged. */
  readonly choice: (typeof EXPIRY_CHOICES)[number]['choice'] | 'keep'
  /** For `date`: the last valid day in the pages' zone, such as `2026-12-31`. */
  readonly day: string
}

export const NEVER: Expiry = { choice: 'never', day: '' }

const PRESET_DAYS = { '30d': 30, '90d': 90, '1y': 365 } as const

/**
 * @returns milliseconds since the Unix epoch; null for a key that never expires; undefined for an
 * invalid day
 */
export function toExpiresAt(
  { choice, day }: Expiry,
  {
    now,
    kept,
    zone,
  }: { readonly now: number; readonly kept: string | null; readonly zone: TimeZone },
): number | null | undefined {
  if (choice === 'never') return null
  if (choice === 'keep') return kept === null ? null : Date.parse(kept)
  if (choice === 'date') return endOfDay(day, zone)
  return now + PRESET_DAYS[choice] * DAY_MS
}

function endOfDay(day: string, zone: TimeZone): number | undefined {
  const ms = startOfDay(day, zone, 1)
  return Number.isNaN(ms) ? undefined : ms
}

export function hasExpired(
  { expiresAt }: { readonly expiresAt: string | null },
  now: number,
): boolean {
  return expiresAt !== null && stateOfExpiry(expiresAt, now) === 'expired'
}

export interface PreviousKey {
  readonly maskedPrefix: string
  readonly endsAt: string
}

/** The key's previous text while still accepted: at most until the key itself expires. */
export function previousOf(
  {
    previous,
    expiresAt,
  }: { readonly previous: PreviousKey | null; readonly expiresAt: string | null },
  now: number,
): PreviousKey | undefined {
  if (previous === null) return undefined
  const { maskedPrefix } = previous
  const endsMs = Math.min(
    Date.parse(previous.endsAt),
    expiresAt === null ? Infinity : Date.parse(expiresAt),
  )
  return endsMs > now ? { maskedPrefix, endsAt: new Date(endsMs).toISOString() } : undefined
}
