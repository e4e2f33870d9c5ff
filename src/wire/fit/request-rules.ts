/**
 * Finds the rules of a model: those of its provider, changed by the operator's, and those of the
 * models that it is like.
 */
import type { RequestRules, RuleOverrides } from '../../core/request-rules.ts'

/** For the models whose names match. If several rows have a member, the last row counts. */
export interface RequestRulesRow {
  readonly models: RegExp
  /** The address where the vendor or a report states the rule. */
  readonly source: string
  /** The month in which the source was read, such as `2026-11`. */
  readonly checked: string
  readonly rules: RequestRules
}

type Rows = readonly RequestRulesRow[] | undefined

/** The rules of one model by its own name. */
export interface RulesLayer {
  /** The rows of the model's provider. */
  readonly rows: Rows
  readonly model: string
  /** Overrides by the operator. */
  readonly overrides?: RuleOverrides | undefined
}

export function rulesOf(layers: readonly RulesLayer[]): RequestRules {
  const named = listRules(layers).map(({ name, value }) => [name, value])
  return Object.fromEntries(named) as RequestRules
}

export interface ListedRule {
  readonly name: keyof RequestRules
  readonly value: NonNullable<RequestRules[keyof RequestRules]>
  /** Undefined for a rule of the operator. */
  readonly row: RequestRulesRow | undefined
}

/**
 * The rules in force.
 * @param layers the model's own last, after those of the models that it is like
 */
export function listRules(layers: readonly RulesLayer[]): readonly ListedRule[] {
  const found = new Map<string, ListedRule>()
  const note = (rules: RuleOverrides, row: RequestRulesRow | undefined) => {
    for (const [name, value] of Object.entries(rules) as Entries)
      if (value === null || value === false) found.delete(name)
      else if (value !== undefined) found.set(name, { name, value, row })
  }
  for (const { rows = [], model } of layers)
    for (const row of rows) if (row.models.test(model)) note(row.rules, row)
  for (const { overrides = {} } of layers) note(overrides, undefined)
  return [...found.values()]
}

type Entries = readonly (readonly [
  name: keyof RequestRules,
  value: ListedRule['value'] | null | false | undefined,
])[]
