/** Decodes Cohere's stream to the gateway's events. */

import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { SseDecoder } from '../sse-streams.ts'
import { toUnread } from '../unread.ts'
import { readUsage } from '../usage.ts'
import {
  isFailure,
  NO_ARGUMENTS,
  type ReasoningPlace,
  readCall,
  readCohereCounts,
  sealPlace,
  toFinishReason,
  toLogprobs,
} from './answer.ts'

interface Call {
  readonly index: number
  /** Arguments that may still become `null`, which means no arguments. Undefined afterwards. */
  held: string | undefined
  isOpen: boolean
}

export class CohereStreamDecoder extends SseDecoder {
  #open: 'text' | ReasoningPlace | undefined
  readonly #calls = new Map<number, Call>()

  protected decode(event: JsonRecord): readonly ChatEvent[] {
    const delta = recordOf(event.delta)
    const message = recordOf(delta.message)
    switch (event.type) {
      case 'message-start':
        return [{ type: 'start', ...present({ id: textOf(event.id) }) }]
      case 'content-start':
      case 'content-delta':
        return this.#decodeContent(message.content, event.logprobs)
      case 'content-end':
        return this.#close()
      case 'tool-plan-delta':
        return this.#write('tool_plan', message.tool_plan)
      case 'tool-call-start':
        return this.#startCall(indexOf(event), recordIn(message.tool_calls))
      case 'tool-call-delta':
        return this.#continueCall(indexOf(event), recordIn(message.tool_calls))
      case 'tool-call-end':
        return this.#endCall(this.#calls.get(indexOf(event)))
      case 'message-end':
        return this.#finish(delta)
      case 'error':
      case undefined: {
        const message = textOf(event.message) ?? textOf(event.error)
        return message === undefined ? [] : this.fail(message)
      }
      case 'citation-start':
        return toUnread(['answer.message.citations'])
      default:
        return [] // Unknown events of later versions.
    }
  }

  #decodeContent(
    content: JsonValue | undefined,
    logprobs: JsonValue | undefined,
  ): readonly ChatEvent[] {
    if (!isRecord(content)) return []
    return [
      ...this.#write('thinking', content.thinking),
      ...this.#write('text', content.text, isRecord(logprobs) ? toLogprobs([logprobs]) : undefined),
    ]
  }

  #write(
    place: 'text' | ReasoningPlace,
    value: JsonValue | undefined,
    logprobs?: JsonValue,
  ): ChatEvent[] {
    const text = textOf(value) ?? ''
    if (text === '') return []
    const events: ChatEvent[] = this.#open === place ? [] : [...this.#close()]
    this.#open = place
    if (place === 'text') events.push({ type: 'text-delta', text, ...present({ logprobs }) })
    else events.push({ type: 'reasoning-delta', text })
    return events
  }

  /** A plan has no end event, so the next event ends it. */
  #close(): readonly ChatEvent[] {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return []
    return [
      open === 'text' ? { type: 'text-end' } : { type: 'reasoning-end', seal: sealPlace(open) },
    ]
  }

  #startCall(upstreamIndex: number, made: JsonRecord): readonly ChatEvent[] {
    const { id, name, argumentsText } = readCall(made)
    const call: Call = { index: this.#calls.size, held: '', isOpen: true }
    const events: ChatEvent[] = [
      ...this.#close(),
      { type: 'tool-call-start', index: call.index, id, name },
    ]
    this.#calls.set(upstreamIndex, call)
    return [...events, ...this.#argue(call, argumentsText)]
  }

  #continueCall(upstreamIndex: number, made: JsonRecord): readonly ChatEvent[] {
    const call = this.#calls.get(upstreamIndex)
    const written = isRecord(made.function) ? textOf(made.function.arguments) : undefined
    return call === undefined || written === undefined ? [] : this.#argue(call, written)
  }

  #argue(call: Call, piece: string): readonly ChatEvent[] {
    const written = (call.held ?? '') + piece
    if (call.held !== undefined && NO_ARGUMENTS.startsWith(written)) {
      call.held = written
      return []
    }
    call.held = undefined
    return written === ''
      ? []
      : [{ type: 'tool-call-delta', index: call.index, arguments: written }]
  }

  #endCall(call: Call | undefined): readonly ChatEvent[] {
    if (call === undefined || !call.isOpen) return []
    call.isOpen = false
    const { index, held = '' } = call
    const isEmpty = held === '' || held === NO_ARGUMENTS
    return [
      ...(isEmpty ? [] : [{ type: 'tool-call-delta' as const, index, arguments: held }]),
      { type: 'tool-call-end', index },
    ]
  }

  #finish(delta: JsonRecord): readonly ChatEvent[] {
    const events: ChatEvent[] = [
      ...this.#close(),
      ...[...this.#calls.values()].flatMap((call) => this.#endCall(call)),
    ]
    const usage = readUsage(readCohereCounts, delta.usage)
    if (usage !== null) events.push({ type: 'usage', usage })
    const reason = textOf(delta.finish_reason) ?? ''
    const message = textOf(delta.error)
    if (isFailure(reason) || message !== undefined)
      return [
        ...events,
        ...this.fail(
          message ?? `The upstream ended its answer with ${reason}.`,
          reason || undefined,
        ),
      ]
    this.state = 'complete'
    return [...events, { type: 'finish', reason: toFinishReason(reason, this.#calls.size > 0) }]
  }
}

function indexOf(event: JsonRecord): number {
  return typeof event.index === 'number' ? event.index : 0
}

function recordIn(calls: JsonValue | undefined): JsonRecord {
  const call = Array.isArray(calls) ? calls[0] : calls
  return recordOf(call)
}
