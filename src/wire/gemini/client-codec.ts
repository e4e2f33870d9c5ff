/**
 * Gemini's generateContent as it is spoken to an upstream. Its traps, with their causes, are in
 * README.md.
 */
import type { AnswerPart, ChatAnswer } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import { type UpstreamCodec, UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { withUnread } from '../unread-parts.ts'
import { GeminiStreamDecoder } from './decode-events.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import {
  callIdOf,
  imageOf,
  readCandidate,
  sealOf,
  toFinishReason,
  unreadOf,
  usageOf,
} from './read-candidate.ts'

export const geminiUpstreamCodec: UpstreamCodec = {
  form: 'chat',
  encodeRequest: encodeGeminiRequest,
  decodeAnswer: decodeGeminiAnswer,
  createEventDecoder: () => new GeminiStreamDecoder(),
}

/** Puts a whole answer into the gateway's own terms. @throws UnreadableAnswerError */
function decodeGeminiAnswer(body: JsonRecord): ChatAnswer {
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
