/** Plans whether and how a request asks an Anthropic model to think. Pure. */
import { type ChatMessage, type ChatRequest, effortOf, type JsonRecord } from '../chat-request.ts'
import type { EncodeTarget, Feature } from '../codec.ts'
import { isRecord, present } from '../read-json.ts'
import { isSendable } from './upstream-messages.ts'

export interface ThinkingPlan {
  readonly isOn: boolean
  /**
   * The target's own thinking goes back: one that decides itself thinks in the middle of a loop
   * even where this request does not ask for it.
   */
  readonly sendsThinking: boolean
  /** The body's `thinking`; undefined: the model's own default. */
  readonly member: JsonRecord | undefined
  readonly outputConfig: JsonRecord
  /** The part of `max_tokens` that thinking may use. */
  readonly budgetTokens: number | undefined
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
  const mode = target.traits.reasoning
  const off: ThinkingPlan = {
    isOn: false,
    sendsThinking: mode === 'adaptive',
    member: undefined,
    outputConfig: {},
    budgetTokens: undefined,
  }
  if (reasoning === undefined) return off
  const { effort, thinking } = reasoning
  if (effort === 'none') return { ...off, member: turnOff(target, ignored) }
  const asked = effortOf(reasoning)
  const isAsked = thinking === 'on' || asked !== undefined
  if (!isAsked) return off
  const giveUp = (): ThinkingPlan => {
    ignored.add('reasoning')
    return off
  }
  if (mode !== 'adaptive' && mode !== 'budget') return giveUp()
  const display = present({ display: reasoning.display }) as JsonRecord
  if (mode === 'adaptive') {
    const word = EFFORTS[asked ?? '']
    if (asked !== undefined && word === undefined) return giveUp()
    const outputConfig = present({ effort: word }) as JsonRecord
    if (thinking === 'unsaid') return { ...off, outputConfig }
    return {
      ...off,
      isOn: true,
      member: { type: 'adaptive', ...display },
      outputConfig,
    }
  }
  // In the middle of a tool loop the thinking that led to it must come back; without it the request
  // would be refused. A demanded tool and a budget exclude each other.
  const demandsTool = request.toolChoice?.type === 'required' || request.toolChoice?.type === 'tool'
  if (thinking === 'unsaid' || demandsTool) return giveUp()
  if (lacksThinking(request.messages, target.sealOrigin)) return giveUp()
  const wanted = reasoning.budgetTokens ?? BUDGETS[effort ?? 'medium']
  if (wanted === undefined) return giveUp()
  const room =
    request.maxOutputTokens === undefined ? wanted : Math.floor(request.maxOutputTokens * 0.8)
  const budget = Math.max(SMALLEST_BUDGET, Math.min(wanted, room))
  if (request.maxOutputTokens !== undefined && budget >= request.maxOutputTokens) return giveUp()
  return {
    isOn: true,
    sendsThinking: true,
    member: { type: 'enabled', budget_tokens: budget, ...display },
    outputConfig: {},
    budgetTokens: budget,
  }
}

function turnOff({ traits }: EncodeTarget, ignored: Set<Feature>): JsonRecord | undefined {
  if (traits.alwaysReasons === true) ignored.add('reasoning')
  const member = traits.withoutThinking?.thinking
  return isRecord(member) ? member : undefined
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
