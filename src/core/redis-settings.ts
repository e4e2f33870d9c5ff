/**
 * Where what nodes share is kept, and what counts while it cannot be reached. Knows nothing of how
 * it is asked.
 */
import type { Secret } from './secret.ts'

export interface RedisNode {
  readonly host: string
  readonly port: number
}

export interface RedisSettings {
  readonly topology: 'single' | 'sentinel' | 'cluster'
  /** The server; or the sentinels; or some of the cluster's nodes. Never empty. */
  readonly nodes: readonly RedisNode[]
  /** What the sentinels call the master; only with `sentinel`. */
  readonly masterName: string | undefined
  readonly username: string | undefined
  readonly password: Secret | undefined
  /** Always 0 in a cluster. */
  readonly database: number
  readonly hasTls: boolean
  /** In front of every key, so that several gateways can live in one Redis. */
  readonly prefix: string
  /** For one question; who asks meanwhile waits no longer than that. */
  readonly timeoutMs: number
  readonly outage: OutagePolicy
}

/**
 * What counts while Redis is away. `share`: each node lets its share of every limit through;
 * `open`: no limit of a key holds; `closed`: calls that have a limit are refused.
 */
export type OutageChoice = (typeof OUTAGE_CHOICES)[number]

export const OUTAGE_CHOICES = ['share', 'open', 'closed'] as const

export interface OutagePolicy {
  readonly choice: OutageChoice
  /** After this long it is `closed`; infinite: never. */
  readonly graceMs: number
}
