/** Encodes complete answers as Chat Completions, with the parts that streams share. */
import type { Usage } from '../../core/usage.ts'
import type { AnswerHead, AnswerPart, ChatAnswer, ChatChoice } from '../chat-answer.ts'
import {
  type JsonRecord,
  type MediaSource,
  type ReasoningPart,
  type ToolCallPart,
  toUrl,
} from '../chat-request.ts'
import type { AnswerFacts } from '../codec.ts'
import { present } from '../read-json.ts'
import { writeSeal, writeToolId } from '../seal-carrier.ts'

export function encodeChatAnswer(answer: ChatAnswer, facts: AnswerFacts): JsonRecord {
  return {
    ...encodeHead('chat.completion', answer, facts),
    choices: [answer, ...(answer.others ?? [])].map((choice, index) =>
      encodeChoice(choice, index, facts),
    ),
    ...(answer.usage === null ? {} : { usage: encodeUsage(answer.usage) }),
  }
}

function encodeChoice(choice: ChatChoice, index: number, facts: AnswerFacts): JsonRecord {
  const reasoning = locateReasoning(choice.content)
  const calls = partsOf(choice, 'tool-call')
  const text = joinTexts(partsOf(choice, 'text'))
  const refusal = joinTexts(partsOf(choice, 'refusal'))
  const images = partsOf(choice, 'image')
  const reasoningText = joinTexts(reasoning)
  const details = encodeReasoningDetails(reasoning, facts.sealOrigin)
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
      refusal: refusal === '' ? null : refusal,
      ...(reasoningText === '' ? {} : { reasoning_content: reasoningText }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(images.length === 0
        ? {}
        : { images: images.map(({ source }, at) => encodeAnswerImage(source, at)) }),
      ...(calls.length === 0
        ? {}
        : { tool_calls: encodeToolCalls(calls, reasoning, facts.sealOrigin) }),
    },
    logprobs: choice.logprobs ?? null,
    finish_reason: choice.finishReason,
  }
}

/** Each part of the reasoning with the text before it, because the format has no order. */
function locateReasoning(content: readonly AnswerPart[]): ReasoningPart[] {
  let textBefore = 0
  return content.flatMap((part) => {
    if (part.type === 'text') textBefore += part.text.length
    if (part.type !== 'reasoning') return []
    return [textBefore === 0 ? part : { ...part, textBefore }]
  })
}

/**
 * An image in the form that routers of this format use. Stream accumulators join lists by `index`,
 * so each image needs its own index.
 */
export function encodeAnswerImage(source: MediaSource, index: number): JsonRecord {
  return { index, type: 'image_url', image_url: { url: toUrl(source) } }
}

export type HeadFacts = Pick<AnswerFacts, 'callId' | 'startedAtMs' | 'target'>

export function encodeHead(
  object: 'chat.completion' | 'chat.completion.chunk',
  answer: AnswerHead,
  facts: HeadFacts,
): JsonRecord {
  return {
    id: answer.id ?? `chatcmpl-${facts.callId}`,
    object,
    created: answer.createdAt ?? Math.floor(facts.startedAtMs / 1000),
    model: answer.model ?? facts.target,
  }
}

/**
 * Input counts include cached tokens and output counts include reasoning, as in OpenAI's reports.
 */
export function encodeUsage(usage: Usage): JsonRecord {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      ...present({ cache_write_tokens: usage.cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
}

/** OpenRouter's form of sealed reasoning, for clients that send a message back unchanged. */
export function encodeReasoningDetails(
  reasoning: readonly ReasoningPart[],
  origin: string,
): JsonRecord[] {
  return reasoning.flatMap(({ text, seal, textBefore }): JsonRecord[] => {
    if (seal === undefined) return []
    const carried = writeSeal(seal, origin, textBefore)
    return [
      seal.type === 'encrypted'
        ? { type: 'reasoning.encrypted', data: carried, ...present({ text: text || undefined }) }
        : { type: 'reasoning.text', text, signature: carried },
    ]
  })
}

/** The first call's id carries the turn's sealed reasoning, for clients that keep only the id. */
function encodeToolCalls(
  calls: readonly ToolCallPart[],
  reasoning: readonly ReasoningPart[],
  origin: string,
): JsonRecord[] {
  return calls.map((call, index) => ({
    id: writeToolId(
      call.id,
      { ...present({ seal: call.seal }), ...(index === 0 ? { reasoning } : {}) },
      origin,
    ),
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
}

type PartOf<Type extends AnswerPart['type']> = Extract<AnswerPart, { readonly type: Type }>

function partsOf<Type extends AnswerPart['type']>(answer: ChatChoice, type: Type): PartOf<Type>[] {
  return answer.content.filter((part): part is PartOf<Type> => part.type === type)
}

function joinTexts(parts: readonly { readonly text: string }[]): string {
  return parts.map((part) => part.text).join('')
}
