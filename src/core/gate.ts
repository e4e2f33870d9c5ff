/** A gate: the named routing target that an application puts where the model name was. Knows nothing of providers. */
import type { AccountId, GateId } from './ids.ts'

export interface GateTarget {
  /** `provider/model`; the provider is the part before the first slash. */
  readonly model: string
}

export interface Gate {
  readonly accountId: AccountId
  readonly id: GateId
  readonly displayName: string
  readonly description: string
  /** Tried in this order; never empty. */
  readonly targets: readonly GateTarget[]
  /** Longest that a call may take from its first byte in to its last byte out; null: the server's own limit. */
  readonly timeoutMs: number | null
  /** How often one target is tried again after a failure that may pass, before the next target's turn. */
  readonly maxRetries: number
  /** Milliseconds since the Unix epoch, as is `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
}
