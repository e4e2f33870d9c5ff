/**
 * A model's rules for requests, beyond its dialect's form (decision 0120). Plain data, which
 * the configuration file and the API use in the same form. An absent rule is unknown, so nothing is
 * fitted.
 */
import type { ReasoningEffort } from './gate.ts'

export const SAMPLING_SETTINGS = ['temperature', 'topP', 'topK'] as const

/** Settings that a model may refuse and a request can do without. */
export const OPTIONAL_SETTINGS = [
  ...SAMPLING_SETTINGS,
  ...(['seed', 'presencePenalty', 'frequencyPenalty'] as const),
  ...(['logprobs', 'topLogprobs', 'parallelToolCalls', 'user', 'metadata'] as const),
  ...(['serviceTier', 'promptCacheKey'] as const),
] as const
export type OptionalSetting = (typeof OPTIONAL_SETTINGS)[number]

/** Rules that hold or do not hold. */
export const RULE_FLAGS = [
  // A tool's schema must be an object with `properties` and without combinators at its root, and
  // arrays need `items`.
  'plainToolSchemas',
  // A strict tool must require every member and refuse others.
  'strictSchemas',
  // Response schemas and strict tools must refuse further members and have few keywords.
  'closedSchemas',
  // The model has no response schemas and no strict tools.
  'refusesResponseSchema',
  // A JSON format and tools exclude each other.
  'formatExcludesTools',
  'refusesBlankText',
  // Text documents inside the request have to be text.
  'refusesTextFiles',
  // Instructions must come before everything else.
  'systemFirst',
  // A user may not speak right after a tool's result.
  'assistantAfterTool',
  // Two messages of the user in a row are refused.
  'mergesUserTurns',
  'beginsWithUser',
  // The model refuses a conversation that ends in text of the assistant.
  'refusesPrefill',
] as const
export type RuleFlag = (typeof RULE_FLAGS)[number]

export type RequestRules = { readonly [Flag in RuleFlag]?: true | undefined } & RuleValues

interface RuleValues {
  readonly toolNames?: ToolNameRule | undefined
  readonly efforts?: readonly ReasoningEffort[] | undefined
  readonly thinkingBudget?: ThinkingBudgetRule | undefined
  readonly maxOutputTokens?: number | undefined
  readonly refusedSettings?: readonly OptionalSetting[] | undefined
  readonly maxStops?: number | undefined
  /** The maximum length of `user` and of the prompt cache's key, in UTF-16 units. */
  readonly maxUserLength?: number | undefined
  /** The maximum length of a tool call's id, in UTF-16 units. */
  readonly maxCallIdLength?: number | undefined
}

export interface ToolNameRule {
  readonly maxLength: number
  /** Accepted characters, as inside the brackets of a regular expression: `a-zA-Z0-9_-`. */
  readonly characters: string
  /** Accepted first characters. Undefined: all of `characters`. */
  readonly first?: string | undefined
}

/** Numbers of tokens. */
export interface ThinkingBudgetRule {
  readonly least: number
  readonly most: number
  /** A budget of 0 turns thinking off. */
  readonly zero?: boolean | undefined
}

/** The operator's rules of a model. `null` and `false` switch a rule off. */
export type RuleOverrides = { readonly [Flag in RuleFlag]?: boolean | undefined } & {
  readonly [Name in keyof RuleValues]?: RuleValues[Name] | null
}
