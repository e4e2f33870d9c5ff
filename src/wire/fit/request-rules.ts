/**
 * Rules of a model for translated requests, beyond its dialect's form (decision 0120). An undefined
 * rule is unknown, so nothing is fitted.
 */
import type { ReasoningEffort } from '../../core/gate.ts'
import type { SettingName } from '../settings.ts'

export interface RequestRules {
  readonly toolNames?: ToolNameRule
  readonly efforts?: readonly ReasoningEffort[]
  readonly thinkingBudget?: ThinkingBudgetRule
  readonly maxOutputTokens?: number
  readonly refusedSettings?: readonly SettingName[]
  readonly maxStops?: number
  /** The maximum length of `user` and of the prompt cache's key, in UTF-16 units. */
  readonly maxUserLength?: number
  /** The maximum length of a tool call's id, in UTF-16 units. */
  readonly maxCallIdLength?: number
  /**
   * The schema of a tool must be an object with `properties` and without combinators at its root,
   * and arrays need `items`.
   */
  readonly plainToolSchemas?: true
  /** A strict tool must require every member and refuse others. */
  readonly strictSchemas?: true
  /** Response schemas must refuse further members and have few keywords. */
  readonly closedSchemas?: true
  /** The model has no response schemas. */
  readonly refusesResponseSchema?: true
  /** A JSON format and tools exclude each other. */
  readonly formatExcludesTools?: true
  readonly refusesBlankText?: true
  /** Text documents inside the request have to be text. */
  readonly refusesTextFiles?: true
  /** Instructions must come before everything else. */
  readonly systemFirst?: true
  /** A user may not speak right after a tool's result. */
  readonly assistantAfterTool?: true
  /** Two messages of the user in a row are refused. */
  readonly mergesUserTurns?: true
  readonly beginsWithUser?: true
  /** The model refuses a conversation that ends in text of the assistant. */
  readonly refusesPrefill?: true
}

export interface ToolNameRule {
  readonly maxLength: number
  /** Global; matches each character that the model refuses. */
  readonly refused: RegExp
}

export interface ThinkingBudgetRule {
  readonly least: number
  readonly most: number
  /** A budget of 0 turns thinking off. */
  readonly zero?: boolean
}

/** For the models whose names match. If several rows have a member, the last row counts. */
export interface RequestRulesRow {
  readonly models: RegExp
  /** The address where the vendor or a report states the rule. */
  readonly source: string
  /** The month in which the source was read, such as `2026-11`. */
  readonly checked: string
  readonly rules: RequestRules
}

export function rulesOf(rows: readonly RequestRulesRow[] | undefined, model: string): RequestRules {
  const matching = (rows ?? []).filter(({ models }) => models.test(model))
  return Object.assign({}, ...matching.map(({ rules }) => rules))
}
