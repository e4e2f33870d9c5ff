/** What is known of a target by its rules for requests. */
import type { ModelFacts } from '../../core/model-facts.ts'
import type { ModelOverlay } from '../../core/model-overlay.ts'
import type { Provider } from '../../providers/define.ts'
import { type ListedRule, listRules } from '../../wire/fit/request-rules.ts'

export type RulesOf = (target: string) => readonly ListedRule[]

export function createRulesOf(
  providers: readonly Provider[],
  overlay: () => ModelOverlay,
): RulesOf {
  const byId = new Map(providers.map((provider) => [provider.id, provider]))
  return (target) => {
    const slash = target.indexOf('/')
    const rows = byId.get(target.slice(0, slash))?.rules
    return listRules(rows, target.slice(slash + 1), overlay().takesOf(target))
  }
}

/** Facts that are not known otherwise are read from the rules. */
export function completeFacts(
  known: ModelFacts | undefined,
  rules: readonly ListedRule[],
): ModelFacts | undefined {
  const read: { -readonly [Name in keyof ModelFacts]: ModelFacts[Name] } = {}
  for (const rule of rules) {
    if (rule.name === 'maxOutputTokens') read.maxOutputTokens = rule.value as number
    if (rule.name === 'efforts') read.reasoningEfforts = rule.value as readonly string[]
  }
  return known === undefined && Object.keys(read).length === 0 ? undefined : { ...read, ...known }
}
