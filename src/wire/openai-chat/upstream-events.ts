/**
 * An upstream's stream of chat completion chunks in the gateway's own events, with the members that
 * vendors add.
 */

import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import type { StreamDecoder } from '../codec.ts'
import {
  garbledEvent,
  isRecord,
  parseRecord,
  present,
  SECOND_ANSWER,
  textOf,
} from '../read-json.ts'
import { kindOfFailure } from '../reported-failure.ts'
import { type SseFrame, SseFramer } from '../sse.ts'
import { toUnread } from '../unread-parts.ts'
import { readUsage } from '../usage.ts'
import { ChatEnd } from './tap.ts'
import { type ReasoningSeals, toFinishReason, unreadBesideChoices } from './upstream-answer.ts'
import { ChoiceDecoder } from './upstream-choice.ts'
import { readChatCounts } from './usage.ts'

export class UpstreamChatDecoder implements StreamDecoder {
  readonly #framer = new SseFramer()
  #hasStarted = false
  /** By the upstream's index; more than one only where the caller asked for that (`n`). */
  readonly #choices = new Map<number, ChoiceDecoder>()
  #finishReason: string | undefined
  #usage: Usage | null = null
  readonly #ended = new ChatEnd()
  #isDone = false
  #hasFailed = false
  readonly #seals: ReasoningSeals

  constructor(seals: ReasoningSeals = {}) {
    this.#seals = seals
  }

  get usageSoFar(): Usage | null {
    return this.#usage
  }

  push(chunk: Uint8Array): readonly ChatEvent[] {
    return this.#framer.push(chunk).flatMap((frame) => this.#decode(frame))
  }

  /** Some close without `[DONE]`; a finish reason says that nothing is missing. */
  end(): readonly ChatEvent[] {
    const events = this.#framer.end().flatMap((frame) => this.#decode(frame))
    return this.#finishReason === undefined || this.#hasFailed
      ? events
      : [...events, ...this.#finish()]
  }

  isComplete(): boolean {
    return this.#isDone
  }

  #decode(frame: SseFrame): readonly ChatEvent[] {
    if (this.#isDone || this.#hasFailed || frame.data === undefined) return []
    if (frame.data.trim() === '[DONE]') return this.#finish()
    const chunk = parseRecord(frame.data)
    if (chunk === undefined) {
      const garbled = garbledEvent(frame.data)
      this.#hasFailed = garbled.length > 0
      return garbled
    }
    const { error } = chunk
    if (isRecord(error) || (typeof error === 'string' && error !== '')) return this.#fail(error)
    if (chunk.object === 'error') return this.#fail(chunk)
    if (this.#ended.isPassedBy(chunk)) return this.#fail(SECOND_ANSWER)
    this.#usage = readUsage(readChatCounts, chunk.usage, chunk.service_tier) ?? this.#usage
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isRecord) : []
    // Azure's first chunk holds the result of its filter alone, and its id and model are ''.
    if (choices.length === 0 && chunk.id === '') return []
    const events: ChatEvent[] = this.#hasStarted ? [] : [this.#start(chunk)]
    for (const choice of choices) {
      if (textOf(choice.finish_reason) === 'error')
        return [...events, ...this.#fail('The model failed.')]
      events.push(...this.#decodeChoice(choice, chunk))
    }
    events.push(...toUnread(unreadBesideChoices(chunk)))
    return events
  }

  #decodeChoice(choice: JsonRecord, chunk: JsonRecord): readonly ChatEvent[] {
    const index = typeof choice.index === 'number' ? choice.index : 0
    const known = this.#choices.get(index)
    const decoder = known ?? new ChoiceDecoder(this.#seals)
    this.#choices.set(index, decoder)
    const events = isRecord(choice.delta) ? decoder.decodeDelta(choice.delta) : []
    decoder.finishReason = textOf(choice.finish_reason) ?? decoder.finishReason
    if (index === 0) {
      this.#finishReason = decoder.finishReason
      return events
    }
    const all = known === undefined ? [this.#start(chunk), ...events] : events
    return all.map((event) => ({ type: 'choice', index, event }))
  }

  #start(chunk: JsonRecord): ChatEvent {
    this.#hasStarted = true
    const createdAt = typeof chunk.created === 'number' ? chunk.created : undefined
    return {
      type: 'start',
      ...present({
        id: textOf(chunk.id),
        model: textOf(chunk.model),
        createdAt,
        usage: this.#usage ?? undefined,
      }),
    }
  }

  #fail(error: JsonValue): readonly ChatEvent[] {
    this.#hasFailed = true
    if (!isRecord(error)) return [{ type: 'error', message: String(error) }]
    return [
      { type: 'error', message: messageOf(error), ...present({ code: kindOfFailure(error) }) },
    ]
  }

  #finish(): readonly ChatEvent[] {
    if (this.#isDone) return []
    this.#isDone = true
    const others = [...this.#choices].filter(([index]) => index !== 0)
    return [
      ...others.flatMap(([index, decoder]) =>
        endOf(decoder).map((event) => ({ type: 'choice' as const, index, event })),
      ),
      ...(this.#choices.get(0)?.end() ?? []),
      ...(this.#usage === null ? [] : [{ type: 'usage' as const, usage: this.#usage }]),
      { type: 'finish', reason: toFinishReason(this.#finishReason ?? 'stop') },
    ]
  }
}

function endOf(decoder: ChoiceDecoder): readonly ChatEvent[] {
  return [
    ...decoder.end(),
    { type: 'finish', reason: toFinishReason(decoder.finishReason ?? 'stop') },
  ]
}

/** Some say it in an object. */
function messageOf({ message }: JsonRecord): string {
  return textOf(message) ?? (isRecord(message) ? JSON.stringify(message) : 'no message')
}
