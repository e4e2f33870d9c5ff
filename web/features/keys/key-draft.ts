/** Name and end of a key before it is there, whichever way it comes. Knows no page and no key. */
import type { TimeZone } from '../../format/time-zone.ts'
import { type Expiry, NEVER, toExpiresAt } from './expiry.ts'

export interface KeyDraft {
  readonly name: string
  readonly expiry: Expiry
}

export const EMPTY_DRAFT: KeyDraft = { name: '', expiry: NEVER }

/** The body's part that both ways share. The form's own field refuses a day that there is not. */
export function toLabel(
  { name, expiry }: KeyDraft,
  { now, zone }: { readonly now: number; readonly zone: TimeZone },
) {
  const expiresAt = toExpiresAt(expiry, { now, kept: null, zone })
  return {
    name: name.trim(),
    ...(expiresAt == null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  }
}
