/**
 * Our answers as Anthropic messages: whole, and the parts that streams share. It must not know
 * which upstream wrote them.
 */
import type { Usage } from '../../core/usage.ts'
import type { AnswerPart, ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, ReasoningPart, RefusalPart, TextPart } from '../chat-request.ts'
import { type AnswerFacts, UnreadableAnswerError } from '../codec.ts'
import { parseCutRecord, parseRecord } from '../read-json.ts'
import { writeSeal } from '../seal-carrier.ts'
import { writeCallId } from './tool-ids.ts'

export function encodeAnthropicAnswer(answer: ChatAnswer, facts: AnswerFacts): JsonRecord {
  const isCut = answer.finishReason === 'length'
  return {
    ...encodeHead(answer, facts),
    content: endWithText(answer.content).flatMap((part) =>
      encodePart(part, facts.sealOrigin, isCut),
    ),
    stop_reason: toStopReason(answer.finishReason, answer.stopSequence),
    stop_sequence: answer.stopSequence ?? null,
    stop_details: null,
    usage: encodeUsage(answer.usage),
  }
}

/**
 * The parts with their last text at the end: clients take the text of the last block for the
 * result. A seal without words behind the text goes in front of it, and says so.
 */
function endWithText(parts: readonly AnswerPart[]): readonly AnswerPart[] {
  const end = parts.findLastIndex((part) => !isSealAlone(part)) + 1
  const text = parts[end - 1]
  if (end === parts.length || text === undefined || !isText(text)) return parts
  const seals = parts.slice(end).map((part) => ({ ...part, textBefore: text.text.length }))
  return [...parts.slice(0, end - 1), ...seals, text]
}

function isText(part: AnswerPart): part is TextPart | RefusalPart {
  return part.type === 'text' || part.type === 'refusal'
}

function isSealAlone(part: AnswerPart): boolean {
  return part.type === 'reasoning' && part.text === '' && part.seal !== undefined
}

/** The members that a message, and the event that opens it, begin with. */
export function encodeHead(
  answer: Pick<ChatAnswer, 'id' | 'model'>,
  facts: AnswerFacts,
): JsonRecord {
  return {
    id: answer.id ?? `msg_${facts.callId}`,
    type: 'message',
    role: 'assistant',
    model: answer.model ?? facts.target,
    container: null,
    diagnostics: null,
  }
}

export function toStopReason(reason: FinishReason, stopSequence: string | undefined): string {
  if (reason === 'stop') return stopSequence === undefined ? 'end_turn' : 'stop_sequence'
  return { length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' }[reason]
}

/**
 * Input tokens leave out what came from the cache and what was put into it. The SDK's types require
 * every member: nothing reported is 0.
 */
export function encodeUsage(usage: Usage | null): JsonRecord {
  const cached = usage?.cachedInputTokens ?? 0
  const written = usage?.cacheWriteTokens ?? 0
  return {
    input_tokens: Math.max(0, (usage?.inputTokens ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: null,
    output_tokens: usage?.outputTokens ?? 0,
    output_tokens_details: usage === null ? null : { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  }
}

function encodePart(part: AnswerPart, origin: string, isCut: boolean): JsonRecord[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning':
      return [encodeReasoning(part, origin)]
    case 'tool-call':
      return [
        {
          type: 'tool_use',
          id: writeCallId(part.id, part.seal, origin),
          name: part.name,
          input: parseInput(part.arguments, isCut),
        },
      ]
    // The format has no such block for an assistant: the image is named.
    case 'image':
      return []
  }
}

/** Sealed reasoning without words is redacted to those who read it. */
export function encodeReasoning(
  { text, seal, textBefore }: Omit<ReasoningPart, 'type'>,
  origin: string,
): JsonRecord {
  const carried = seal === undefined ? '' : writeSeal(seal, origin, textBefore)
  return text === '' && seal !== undefined
    ? { type: 'redacted_thinking', data: carried }
    : { type: 'thinking', thinking: text, signature: carried }
}

/** @param isCut the answer ended at its token limit: arguments that broke off are read so far */
function parseInput(text: string, isCut: boolean): JsonRecord {
  const input = parseRecord(text) ?? (isCut ? parseCutRecord(text) : undefined)
  if (input === undefined)
    throw new UnreadableAnswerError('called a tool with arguments that are not a JSON object')
  return input
}
