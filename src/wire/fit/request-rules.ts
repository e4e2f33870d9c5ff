/**
 * What a model accepts in translated requests beyond its dialect's form, as data (decision 0120).
 * Undefined members are unknown, so nothing is fitted for them.
 */
export interface RequestRules {
  readonly toolNames?: ToolNameRule
}

export interface ToolNameRule {
  readonly maxLength: number
  /** Global; matches each character that the model refuses. */
  readonly refused: RegExp
}

/** Rules for the models whose names match; of several rows, the last with a member sets it. */
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
