/** A gate: the named routing target that an application uses in place of a model name. */
import type { Fuse } from './fuse.ts'
import type { AccountId, GateId } from './ids.ts'
import type { ModelFacts } from './model-facts.ts'

export interface GateTarget {
  /** `provider/model`; the provider is the part before the first slash. */
  readonly model: string
  /** Share of the calls under `weighted`; 0: only when the other targets fail. Default 1. */
  readonly weight?: number | undefined
  /** The target is asked first while the condition holds. */
  readonly when?: TargetCondition | undefined
}

export interface TargetCondition {
  /** The id of a budget. */
  readonly budget: string
  /** Share of the budget's limit, used and reserved, from which the condition holds. */
  readonly from: number
}

/**
 * Chooses the first target; the others follow when it fails. `fallback`: list order. `weighted`: in
 * proportion to the weights. `fastest`: the lowest recent time to first byte.
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

/** A gate's defaults for all its requests; each dialect has its own spelling. */
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
 * The rule for a request that contradicts the gate. `ignore`: the gate's value applies. `reject`:
 * 400. `allow`: the caller's value applies.
 */
export const OVERRIDES = ['ignore', 'reject', 'allow'] as const
export type Overrides = (typeof OVERRIDES)[number]

/**
 * The handling of optional members that a target's model refuses. `off`: the request is unchanged.
 * `retry`: after the upstream's 400 the request goes once more without the member. `on`: members
 * that the provider's data names are left out at once, and efforts are changed to the nearest one.
 */
export const ADAPT_MODES = ['off', 'retry', 'on'] as const
export type AdaptMode = (typeof ADAPT_MODES)[number]

/** Another name by which calls find a gate: `openai/gpt-4.1`. */
export interface GateAlias {
  /** Case-sensitive; unique over the ids and aliases of the account's gates. */
  readonly name: string
  /** True when `GET /v1/models` lists the alias. */
  readonly isListed: boolean
}

export const MAX_ALIASES = 32

export interface Gate {
  readonly accountId: AccountId
  readonly id: GateId
  readonly displayName: string
  readonly description: string
  readonly targets: readonly GateTarget[]
  readonly strategy: Strategy
  /** Milliseconds without a first byte until the next target is asked as well; null: never. */
  readonly hedgeAfterMs: number | null
  /** Null instead of an empty object, because the hot path checks for null. */
  readonly defaults: GateDefaults | null
  readonly overrides: Overrides
  readonly aliases: readonly GateAlias[]
  /** Answers calls that name no gate. At most one gate of an account. */
  readonly isCatchAll: boolean
  /** Facts that replace the known facts of the gate's targets (core/gate-facts.ts). */
  readonly facts: ModelFacts
  /** Replaces Codex's own prompt. Null: Codex's list of models does not contain the gate. */
  readonly codexInstructions: string | null
  /** Adds the cost and tokens of a call to the headers of a whole answer. */
  readonly usageHeaders: boolean
  /** Reports a budget that steered or refused a call to API keys too, not only to access tokens. */
  readonly budgetHeaders: boolean
  /** Null: no session and no user is stopped automatically. */
  readonly fuse: Fuse | null
  readonly adapt: AdaptMode
  /** Sends Chat Completions with `store: true` as `store: false`. */
  readonly ignoreStore: boolean
  /** Milliseconds from a call's first byte in to its last byte out; null: the server's limit. */
  readonly timeoutMs: number | null
  /** Retries of one target after a temporary failure, before the next target. */
  readonly maxRetries: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** The settings of a gate that names only its targets. */
export const USUAL_GATE = {
  strategy: 'fallback',
  hedgeAfterMs: null,
  defaults: null,
  overrides: 'ignore',
  aliases: [] as readonly GateAlias[],
  isCatchAll: false,
  facts: {} as ModelFacts,
  codexInstructions: null,
  usageHeaders: false,
  budgetHeaders: false,
  fuse: null,
  adapt: 'retry',
  ignoreStore: false,
} as const satisfies Partial<Gate>

export function toPublicGate(gate: Gate) {
  return {
    id: gate.id,
    displayName: gate.displayName,
    description: gate.description,
    targets: gate.targets.map(({ model, weight, when }) => ({
      model,
      ...(weight === undefined ? {} : { weight }),
      ...(when === undefined ? {} : { when: { budget: when.budget, from: when.from } }),
    })),
    strategy: gate.strategy,
    hedgeAfterMs: gate.hedgeAfterMs,
    defaults: { ...gate.defaults },
    overrides: gate.overrides,
    aliases: gate.aliases.map(({ name, isListed }) => ({ name, isListed })),
    isCatchAll: gate.isCatchAll,
    facts: gate.facts,
    codexInstructions: gate.codexInstructions,
    usageHeaders: gate.usageHeaders,
    budgetHeaders: gate.budgetHeaders,
    fuse: gate.fuse,
    adapt: gate.adapt,
    ignoreStore: gate.ignoreStore,
    timeoutMs: gate.timeoutMs,
    maxRetries: gate.maxRetries,
    createdAt: new Date(gate.createdAt).toISOString(),
    updatedAt: new Date(gate.updatedAt).toISOString(),
  }
}

/** The names under which the gate is listed and suggested: its id and its listed aliases. */
export function listedNamesOf({ id, aliases }: Pick<Gate, 'id' | 'aliases'>): readonly string[] {
  const listed = aliases.filter(({ isListed }) => isListed)
  return [id, ...listed.map(({ name }) => name)]
}
