/** Plans whether and how a request asks an Anthropic model to think. Pure. */
import { type ChatMessage, type ChatRequest, effortOf, type JsonRecord } from '../chat-request.ts'
import type { EncodeTarget, Feature } from '../codec.ts'
import { isSendable } from './encode-messages.ts'

export interface ThinkingPlan {
  readonly isOn: boolean
  /** The body's `thinking`; undefined: the model's own default. */
  readonly member: JsonRecord | undefined
  readonly outputConfig: JsonRecord
  /** The part of `max_tokens` that thinking may use. */
  readonly budgetTokens: number | undefined
}

const OFF: ThinkingPlan = {
  isOn: false,
  member: undefined,
  outputConfig: {},
  budgetTokens: undefined,
}

/** The least that the interface takes. */
const SMALLEST_BUDGET = 1024
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: SMALLEST_BUDGET,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 32_000,
}
/** Our words as `output_config.effort`. */
export const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'max',
  max: 'max',
}

export function planThinking(
  request: ChatRequest,
  target: EncodeTarget,
  ignored: Set<Feature>,
): ThinkingPlan {
  const { reasoning } = request
  const wanted =
    reasoning !== undefined &&
    reasoning.effort !== 'none' &&
    (reasoning.effort ?? reasoning.budgetTokens) !== undefined
  if (!wanted) return OFF
  const giveUp = (): ThinkingPlan => {
    ignored.add('reasoning')
    return OFF
  }
  const mode = target.traits.reasoning
  if (mode !== 'adaptive' && mode !== 'budget') return giveUp()
  // In the middle of a tool loop the thinking that led to it must come back; without it the request
  // would be refused.
  if (lacksThinking(request.messages, target.sealOrigin)) return giveUp()
  if (mode === 'adaptive') {
    const effort = EFFORTS[effortOf(reasoning) ?? 'low']
    if (effort === undefined) return giveUp()
    return {
      isOn: true,
      member: { type: 'adaptive' },
      outputConfig: { effort },
      budgetTokens: undefined,
    }
  }
  // A demanded tool and a budget exclude each other.
  if (request.toolChoice?.type === 'required' || request.toolChoice?.type === 'tool')
    return giveUp()
  const asked = reasoning.budgetTokens ?? BUDGETS[reasoning.effort ?? '']
  if (asked === undefined) return giveUp()
  const room =
    request.maxOutputTokens === undefined ? asked : Math.floor(request.maxOutputTokens * 0.8)
  const budget = Math.max(SMALLEST_BUDGET, Math.min(asked, room))
  if (request.maxOutputTokens !== undefined && budget >= request.maxOutputTokens) return giveUp()
  return {
    isOn: true,
    member: { type: 'enabled', budget_tokens: budget },
    outputConfig: {},
    budgetTokens: budget,
  }
}

/**
 * True where the turn that is being continued called tools without thinking that this target would
 * recognise.
 */
function lacksThinking(messages: readonly ChatMessage[], origin: string): boolean {
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  return messages
    .slice(lastUser + 1)
    .some(
      (message) =>
        message.role === 'assistant' &&
        message.content.some((part) => part.type === 'tool-call') &&
        !message.content.some((part) => part.type === 'reasoning' && isSendable(part, origin)),
    )
}
