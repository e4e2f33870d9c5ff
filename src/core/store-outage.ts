/** The rules while the store cannot be reached. Knows no store. */

/**
 * `grace`: calls go on, as far as no change can be missed. `closed`: they are refused as soon as
 * one could be. `open`: they go on for the time of grace, whatever is missed.
 */
export type StoreOutageChoice = (typeof STORE_OUTAGE_CHOICES)[number]

export const STORE_OUTAGE_CHOICES = ['grace', 'closed', 'open'] as const

export interface StoreOutagePolicy {
  readonly choice: StoreOutageChoice
  /** Since the last time that every change was known. 0 with `closed`. */
  readonly graceMs: number
}
