/**
 * A gate: the named routing target that an application uses in place of a model name. Knows nothing
 * of providers.
 */
import type { AccountId, GateId } from './ids.ts'

export interface GateTarget {
  /** `provider/model`; the provider is the part before the first slash. */
  readonly model: string
  /**
   * Its share of the calls under the strategy `weighted`; 0: only when the others fail. Default 1.
   */
  readonly weight?: number | undefined
}

/**
 * Decides the first target of a call; the others follow when it fails. `fallback`: list order.
 * `weighted`: in proportion to the weights. `fastest`: the target with the lowest recent time to
 * first byte.
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
  /** Put before the caller's own instructions. */
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
 * The rule for a request that contradicts the gate: a `model` besides `gate_id`, or a parameter
 * with a default. `ignore`: the gate's value applies. `reject`: 400. `allow`: the caller's value
 * applies.
 */
export const OVERRIDES = ['ignore', 'reject', 'allow'] as const
export type Overrides = (typeof OVERRIDES)[number]

export interface Gate {
  readonly accountId: AccountId
  readonly id: GateId
  readonly displayName: string
  readonly description: string
  /** At least one. */
  readonly targets: readonly GateTarget[]
  readonly strategy: Strategy
  /**
   * Delay of the first byte, in milliseconds, after which the next target is asked as well; null:
   * never.
   */
  readonly hedgeAfterMs: number | null
  /** null: no defaults, which the hot path checks. */
  readonly defaults: GateDefaults | null
  readonly overrides: Overrides
  /**
   * Maximum time of a call from its first byte in to its last byte out; null: the server's limit.
   */
  readonly timeoutMs: number | null
  /** How often one target is retried after a temporary failure, before the next target. */
  readonly maxRetries: number
  /** Milliseconds since the Unix epoch, as is `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** The public form of a gate, listed field by field. */
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
