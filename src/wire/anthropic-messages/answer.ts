/** Encodes and decodes complete Messages answers, and ids of tool calls. */
import type { Usage } from '../../core/usage.ts'
import { withIterations } from '../billing.ts'
import type { AnswerPart, ChatAnswer, FinishReason } from '../chat-answer.ts'
import type {
  AssistantPart,
  JsonRecord,
  JsonValue,
  ReasoningPart,
  RefusalPart,
  Seal,
  TextPart,
} from '../chat-request.ts'
import { type AnswerFacts, UnreadableAnswerError } from '../codec.ts'
import { isRecord, parseCutRecord, parseRecord, present, textOf } from '../read-json.ts'
import { markToolId, writeSeal, writeToolId } from '../seal-carrier.ts'
import { presentIn, withUnread } from '../unread.ts'
import {
  cacheWrites,
  countOf,
  detailOf,
  hourWrites,
  partOf,
  readRegion,
  readSpeed,
  readTier,
  readUsageOfTurn,
  served,
  type UsageReader,
  writtenOf,
} from '../usage.ts'

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
 * Moves the last text to the end, because clients take the text of the last block as the result. A
 * seal that followed the text moves before it and records its place.
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
 * `input_tokens` excludes tokens read from and written to the cache. The SDK's types require every
 * member, so unreported counts are 0.
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
    // The format has no such block for an assistant, so the image is reported as lost.
    case 'image':
      return []
  }
}

/** Sealed reasoning without text appears as redacted. */
export function encodeReasoning(
  { text, seal, textBefore }: Omit<ReasoningPart, 'type'>,
  origin: string,
): JsonRecord {
  const carried = seal === undefined ? '' : writeSeal(seal, origin, textBefore)
  return text === '' && seal !== undefined
    ? { type: 'redacted_thinking', data: carried }
    : { type: 'thinking', thinking: text, signature: carried }
}

/** @param isCut the answer ended at its token limit, so arguments are read as far as possible */
function parseInput(text: string, isCut: boolean): JsonRecord {
  const input = parseRecord(text) ?? (isCut ? parseCutRecord(text) : undefined)
  if (input === undefined)
    throw new UnreadableAnswerError('called a tool with arguments that are not a JSON object')
  return input
}

/**
 * `pause_turn`: the model would continue if asked again. A refusal counts as a stop by a filter.
 */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** An unknown reason of a later version counts as a normal end, not a failure. */
export function toFinishReason(stopReason: JsonValue | undefined): FinishReason {
  return (typeof stopReason === 'string' ? FINISH_REASONS[stopReason] : undefined) ?? 'stop'
}

export function decodeAnthropicAnswer(body: JsonRecord): ChatAnswer {
  if (!Array.isArray(body.content)) {
    const error = isRecord(body.error) ? body.error.message : undefined
    throw new UnreadableAnswerError(
      typeof error === 'string' ? error : 'sent an answer without content',
    )
  }
  const blocks = body.content.filter(isRecord)
  return {
    content: blocks.flatMap(decodeBlock),
    ...withUnread(blocks.flatMap(unreadOf)),
    finishReason: toFinishReason(body.stop_reason),
    usage: readUsageOfTurn(readMessagesCounts, { reported: body.usage, items: body.content }),
    ...present({
      id: textOf(body.id),
      model: textOf(body.model),
      stopSequence: textOf(body.stop_sequence),
    }),
  }
}

function decodeBlock(block: JsonRecord): AssistantPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textOf(block.text) ?? '' }]
    case 'thinking': {
      const value = textOf(block.signature)
      const seal = value === undefined ? undefined : { type: 'signature' as const, value }
      return [{ type: 'reasoning', text: textOf(block.thinking) ?? '', ...present({ seal }) }]
    }
    case 'redacted_thinking':
      return [
        {
          type: 'reasoning',
          text: '',
          seal: { type: 'encrypted', value: textOf(block.data) ?? '' },
        },
      ]
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: textOf(block.id) ?? '',
          name: textOf(block.name) ?? '',
          arguments: JSON.stringify(block.input ?? {}),
        },
      ]
    default:
      return [] // Translated requests never ask for a server's own tools.
  }
}

const KINDS = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

export function unreadOf(block: JsonRecord): string[] {
  const type = textOf(block.type) ?? ''
  if (KINDS.has(type)) return presentIn(block, ['citations'], 'content[].')
  return type === '' ? [] : [`answer.content[].type=${type}`]
}

export const readMessagesCounts: UsageReader = (reported) => ({
  ...withIterations(reported, ofMessages),
  ...servedMessage(reported),
})

/** `input_tokens` excludes tokens read from and written to the cache. */
function ofMessages(reported: Readonly<Record<string, unknown>>): Usage {
  const hours = partOf(detailOf(reported.cache_creation, 'ephemeral_1h_input_tokens'))
  const minutes = partOf(detailOf(reported.cache_creation, 'ephemeral_5m_input_tokens'))
  const written = writtenOf(reported.cache_creation_input_tokens, hours + minutes)
  return {
    inputTokens:
      countOf(reported.input_tokens) + countOf(reported.cache_read_input_tokens) + countOf(written),
    outputTokens: countOf(reported.output_tokens),
    cachedInputTokens: partOf(reported.cache_read_input_tokens),
    reasoningTokens: partOf(detailOf(reported.output_tokens_details, 'thinking_tokens')),
    ...cacheWrites(written),
    // https://platform.claude.com/docs/en/build-with-claude/prompt-caching#1-hour-cache-duration
    ...hourWrites(hours),
  }
}

/** https://platform.claude.com/docs/en/api/messages, `usage`. */
function servedMessage({
  service_tier,
  speed,
  inference_geo,
}: Record<string, unknown>): Pick<Usage, 'served'> {
  return served(readTier(service_tier), readSpeed(speed), readRegion(inference_geo))
}

/**
 * The format accepts only letters, digits, `_` and `-`, but other providers' ids contain more. Call
 * and result are changed in the same way.
 */
export function encodeToolId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}

/**
 * The id for the caller. An id that the format would refuse is marked even without a seal, so the
 * gateway can restore it when the conversation continues at the id's origin.
 */
export function writeCallId(id: string, seal: Seal | undefined, origin: string): string {
  const written = writeToolId(id, present({ seal }), origin)
  return written === id && encodeToolId(id) !== id ? markToolId(id) : written
}
