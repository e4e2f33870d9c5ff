/** Decodes a complete Converse answer to the gateway's own terms. */

import type { ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { AssistantPart, JsonRecord, JsonValue, Seal } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { unreadIn, withUnread } from '../unread.ts'
import {
  cacheWrites,
  countOf,
  detailOf,
  hourWrites,
  partOf,
  readUsage,
  type UsageReader,
  writtenOf,
} from '../usage.ts'

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
}

/**
 * @throws UnreadableAnswerError for other reasons (`malformed_tool_use` …), because the text of
 * such an answer would look complete
 */
export function toFinishReason(stopReason: JsonValue | undefined): FinishReason {
  if (typeof stopReason !== 'string') return 'stop'
  const reason = FINISH_REASONS[stopReason]
  if (reason === undefined) throw new UnreadableAnswerError(`ended its answer with ${stopReason}`)
  return reason
}

export function stopSequenceOf(fields: JsonValue | undefined): string | undefined {
  if (!isRecord(fields)) return undefined
  const { delta } = fields
  return textOf(fields.stop_sequence) ?? (isRecord(delta) ? textOf(delta.stop_sequence) : undefined)
}

export function signatureSeal(value: string | undefined): Seal | undefined {
  return value === undefined || value === '' ? undefined : { type: 'signature', value }
}

/**
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ServiceTier.html
 * @param body a complete answer, or a stream's event with its usage
 */
export function tierOf({ serviceTier }: JsonRecord): JsonValue | undefined {
  return isRecord(serviceTier) ? serviceTier.type : undefined
}

export function decodeBedrockAnswer(body: JsonRecord): ChatAnswer {
  const output = recordOf(body.output)
  const message = recordOf(output.message)
  if (!Array.isArray(message.content))
    throw new UnreadableAnswerError(textOf(body.message) ?? 'sent an answer without content')
  const blocks = message.content.filter(isRecord)
  return {
    content: blocks.flatMap(decodeBlock),
    ...withUnread(blocks.flatMap(unreadOf)),
    finishReason: toFinishReason(body.stopReason),
    usage: readUsage(readBedrockCounts, body.usage, tierOf(body)),
    ...present({ stopSequence: stopSequenceOf(body.additionalModelResponseFields) }),
  }
}

function decodeBlock(block: JsonRecord): AssistantPart[] {
  if (typeof block.text === 'string') return [{ type: 'text', text: block.text }]
  if (isRecord(block.reasoningContent)) return decodeReasoning(block.reasoningContent)
  // Translated requests do not ask for images, audio or citations, so these are reported as unread.
  if (!isRecord(block.toolUse)) return []
  const { toolUseId, name, input } = block.toolUse
  return [
    {
      type: 'tool-call',
      id: textOf(toolUseId) ?? '',
      name: textOf(name) ?? '',
      arguments: JSON.stringify(input ?? {}),
    },
  ]
}

const READ = new Set(['text', 'reasoningContent', 'toolUse'])

export function unreadOf(block: JsonRecord): string[] {
  return unreadIn(block, READ, 'content[]')
}

function decodeReasoning({ reasoningText, redactedContent }: JsonRecord): AssistantPart[] {
  if (typeof redactedContent === 'string')
    return [{ type: 'reasoning', text: '', seal: { type: 'encrypted', value: redactedContent } }]
  if (!isRecord(reasoningText)) return []
  const seal = signatureSeal(textOf(reasoningText.signature))
  return [{ type: 'reasoning', text: textOf(reasoningText.text) ?? '', ...present({ seal }) }]
}

/** `inputTokens` excludes tokens read from and written to the cache. */
export const readBedrockCounts: UsageReader = (reported) => {
  const written = writtenOf(reported.cacheWriteInputTokens, sumDetails(reported.cacheDetails))
  return {
    inputTokens:
      countOf(reported.inputTokens) + countOf(reported.cacheReadInputTokens) + countOf(written),
    outputTokens: countOf(reported.outputTokens),
    cachedInputTokens: partOf(reported.cacheReadInputTokens),
    reasoningTokens: 0,
    ...cacheWrites(written),
    ...hourWrites(hourDetails(reported.cacheDetails)),
  }
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html */
function hourDetails(details: unknown): number {
  if (!Array.isArray(details)) return 0
  return sumDetails(details.filter((each) => detailOf(each, 'ttl') === '1h'))
}

function sumDetails(details: unknown): number {
  if (!Array.isArray(details)) return 0
  return details.reduce<number>((sum, each) => sum + partOf(detailOf(each, 'inputTokens')), 0)
}
