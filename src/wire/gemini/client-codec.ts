/**
 * Gemini's generateContent as it is spoken to an upstream. Its traps, with their causes, are in
 * README.md.
 */
import type { ChatAnswer } from '../chat-answer.ts'
import type { AssistantPart, JsonRecord } from '../chat-request.ts'
import { type ClientCodec, UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { GeminiStreamDecoder } from './decode-events.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import { callIdOf, readCandidate, sealOf, toFinishReason, usageOf } from './read-candidate.ts'

export const geminiClientCodec: ClientCodec = {
  form: 'chat',
  encodeRequest: encodeGeminiRequest,
  decodeAnswer: decodeGeminiAnswer,
  createEventDecoder: () => new GeminiStreamDecoder(),
}

/** Puts a whole answer into the gateway's own terms. @throws UnreadableAnswerError */
function decodeGeminiAnswer(body: JsonRecord): ChatAnswer {
  const { parts, finishReason } = readCandidate(body)
  if (finishReason === undefined) throw new UnreadableAnswerError('sent an answer without an end')
  const content = parts.flatMap(decodePart)
  const hasCalls = content.some((part) => part.type === 'tool-call')
  return {
    content,
    finishReason: toFinishReason(finishReason, hasCalls),
    usage: usageOf(body),
    ...present({ id: textOf(body.responseId), model: textOf(body.modelVersion) }),
  }
}

function decodePart(part: JsonRecord): AssistantPart[] {
  const seal = sealOf(part)
  if (isRecord(part.functionCall)) {
    const call = part.functionCall
    const args = JSON.stringify(call.args ?? {})
    const name = textOf(call.name) ?? ''
    return [{ type: 'tool-call', id: callIdOf(call), name, arguments: args, ...present({ seal }) }]
  }
  const text = textOf(part.text)
  if (text === undefined) return []
  if (part.thought === true) return [{ type: 'reasoning', text, ...present({ seal }) }]
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(seal === undefined ? [] : [{ type: 'reasoning' as const, text: '', seal }]),
  ]
}
