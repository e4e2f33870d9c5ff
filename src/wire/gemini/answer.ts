/** Decodes Gemini's answers to the gateway's own terms, with the parts that stream chunks share. */

import type { Usage } from '../../core/usage.ts'
import type { AnswerPart, ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, MediaSource, Seal } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, recordOf, recordsOf, textOf } from '../read-json.ts'
import { presentIn, unreadIn, withUnread } from '../unread.ts'
import {
  audioOf,
  countOf,
  detailOf,
  partOf,
  readTier,
  readUsage,
  served,
  type UsageReader,
} from '../usage.ts'

export function decodeGeminiAnswer(body: JsonRecord): ChatAnswer {
  const { parts, finishReason, unread } = readCandidate(body)
  if (finishReason === undefined) throw new UnreadableAnswerError('sent an answer without an end')
  const content = parts.flatMap(decodePart)
  const hasCalls = content.some((part) => part.type === 'tool-call')
  return {
    content,
    finishReason: toFinishReason(finishReason, hasCalls),
    usage: usageOf(body),
    ...withUnread([...parts.flatMap(unreadOf), ...unread]),
    ...present({ id: textOf(body.responseId), model: textOf(body.modelVersion) }),
  }
}

function decodePart(part: JsonRecord): AnswerPart[] {
  const seal = sealOf(part)
  if (isRecord(part.functionCall)) {
    const call = part.functionCall
    const args = JSON.stringify(call.args ?? {})
    const name = textOf(call.name) ?? ''
    return [{ type: 'tool-call', id: callIdOf(call), name, arguments: args, ...present({ seal }) }]
  }
  const image = imageOf(part)
  const text = textOf(part.text) ?? ''
  if (part.thought === true)
    return text === '' && seal === undefined
      ? []
      : [{ type: 'reasoning', text, ...present({ seal }) }]
  return [
    ...(image === undefined ? [] : [{ type: 'image' as const, source: image }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(seal === undefined ? [] : [{ type: 'reasoning' as const, text: '', seal }]),
  ]
}

/** https://ai.google.dev/api/generate-content#FinishReason, and Vertex AI's own */
const FILTERED = new Set([
  'MODEL_ARMOR',

  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
])
/**
 * @throws UnreadableAnswerError for other reasons (`MALFORMED_FUNCTION_CALL`, `OTHER` …), because
 * the text of such an answer would look complete
 */
export function toFinishReason(reason: string, hasCalls: boolean): FinishReason {
  if (FILTERED.has(reason) || reason.startsWith('IMAGE_')) return 'content_filter'
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason !== 'STOP') throw new UnreadableAnswerError(`ended its answer with ${reason}`)
  // Gemini sends STOP for function calls too.
  return hasCalls ? 'tool_calls' : 'stop'
}

interface Candidate {
  readonly parts: readonly JsonRecord[]
  readonly finishReason: string | undefined
  readonly unread: readonly string[]
}

const BESIDE_PARTS = ['citationMetadata', 'groundingMetadata', 'urlContextMetadata']

/** Reads the first candidate. A refused prompt has a reason and no candidate. */
export function readCandidate(body: JsonRecord): Candidate {
  const [first] = Array.isArray(body.candidates) ? body.candidates : []
  const candidate = recordOf(first)
  const content = recordOf(candidate.content)
  const feedback = recordOf(body.promptFeedback)
  const blocked = typeof feedback.blockReason === 'string' ? 'SAFETY' : undefined
  return {
    parts: recordsOf(content.parts),
    finishReason: typeof candidate.finishReason === 'string' ? candidate.finishReason : blocked,
    unread: presentIn(candidate, BESIDE_PARTS, ''),
  }
}

export function imageOf({ inlineData, thought }: JsonRecord): MediaSource | undefined {
  if (!isRecord(inlineData) || thought === true) return undefined
  const mediaType = textOf(inlineData.mimeType) ?? ''
  const base64 = textOf(inlineData.data) ?? ''
  if (!mediaType.startsWith('image/') || base64 === '') return undefined
  return { type: 'data', mediaType, base64 }
}

const READ = new Set(['text', 'thought', 'thoughtSignature', 'functionCall'])
const READ_WITH_IMAGE = new Set([...READ, 'inlineData'])

/** The unread members include executed code, sound, and images of thoughts. */
export function unreadOf(part: JsonRecord): string[] {
  return unreadIn(part, imageOf(part) === undefined ? READ : READ_WITH_IMAGE, 'parts[]')
}

export function sealOf(part: JsonRecord): Seal | undefined {
  const { thoughtSignature } = part
  return typeof thoughtSignature === 'string'
    ? { type: 'signature', value: thoughtSignature }
    : undefined
}

/** Several calls may have the same name and no id, so a missing id is replaced. */
export function callIdOf(call: JsonRecord): string {
  return typeof call.id === 'string' && call.id !== ''
    ? call.id
    : `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
}

export function usageOf(body: JsonRecord): Usage | null {
  return readUsage(readGeminiCounts, body.usageMetadata)
}

/** `candidatesTokenCount` excludes thoughts; counts in a stream are cumulative. */
export const readGeminiCounts: UsageReader = (reported) => ({
  inputTokens: countOf(reported.promptTokenCount) + countOf(reported.toolUsePromptTokenCount),
  outputTokens: countOf(reported.candidatesTokenCount) + countOf(reported.thoughtsTokenCount),
  cachedInputTokens: partOf(reported.cachedContentTokenCount),
  reasoningTokens: partOf(reported.thoughtsTokenCount),
  // https://ai.google.dev/api/generate-content#UsageMetadata
  ...audioOf(
    audioIn(reported.promptTokensDetails) + audioIn(reported.toolUsePromptTokensDetails),
    audioIn(reported.cacheTokensDetails),
    audioIn(reported.candidatesTokensDetails),
  ),
  ...served(readTier(reported.trafficType) ?? readTier(reported.serviceTier)),
})

function audioIn(details: unknown): number {
  if (!Array.isArray(details)) return 0
  return details
    .filter((each) => detailOf(each, 'modality') === 'AUDIO')
    .reduce<number>((sum, each) => sum + partOf(detailOf(each, 'tokenCount')), 0)
}
