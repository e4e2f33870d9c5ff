/** An upstream's stream of chat completion chunks in the gateway's own events, with the members that vendors add. */
import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue, Seal } from '../chat-request.ts'
import type { StreamDecoder } from '../codec.ts'
import { garbledEvent, isRecord, parseRecord, present, textOf } from '../read-json.ts'
import { type SseFrame, SseFramer } from '../sse.ts'
import { readUsage } from '../usage.ts'
import {
  argumentsOf,
  contentOf,
  makeCallId,
  reasoningOf,
  type SealThinking,
  toFinishReason,
} from './decode-upstream-answer.ts'

export class UpstreamChatDecoder implements StreamDecoder {
  readonly #framer = new SseFramer()
  #hasStarted = false
  #open: 'text' | 'reasoning' | undefined
  /** The upstream's index of the call that is being written; calls follow each other. */
  #call: number | undefined
  readonly #calls = new Map<number, number>()
  #finishReason: string | undefined
  #usage: Usage | null = null
  #isDone = false
  #hasFailed = false
  readonly #sealThinking: SealThinking | undefined
  /** Whether the reasoning that is being written came as thinking in a list, and is to be sealed. */
  #hasThinking = false
  #signature: string | undefined

  constructor(sealThinking?: SealThinking) {
    this.#sealThinking = sealThinking
  }

  push(chunk: Uint8Array): readonly ChatEvent[] {
    return this.#framer.push(chunk).flatMap((frame) => this.#decode(frame))
  }

  /** Some close without `[DONE]`; a finish reason says that nothing is missing. */
  end(): readonly ChatEvent[] {
    const events = this.#framer.end().flatMap((frame) => this.#decode(frame))
    return this.#finishReason === undefined || this.#hasFailed ? events : [...events, ...this.#finish()]
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
    if (isRecord(chunk.error) || typeof chunk.error === 'string') return this.#fail(chunk.error)
    if (chunk.object === 'error') return this.#fail(chunk)
    this.#usage = readUsage('openai-chat', chunk.usage) ?? this.#usage
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
    // Azure's first chunk tells of its filter alone, and its id and model are ''.
    if (!isRecord(choice) && chunk.id === '') return []
    const events: ChatEvent[] = this.#hasStarted ? [] : [this.#start(chunk)]
    if (!isRecord(choice)) return events
    if (isRecord(choice.delta)) events.push(...this.#decodeDelta(choice.delta))
    const reason = textOf(choice.finish_reason)
    if (reason === 'error') return [...events, ...this.#fail('The model failed.')]
    this.#finishReason = reason ?? this.#finishReason
    return events
  }

  #start(chunk: JsonRecord): ChatEvent {
    this.#hasStarted = true
    const createdAt = typeof chunk.created === 'number' ? chunk.created : undefined
    return { type: 'start', ...present({ id: textOf(chunk.id), model: textOf(chunk.model), createdAt }) }
  }

  #fail(error: JsonValue): readonly ChatEvent[] {
    this.#hasFailed = true
    return [{ type: 'error', message: isRecord(error) ? messageOf(error) : String(error) }]
  }

  #decodeDelta(delta: JsonRecord): readonly ChatEvent[] {
    const events: ChatEvent[] = []
    const { text, thinking, signature } = contentOf(delta.content)
    this.#write('reasoning', reasoningOf(delta) + thinking, events)
    this.#hasThinking ||= thinking !== ''
    if (signature !== undefined) this.#sign(signature, events)
    this.#write('text', text, events)
    const refusal = textOf(delta.refusal) ?? ''
    if (refusal !== '') events.push({ type: 'refusal-delta', text: refusal })
    if (Array.isArray(delta.tool_calls)) {
      for (const call of delta.tool_calls.filter(isRecord)) this.#decodeCall(call, events)
    }
    return events
  }

  #write(kind: 'text' | 'reasoning', text: string, events: ChatEvent[]): void {
    if (text === '') return
    if (this.#open !== kind) events.push(...this.#close())
    this.#open = kind
    events.push({ type: `${kind}-delta`, text })
  }

  /** Id and name come with the first piece; some vendors repeat them, some leave the index out. */
  #decodeCall(call: JsonRecord, events: ChatEvent[]): void {
    const made = isRecord(call.function) ? call.function : {}
    const name = textOf(made.name) ?? ''
    const upstreamIndex =
      typeof call.index === 'number' ? call.index : name === '' ? (this.#call ?? 0) : this.#calls.size
    let index = this.#calls.get(upstreamIndex)
    if (index === undefined) {
      events.push(...this.#close())
      index = this.#calls.size
      this.#calls.set(upstreamIndex, index)
      this.#call = upstreamIndex
      events.push({ type: 'tool-call-start', index, id: textOf(call.id) || makeCallId(), name })
    }
    const written = argumentsOf(made)
    if (written !== '') events.push({ type: 'tool-call-delta', index, arguments: written })
  }

  #close(): readonly ChatEvent[] {
    const open = this.#open
    const call = this.#call
    this.#open = undefined
    this.#call = undefined
    if (open === 'text') return [{ type: 'text-end' }]
    if (open === 'reasoning') return [{ type: 'reasoning-end', ...this.#takeSeal() }]
    return call === undefined ? [] : [{ type: 'tool-call-end', index: this.#calls.get(call) ?? 0 }]
  }

  /** A signature may follow its thinking, or stand for some that is not shown. */
  #sign(signature: string, events: ChatEvent[]): void {
    this.#signature = signature
    this.#hasThinking = true
    if (this.#open === 'reasoning' || this.#sealThinking === undefined) return
    events.push(...this.#close(), { type: 'reasoning-end', ...this.#takeSeal() })
  }

  #takeSeal(): { readonly seal?: Seal } {
    const seal = this.#hasThinking ? this.#sealThinking?.(this.#signature) : undefined
    this.#hasThinking = false
    this.#signature = undefined
    return present({ seal })
  }

  #finish(): readonly ChatEvent[] {
    if (this.#isDone) return []
    this.#isDone = true
    return [
      ...this.#close(),
      ...(this.#usage === null ? [] : [{ type: 'usage' as const, usage: this.#usage }]),
      { type: 'finish', reason: toFinishReason(this.#finishReason ?? 'stop') },
    ]
  }
}

/** Some say it in an object. */
function messageOf({ message }: JsonRecord): string {
  return textOf(message) ?? (isRecord(message) ? JSON.stringify(message) : 'no message')
}
