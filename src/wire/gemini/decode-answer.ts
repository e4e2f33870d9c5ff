/** A whole Gemini answer in the gateway's own terms. It must not know callers. */
import type { ChatAnswer } from '../chat-answer.ts'
import type { AssistantPart, JsonRecord } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { callIdOf, readCandidate, sealOf, toFinishReason, usageOf } from './read-candidate.ts'

/** @throws UnreadableAnswerError */
export function decodeGeminiAnswer(body: JsonRecord): ChatAnswer {
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
