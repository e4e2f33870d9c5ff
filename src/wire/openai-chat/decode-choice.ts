/**
 * One choice of a streamed chat completion in the gateway's own events. Knows nothing of the stream
 * around it.
 */
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, Seal } from '../chat-request.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import {
  argumentsOf,
  contentOf,
  makeCallId,
  type ReasoningMember,
  type ReasoningSeals,
  reasoningOf,
} from './decode-upstream-answer.ts'

export class ChoiceDecoder {
  /** The upstream's word; undefined until it comes. */
  finishReason: string | undefined
  #open: 'text' | 'reasoning' | undefined
  /** The upstream's index of the call that is being written; calls follow each other. */
  #call: number | undefined
  readonly #calls = new Map<number, number>()
  readonly #seals: ReasoningSeals
  /**
   * True where the reasoning that is being written came as thinking in a list, and is to be sealed.
   */
  #hasThinking = false
  #signature: string | undefined
  /** The member in which the reasoning that is being written began, if it did in one. */
  #member: ReasoningMember | undefined

  constructor(seals: ReasoningSeals) {
    this.#seals = seals
  }

  decodeDelta(delta: JsonRecord): readonly ChatEvent[] {
    const events: ChatEvent[] = []
    const { text, thinking, signature } = contentOf(delta.content)
    const told = reasoningOf(delta)
    this.#write('reasoning', told.text + thinking, events)
    this.#member ??= told.member
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
    if (this.#open !== kind) events.push(...this.close())
    this.#open = kind
    events.push({ type: `${kind}-delta`, text })
  }

  /** Id and name come with the first piece; some vendors repeat them, some leave the index out. */
  #decodeCall(call: JsonRecord, events: ChatEvent[]): void {
    const made = isRecord(call.function) ? call.function : {}
    const name = textOf(made.name) ?? ''
    const upstreamIndex =
      typeof call.index === 'number'
        ? call.index
        : name === ''
          ? (this.#call ?? 0)
          : this.#calls.size
    let index = this.#calls.get(upstreamIndex)
    if (index === undefined) {
      events.push(...this.close())
      index = this.#calls.size
      this.#calls.set(upstreamIndex, index)
      this.#call = upstreamIndex
      events.push({ type: 'tool-call-start', index, id: textOf(call.id) || makeCallId(), name })
    }
    const written = argumentsOf(made)
    if (written !== '') events.push({ type: 'tool-call-delta', index, arguments: written })
  }

  /** Ends what is open. */
  close(): readonly ChatEvent[] {
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
    if (this.#open === 'reasoning' || this.#seals.sealThinking === undefined) return
    events.push(...this.close(), { type: 'reasoning-end', ...this.#takeSeal() })
  }

  #takeSeal(): { readonly seal?: Seal } {
    const sealed = this.#hasThinking ? this.#seals.sealThinking?.(this.#signature) : undefined
    const member = this.#member
    this.#hasThinking = false
    this.#signature = undefined
    this.#member = undefined
    return present({
      seal: sealed ?? (member === undefined ? undefined : this.#seals.sealMember?.(member)),
    })
  }
}
