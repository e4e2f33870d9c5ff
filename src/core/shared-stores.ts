/** States and rules of the database and the Redis that nodes share. */

/**
 * `grace`: calls continue while no change can be missed. `closed`: calls are refused as soon as a
 * change can be missed. `open`: calls continue for the grace time even if changes are missed.
 */
export type StoreOutageChoice = (typeof STORE_OUTAGE_CHOICES)[number]

export const STORE_OUTAGE_CHOICES = ['grace', 'closed', 'open'] as const

export interface StoreOutagePolicy {
  readonly choice: StoreOutageChoice
  /**
   * Grace time in milliseconds, from the last time that every change was known. 0 with `closed`.
   */
  readonly graceMs: number
}

/** A node's knowledge of changes: complete, bridged within the grace time, or too old to serve. */
export const FRESHNESS_STATUSES = ['ok', 'grace', 'away'] as const
export type FreshnessStatus = (typeof FRESHNESS_STATUSES)[number]

/** `shared`: Redis answers. The others are the operator's choice for limits without Redis. */
export const SHARING_MODES = ['shared', 'share', 'open', 'closed'] as const
export type SharingMode = (typeof SHARING_MODES)[number]

export const POSTGRES_TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const
