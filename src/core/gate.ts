/**
 * A gate: the named routing target that an application puts where the model name was. Knows nothing
 * of providers.
 */
import type { AccountId, GateId } from './ids.ts'

export interface GateTarget {
  /** `provider/model`; the provider is the part before the first slash. */
  readonly model: string
  /**
   * Its share of the calls under the strategy `weighted`; 0: only when the others fail. Absent: 1.
   */
  readonly weight?: number | undefined
}

/**
 * Decides the first target of a call; the others follow when it fails. `fallback`: the order of the
 * list. `weighted`: each in proportion to its weight. `fastest`: the one that has lately begun to
 * answer soonest.
 */
export const STRATEGIES = ['fallback', 'weighted', 'fastest'] as const
export type Strategy = (typeof STRATEGIES)[number]

export const REASONING_EFFORTS = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number]

/**
 * A gate's defaults for every request through it, in the gateway's own terms; each dialect has its
 * own spelling.
 */
export interface GateDefaults {
  /** Put before the caller's own. */
  readonly instructions?: string
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly reasoningEffort?: ReasoningEffort
}

export const GATE_DEFAULT_NAMES = [
  'instructions',
  'temperature',
  'topP',
  'maxOutputTokens',
  'reasoningEffort',
] as const satisfies readonly (keyof GateDefaults)[]

/**
 * The rule for a request that contradicts what the gate has decided: a `model` beside
 * `gate_id`, or a parameter with a default. `ignore`: the gate's counts. `reject`: 400. `allow`:
 * the caller's counts.
 */
export const OVERRIDES = ['ignore', 'reject', 'allow'] as const
export type Overrides = (typeof OVERRIDES)[number]

export interface Gate {
  readonly accountId: AccountId
  readonly id: GateId
  readonly displayName: string
  readonly description: string
  /** Never empty. */
  readonly targets: readonly GateTarget[]
  readonly strategy: Strategy
  /**
   * When the first byte is this late (milliseconds), the next target is asked as well; null: never.
   */
  readonly hedgeAfterMs: number | null
  /** null: none at all, which is what the hot path asks. */
  readonly defaults: GateDefaults | null
  readonly overrides: Overrides
  /**
   * Longest that a call may take from its first byte in to its last byte out; null: the server's
   * own limit.
   */
  readonly timeoutMs: number | null
  /**
   * How often one target is tried again after a failure that may pass, before the next target's
   * turn.
   */
  readonly maxRetries: number
  /** Milliseconds since the Unix epoch, as is `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A gate as it may be read, field by field. */
export function toPublicGate(gate: Gate) {
  return {
    id: gate.id,
    displayName: gate.displayName,
    description: gate.description,
    targets: gate.targets.map(({ model, weight }) =>
      weight === undefined ? { model } : { model, weight },
    ),
    strategy: gate.strategy,
    hedgeAfterMs: gate.hedgeAfterMs,
    defaults: { ...gate.defaults },
    overrides: gate.overrides,
    timeoutMs: gate.timeoutMs,
    maxRetries: gate.maxRetries,
    createdAt: new Date(gate.createdAt).toISOString(),
    updatedAt: new Date(gate.updatedAt).toISOString(),
  }
}
