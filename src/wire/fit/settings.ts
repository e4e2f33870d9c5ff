/** Fits a request's settings to the values that its model accepts. */
import { createHash } from 'node:crypto'
import { invalidRequest } from '../../core/errors.ts'
import { REASONING_EFFORTS, type ReasoningEffort } from '../../core/gate.ts'
import type { RequestRules, ThinkingBudgetRule } from '../../core/request-rules.ts'
import type { ChatRequest, ReasoningOptions } from '../chat-request.ts'
import type { Feature } from '../codec.ts'
import type { Changes } from './changes.ts'

/** @throws GatewayError `invalid_request` for more stop sequences than the model accepts */
export function fitSettings(
  request: ChatRequest,
  rules: RequestRules,
  { ignored, adapted }: Changes,
): ChatRequest {
  const fitted: { -readonly [Name in keyof ChatRequest]: ChatRequest[Name] } = { ...request }
  for (const name of rules.refusedSettings ?? [])
    if (fitted[name] !== undefined) {
      // A penalty of 0 has no effect, so it is not reported as lost.
      if (fitted[name] !== 0) ignored.add(name)
      delete fitted[name]
    }
  const { maxOutputTokens, maxUserLength = Number.POSITIVE_INFINITY } = rules
  if (maxOutputTokens !== undefined && (fitted.maxOutputTokens ?? 0) > maxOutputTokens) {
    fitted.maxOutputTokens = maxOutputTokens
    ignored.add('maxOutputTokens')
  }
  if (fitted.reasoning !== undefined)
    fitted.reasoning = fitReasoning(fitted.reasoning, rules, ignored)
  for (const name of ['user', 'promptCacheKey'] as const) {
    const text = fitted[name]
    if (text === undefined || text.length <= maxUserLength) continue
    fitted[name] = shortName(text)
    adapted.add(name)
  }
  if (fitted.stop !== undefined) refuseStops(fitted.stop, rules)
  dropIdleToolSettings(fitted, ignored)
  return fitted
}

/** The same text gets the same short name, so usage per user still adds up. */
function shortName(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function refuseStops({ length }: readonly string[], { maxStops }: RequestRules): void {
  if (maxStops === undefined || length <= maxStops) return
  throw invalidRequest(
    `The target of this gate takes at most ${maxStops} stop sequences, and the request has ${length}.`,
    'stop',
    'unsupported_value',
  )
}

/**
 * Drops settings about tools that the request does not offer, such as a choice of the provider's
 * own search. A demand for any tool stays, because its loss would change the answer.
 */
function dropIdleToolSettings(
  request: { -readonly [Name in keyof ChatRequest]: ChatRequest[Name] },
  ignored: Set<Feature>,
): void {
  const { toolChoice, tools = [] } = request
  const chosen = toolChoice?.type === 'tool' ? toolChoice.name : undefined
  if (chosen !== undefined && !tools.some(({ name }) => name === chosen)) {
    delete request.toolChoice
    ignored.add('toolChoice')
  }
}

function fitReasoning(
  reasoning: ReasoningOptions,
  { efforts, thinkingBudget }: RequestRules,
  ignored: Set<Feature>,
): ReasoningOptions {
  const effort = fitEffort(reasoning.effort, efforts)
  const budgetTokens = fitBudget(reasoning.budgetTokens, thinkingBudget)
  if (effort !== reasoning.effort) ignored.add('reasoning.effort')
  if (budgetTokens !== reasoning.budgetTokens) ignored.add('reasoning.budgetTokens')
  return {
    ...reasoning,
    ...(effort === undefined ? {} : { effort }),
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
  }
}

/** The nearest word that the model accepts. Of two equally near words the lesser costs less. */
export function fitEffort(
  effort: string | undefined,
  efforts: readonly ReasoningEffort[] | undefined,
): string | undefined {
  const requested = (REASONING_EFFORTS as readonly (string | undefined)[]).indexOf(effort)
  if (efforts === undefined || requested < 0) return effort
  const distance = (word: ReasoningEffort) => Math.abs(REASONING_EFFORTS.indexOf(word) - requested)
  return REASONING_EFFORTS.filter((word) => efforts.includes(word)).toSorted(
    (left, right) => distance(left) - distance(right),
  )[0]
}

function fitBudget(
  budget: number | undefined,
  rule: ThinkingBudgetRule | undefined,
): number | undefined {
  if (budget === undefined || rule === undefined) return budget
  if (budget === 0 && rule.zero === true) return budget
  return Math.min(Math.max(budget, rule.least), rule.most)
}
