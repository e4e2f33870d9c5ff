/**
 * Decodes an upstream's stream of chat completion chunks, with the members that vendors add: one
 * decoder for each choice, and a decoder of the stream around them.
 */

import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, Seal } from '../chat-request.ts'
import { kindOfFailure } from '../failure-kinds.ts'
import { isRecord, present, recordOf, recordsOf, textOf } from '../read-json.ts'
import type { SseFrame } from '../sse.ts'
import { SECOND_ANSWER, SseDecoder } from '../sse-streams.ts'
import { toUnread } from '../unread.ts'
import { readUsage } from '../usage.ts'
import {
  addDetail,
  detailsOf,
  extraOf,
  joinExtra,
  type ReasoningMember,
  sealCall,
  sealReasoning,
} from './returned-members.ts'
import { ChatEnd } from './tap.ts'
import {
  argumentsOf,
  contentOf,
  imagesOf,
  makeCallId,
  type ReasoningSeals,
  reasoningOf,
  toFinishReason,
  unreadBesideChoices,
  unreadOf,
} from './upstream-answer.ts'
import { readChatCounts } from './usage.ts'

class ChoiceDecoder {
  finishReason: string | undefined
  #open: 'text' | 'reasoning' | undefined
  #call: number | undefined
  /** The upstream's index → the call that the index currently refers to. */
  readonly #calls = new Map<number, { readonly index: number; readonly id: string }>()
  #callCount = 0
  readonly #seals: ReasoningSeals
  /** True when the current reasoning came as thinking in a list, and will be sealed. */
  #hasThinking = false
  #signature: string | undefined
  #member: ReasoningMember | undefined
  /** Entries of `reasoning_details` since the last seal. */
  #details: JsonRecord[] = []
  #extra: JsonRecord | undefined
  /** `extra_content` of calls by id, if it came after the call's beginning. */
  #ofCalls = new Map<string, JsonRecord>()

  constructor(seals: ReasoningSeals) {
    this.#seals = seals
  }

  decodeDelta(delta: JsonRecord): readonly ChatEvent[] {
    const events: ChatEvent[] = []
    const { text, thinking, signature, images, unread } = contentOf(delta.content)
    const reasoning = reasoningOf(delta)
    this.#write('reasoning', reasoning.text + thinking, events)
    this.#member ??= reasoning.member
    if (this.#seals.hasReturned === true) {
      for (const detail of detailsOf(delta)) addDetail(this.#details, detail)
      this.#extra = joinExtra(this.#extra, extraOf(delta))
    }
    this.#hasThinking ||= thinking !== ''
    if (signature !== undefined) this.#sign(signature, events)
    this.#write('text', text, events)
    const refusal = textOf(delta.refusal) ?? ''
    if (refusal !== '') events.push({ type: 'refusal-delta', text: refusal })
    for (const image of [...images, ...imagesOf(delta)]) events.push(...this.close(), image)
    if (Array.isArray(delta.tool_calls)) {
      for (const call of delta.tool_calls.filter(isRecord)) this.#decodeCall(call, events)
    }
    events.push(...toUnread(unread), ...toUnread(unreadOf(delta, this.#seals.hasReturned)))
    return events
  }

  #write(kind: 'text' | 'reasoning', text: string, events: ChatEvent[]): void {
    if (text === '') return
    const isNew = this.#open !== kind
    if (isNew) events.push(...this.close())
    // Some providers attach details to every piece of a text, so details must not split the text.
    if (kind === 'text' && (isNew || this.#details.length > 0)) events.push(...this.#sealDetails())
    this.#open = kind
    events.push({ type: `${kind}-delta`, text })
  }

  /**
   * Some providers repeat id and name, some omit the index, and some give every call the index 0.
   * So a new id with a name begins a new call.
   */
  #decodeCall(call: JsonRecord, events: ChatEvent[]): void {
    const made = recordOf(call.function)
    const name = textOf(made.name) ?? ''
    const upstreamIndex =
      typeof call.index === 'number'
        ? call.index
        : name === ''
          ? (this.#call ?? 0)
          : this.#callCount
    const id = textOf(call.id) ?? ''
    let known = this.#calls.get(upstreamIndex)
    const isNext = name !== '' && id !== '' && known !== undefined && known.id !== id
    if (known === undefined || isNext) {
      events.push(...this.close(), ...this.#sealDetails())
      if (known !== undefined) events.push({ type: 'tool-call-end', index: known.index })
      known = { index: this.#callCount, id: id || makeCallId() }
      this.#callCount += 1
      this.#calls.set(upstreamIndex, known)
      this.#call = upstreamIndex
      const seal = this.#seals.hasReturned === true ? sealCall(call) : undefined
      events.push({ type: 'tool-call-start', ...known, name, ...present({ seal }) })
    } else if (this.#seals.hasReturned === true) {
      const extra = extraOf(call)
      if (extra !== undefined)
        this.#ofCalls.set(known.id, joinExtra(this.#ofCalls.get(known.id), extra))
    }
    const written = argumentsOf(made)
    if (written !== '')
      events.push({ type: 'tool-call-delta', index: known.index, arguments: written })
  }

  close(): readonly ChatEvent[] {
    const open = this.#open
    this.#open = undefined
    if (open === 'text') return [{ type: 'text-end' }]
    return open === undefined ? [] : [{ type: 'reasoning-end', ...this.#takeSeal() }]
  }

  /** Ends the answer: pieces of a call may come until then. */
  end(): readonly ChatEvent[] {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    return [
      ...this.close(),
      ...calls.map(({ index }) => ({ type: 'tool-call-end' as const, index })),
      ...this.#sealDetails(),
    ]
  }

  /** A signature may follow its thinking, or stand for hidden thinking. */
  #sign(signature: string, events: ChatEvent[]): void {
    this.#signature = signature
    this.#hasThinking = true
    if (this.#open === 'reasoning' || this.#seals.sealThinking === undefined) return
    events.push(...this.close(), { type: 'reasoning-end', ...this.#takeSeal() })
  }

  #sealDetails(): readonly ChatEvent[] {
    const hasNone =
      this.#details.length === 0 && this.#extra === undefined && this.#ofCalls.size === 0
    return hasNone ? [] : [{ type: 'reasoning-end', ...this.#takeSeal() }]
  }

  #takeSeal(): { readonly seal?: Seal } {
    const sealed = this.#hasThinking ? this.#seals.sealThinking?.(this.#signature) : undefined
    const returned = {
      member: this.#member,
      details: this.#details,
      extra: this.#extra,
      ofCalls: this.#ofCalls.size === 0 ? undefined : Object.fromEntries(this.#ofCalls),
    }
    this.#details = []
    this.#extra = undefined
    this.#ofCalls = new Map()
    this.#hasThinking = false
    this.#signature = undefined
    this.#member = undefined
    return present({
      seal: sealed ?? (this.#seals.hasReturned === true ? sealReasoning(returned) : undefined),
    })
  }
}

export class UpstreamChatDecoder extends SseDecoder {
  #hasStarted = false
  /** By the upstream's index; several only if the caller asked for several answers (`n`). */
  readonly #choices = new Map<number, ChoiceDecoder>()
  #finishReason: string | undefined
  #usage: Usage | null = null
  readonly #ended = new ChatEnd()
  readonly #seals: ReasoningSeals

  constructor(seals: ReasoningSeals = {}) {
    super()
    this.#seals = seals
  }

  get usageSoFar(): Usage | null {
    return this.#usage
  }

  /** Some servers close without `[DONE]`, so a finish reason also completes the answer. */
  override end(): readonly ChatEvent[] {
    const events = super.end()
    return this.#finishReason === undefined || this.state === 'failed'
      ? events
      : [...events, ...this.#finish()]
  }

  protected override decodeOther(frame: SseFrame): readonly ChatEvent[] {
    return frame.data?.trim() === '[DONE]' ? this.#finish() : super.decodeOther(frame)
  }

  protected decode(chunk: JsonRecord): readonly ChatEvent[] {
    const { error } = chunk
    if (typeof error === 'string' && error !== '') return this.fail(error)
    const failure = isRecord(error) ? error : chunk.object === 'error' ? chunk : undefined
    if (failure !== undefined) return this.fail(messageOf(failure), kindOfFailure(failure))
    if (this.#ended.isPassedBy(chunk)) return this.fail(SECOND_ANSWER)
    this.#usage = readUsage(readChatCounts, chunk.usage, chunk.service_tier) ?? this.#usage
    const choices = recordsOf(chunk.choices)
    // Azure's first chunk contains only the result of its filter, and its id and model are ''.
    if (choices.length === 0 && chunk.id === '') return []
    const events: ChatEvent[] = this.#hasStarted ? [] : [this.#start(chunk)]
    for (const choice of choices) {
      if (textOf(choice.finish_reason) === 'error')
        return [...events, ...this.fail('The model failed.')]
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

  #finish(): readonly ChatEvent[] {
    if (this.state === 'complete') return []
    this.state = 'complete'
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

/** Some providers send the message inside an object. */
function messageOf({ message }: JsonRecord): string {
  return textOf(message) ?? (isRecord(message) ? JSON.stringify(message) : 'no message')
}
