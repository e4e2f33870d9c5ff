/**
 * Asks a model without response schemas for its answer as the arguments of a tool that the model
 * must call, and makes these arguments the text of the answer again.
 */
import { type ChatAnswer, type ChatEvent, toFittingReason } from '../chat-answer.ts'
import type { ChatRequest, ResponseFormat } from '../chat-request.ts'

type SchemaFormat = Extract<ResponseFormat, { type: 'json-schema' }>

/** Names that every model accepts. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
const USUAL_NAME = 'answer'
const DESCRIPTION = 'Gives the answer to the user.'

/** @param request without tools of its own */
export function withFormatTool(request: ChatRequest, format: SchemaFormat): ChatRequest {
  const { responseFormat: _, ...rest } = request
  const { name = '', description = DESCRIPTION, schema } = format
  const tool = { name: NAME.test(name) ? name : USUAL_NAME, description, parameters: schema }
  return { ...rest, tools: [tool], toolChoice: { type: 'tool', name: tool.name } }
}

/** The first call is the answer. The model has no other tool, so later calls repeat the answer. */
export function readFormatAnswer(answer: ChatAnswer): ChatAnswer {
  const first = answer.content.find(({ type }) => type === 'tool-call')
  const content = answer.content.flatMap((part) => {
    if (part.type !== 'tool-call') return [part]
    return part === first ? [{ type: 'text', text: part.arguments } as const] : []
  })
  return { ...answer, content, finishReason: toFittingReason(answer.finishReason, false) }
}

/** As `readFormatAnswer`, for the events of a stream. */
export class FormatEvents {
  #first: number | undefined
  #hasText = false

  read(event: ChatEvent): readonly ChatEvent[] {
    switch (event.type) {
      case 'tool-call-start':
        this.#first ??= event.index
        return []
      case 'tool-call-delta':
        if (event.index !== this.#first) return []
        this.#hasText = true
        return [{ type: 'text-delta', text: event.arguments }]
      case 'tool-call-end': {
        if (event.index !== this.#first) return []
        // A call without any delta has the arguments `{}`.
        const text: readonly ChatEvent[] = this.#hasText ? [] : [{ type: 'text-delta', text: '{}' }]
        return [...text, { type: 'text-end' }]
      }
      case 'finish':
        return [{ ...event, reason: toFittingReason(event.reason, false) }]
      default:
        return [event]
    }
  }
}
