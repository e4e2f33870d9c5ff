/** Undoes in answers what fitting changed in the request: names of tools, added nulls, formats. */
import type { AnswerPart, ChatAnswer, ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { StreamDecoder } from '../codec.ts'
import { FormatEvents, readFormatAnswer } from './format-tool.ts'
import { withoutAddedNulls } from './strict-schemas.ts'

export interface AnswerRestorer {
  /** Respelled name → the caller's name. */
  readonly originals: ReadonlyMap<string, string>
  /** The caller's name of a tool → the schema whose optional members may come back as null. */
  readonly nullable: ReadonlyMap<string, JsonRecord>
  /** Whether the answer is the arguments of a tool. */
  readonly isFormatTool: boolean
}

export function restoreAnswer(answer: ChatAnswer, restorer: AnswerRestorer): ChatAnswer {
  if (restorer.isFormatTool) return readFormatAnswer(answer)
  const toPart = (part: AnswerPart) => restorePart(part, restorer)
  const { others, content } = answer
  const restored = { ...answer, content: content.map(toPart) }
  if (others === undefined) return restored
  return {
    ...restored,
    others: others.map((choice) => ({ ...choice, content: choice.content.map(toPart) })),
  }
}

function restorePart(part: AnswerPart, { originals, nullable }: AnswerRestorer): AnswerPart {
  if (part.type !== 'tool-call') return part
  const name = originals.get(part.name) ?? part.name
  const schema = nullable.get(name)
  if (schema === undefined) return { ...part, name }
  return { ...part, name, arguments: withoutAddedNulls(part.arguments, schema) }
}

export function restoreEvents(decoder: StreamDecoder, restorer: AnswerRestorer): StreamDecoder {
  const calls = new HeldCalls(restorer)
  const format = new FormatEvents()
  const restore = (event: ChatEvent) =>
    restorer.isFormatTool ? format.read(event) : calls.restore(event)
  return {
    push: (bytes) => decoder.push(bytes).flatMap(restore),
    end: () => decoder.end().flatMap(restore),
    isComplete: () => decoder.isComplete(),
    get usageSoFar() {
      return decoder.usageSoFar ?? null
    },
  }
}

/** More characters are passed on as they are, so memory stays bounded. */
const MAX_HELD_LENGTH = 4 * 1024 * 1024

interface HeldCall {
  readonly schema: JsonRecord
  text: string
}

/** Holds the arguments of a call until the arguments are complete, if they may have added nulls. */
class HeldCalls {
  readonly #restorer: AnswerRestorer
  /** By the number of the choice and of the call. */
  readonly #held = new Map<string, HeldCall>()

  constructor(restorer: AnswerRestorer) {
    this.#restorer = restorer
  }

  restore(event: ChatEvent, choice = 0): readonly ChatEvent[] {
    switch (event.type) {
      case 'choice':
        return this.restore(event.event, event.index).map((inner) => ({ ...event, event: inner }))
      case 'tool-call-start': {
        const { originals, nullable } = this.#restorer
        const name = originals.get(event.name) ?? event.name
        const schema = nullable.get(name)
        if (schema !== undefined) this.#held.set(`${choice}.${event.index}`, { schema, text: '' })
        return [{ ...event, name }]
      }
      case 'tool-call-delta': {
        const call = this.#held.get(`${choice}.${event.index}`)
        if (call === undefined) return [event]
        call.text += event.arguments
        if (call.text.length <= MAX_HELD_LENGTH) return []
        this.#held.delete(`${choice}.${event.index}`)
        return [{ ...event, arguments: call.text }]
      }
      case 'tool-call-end': {
        const call = this.#held.get(`${choice}.${event.index}`)
        this.#held.delete(`${choice}.${event.index}`)
        if (call === undefined || call.text === '') return [event]
        const restored = withoutAddedNulls(call.text, call.schema)
        return [{ type: 'tool-call-delta', index: event.index, arguments: restored }, event]
      }
      default:
        return [event]
    }
  }
}
