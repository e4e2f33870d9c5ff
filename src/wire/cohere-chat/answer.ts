/**
 * Decodes a complete Cohere answer to the gateway's own terms, with the parts that streams share.
 */

import type { Usage } from '../../core/usage.ts'
import type { ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { AssistantPart, JsonRecord, JsonValue, ReasoningPart, Seal } from '../chat-request.ts'
import { type Feature, UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, recordOf, recordsOf, textOf } from '../read-json.ts'
import { presentIn, withUnread } from '../unread.ts'
import { countOf, detailOf, partOf, readUsage, type UsageReader } from '../usage.ts'

export function decodeCohereAnswer(body: JsonRecord): ChatAnswer {
  const { message } = body
  if (!isRecord(message))
    throw new UnreadableAnswerError(textOf(message) ?? 'sent an answer without a message')
  const reason = textOf(body.finish_reason) ?? ''
  if (isFailure(reason)) throw new UnreadableAnswerError(`ended its answer with ${reason}`)
  const plan = textOf(message.tool_plan) ?? ''
  const items = recordsOf(message.content)
  const calls = Array.isArray(message.tool_calls)
    ? message.tool_calls.filter(isRecord).map(decodeCall)
    : []
  const content: AssistantPart[] = [
    ...(plan === ''
      ? []
      : [{ type: 'reasoning' as const, text: plan, seal: sealPlace('tool_plan') }]),
    ...(typeof message.content === 'string' ? decodeItem({ text: message.content }) : []),
    ...items.flatMap(decodeItem),
    ...calls,
  ]
  return {
    content,
    finishReason: toFinishReason(reason, calls.length > 0),
    usage: readUsage(readCohereCounts, body.usage),
    ...withUnread(presentIn(message, ['citations'], 'message.')),
    ...present({ id: textOf(body.id), logprobs: toLogprobs(body.logprobs) }),
  }
}

function decodeItem(item: JsonRecord): AssistantPart[] {
  const thinking = textOf(item.thinking) ?? ''
  const text = textOf(item.text) ?? ''
  return [
    ...(thinking === ''
      ? []
      : [{ type: 'reasoning' as const, text: thinking, seal: sealPlace('thinking') }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ]
}

function decodeCall(call: JsonRecord): AssistantPart {
  const { id, name, argumentsText } = readCall(call)
  const isEmpty = argumentsText.trim() === '' || argumentsText === NO_ARGUMENTS
  return { type: 'tool-call', id, name, arguments: isEmpty ? '{}' : argumentsText }
}

/** The arguments that some models write for a tool without arguments. */
export const NO_ARGUMENTS = 'null'

export function readCall(call: JsonRecord): {
  readonly id: string
  readonly name: string
  readonly argumentsText: string
} {
  const made = recordOf(call.function)
  return {
    // Clients refer to the call by its id, so a missing id is replaced.
    id: textOf(call.id) || `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`,
    name: textOf(made.name) ?? '',
    argumentsText: textOf(made.arguments) ?? '',
  }
}

export function isFailure(reason: string): boolean {
  return reason === 'ERROR' || reason === 'TIMEOUT'
}

export function toFinishReason(reason: string, hasCalls: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason === 'ERROR_TOXIC') return 'content_filter'
  return hasCalls ? 'tool_calls' : 'stop'
}

/**
 * Converts to OpenAI's form. An item with several tokens has the product of their probabilities.
 */
export function toLogprobs(items: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(items)) return undefined
  const content = items.filter(isRecord).flatMap((item) => {
    const token = textOf(item.text)
    if (token === undefined || !Array.isArray(item.logprobs)) return []
    const numbers = item.logprobs.filter((value) => typeof value === 'number')
    const logprob = numbers.reduce((sum, value) => sum + value, 0)
    return [{ token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }]
  })
  return { content, refusal: null }
}

/** `thinking`: an item of the content. `tool_plan`: the model's plan for the calls beside it. */
export type ReasoningPlace = 'thinking' | 'tool_plan'

export function sealPlace(place: ReasoningPlace): Seal {
  return { type: 'signature', value: place }
}

export interface ReturnRules {
  readonly sealOrigin: string
  readonly ignored: Set<Feature>
}

/** @returns undefined, and records the loss, for reasoning that cannot be placed in this turn */
export function placeOf(
  { seal }: ReasoningPart,
  hasCalls: boolean,
  { sealOrigin, ignored }: ReturnRules,
): ReasoningPlace | undefined {
  const isForeign = seal !== undefined && (seal.origin ?? sealOrigin) !== sealOrigin
  if (isForeign || seal?.type === 'encrypted') {
    ignored.add('seals')
    return undefined
  }
  if (seal?.value === 'thinking') return 'thinking'
  if (hasCalls) return 'tool_plan'
  ignored.add('reasoningParts')
  return undefined
}

/**
 * `billed_units` are the charged tokens. `tokens` and the cached ones among them include the
 * provider's own prefix, which is cached first
 * (https://docs.cohere.com/v2/docs/how-does-cohere-pricing-work).
 */
export const readCohereCounts: UsageReader = (reported) => {
  const billed = ofCohere(reported.billed_units)
  const read = ofCohere(reported.tokens)
  const cached = partOf(reported.cached_tokens)
  if (billed.inputTokens + billed.outputTokens === 0) return { ...read, cachedInputTokens: cached }
  const free = Math.max(0, read.inputTokens - billed.inputTokens)
  return { ...billed, cachedInputTokens: Math.max(0, cached - free) }
}

function ofCohere(counted: unknown): Usage {
  return {
    inputTokens: countOf(detailOf(counted, 'input_tokens')),
    outputTokens: countOf(detailOf(counted, 'output_tokens')),
    cachedInputTokens: 0,
    reasoningTokens: 0,
  }
}
