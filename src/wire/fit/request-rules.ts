/** Finds the rules of a model: those of its provider, changed by the operator's. */
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

export function rulesOf(rows: Rows, model: string, overrides: RuleOverrides = {}): RequestRules {
  const named = listRules(rows, model, overrides).map(({ name, value }) => [name, value])
  return Object.fromEntries(named) as RequestRules
}

export interface ListedRule {
  readonly name: keyof RequestRules
  readonly value: NonNullable<RequestRules[keyof RequestRules]>
  /** Undefined: the operator's. */
  readonly row: RequestRulesRow | undefined
}

/** The rules in force. */
export function listRules(
  rows: Rows,
  model: string,
  overrides: RuleOverrides = {},
): readonly ListedRule[] {
  const found = new Map<string, ListedRule>()
  const note = (rules: RuleOverrides, row: RequestRulesRow | undefined) => {
    for (const [name, value] of Object.entries(rules) as Entries)
      if (value === null || value === false) found.delete(name)
      else if (value !== undefined) found.set(name, { name, value, row })
  }
  for (const row of rows ?? []) if (row.models.test(model)) note(row.rules, row)
  note(overrides, undefined)
  return [...found.values()]
}

type Entries = readonly (readonly [
  name: keyof RequestRules,
  value: ListedRule['value'] | null | false | undefined,
])[]
