/** Facts of a target that follow from its rules for requests. */
import type { ModelFacts } from '../../core/model-facts.ts'
import type { ModelOverlay } from '../../core/model-overlay.ts'
import type { Provider } from '../../providers/define.ts'
import { type ListedRule, listRules, type RulesLayer } from '../../wire/fit/request-rules.ts'

export type RulesOf = (target: string) => readonly ListedRule[]

type Rules = Pick<Provider, 'rules'>

export function createRulesOf(
  providers: readonly Provider[],
  overlay: () => ModelOverlay,
): RulesOf {
  const byId = new Map(providers.map((provider) => [provider.id, provider]))
  return (target) => listRules(layersOf(target, byId, overlay()))
}

/** The layers of the models that the target is like, and its own. */
export function layersOf(
  target: string,
  providers: ReadonlyMap<string, Rules>,
  overlay: ModelOverlay,
): readonly RulesLayer[] {
  return overlay.takesOf(target).map(({ target: each, takes: overrides }) => {
    const slash = each.indexOf('/')
    const rows = providers.get(each.slice(0, slash))?.rules
    return { rows, model: each.slice(slash + 1), overrides }
  })
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
