/** Encodes events as a stream of Chat Completions chunks, in OpenAI's order. */
import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, ReasoningPart } from '../chat-request.ts'
import type { AnswerFacts, EventEncoder } from '../codec.ts'
import { encodeError } from '../envelope.ts'
import { isRecord, present } from '../read-json.ts'
import { writeToolId } from '../seal-carrier.ts'
import {
  encodeAnswerImage,
  encodeHead,
  encodeReasoningDetails,
  encodeUsage,
} from './inbound-answer.ts'

const DONE = 'data: [DONE]\n\n'

export class ChatEventEncoder implements EventEncoder {
  readonly #facts: AnswerFacts
  readonly #showsUsage: boolean
  /** The JSON of every chunk up to its choices, which is always the same. */
  #head = ''
  #usage: Usage | undefined
  #reasoningText = ''
  #textLength = 0
  #images = 0
  #sealed: ReasoningPart[] = []
  #hasSentDetails = false
  #isFirstCall = true
  /**
   * Calls without any arguments so far. Clients parse the arguments, so such a call ends with `{}`.
   */
  readonly #withoutArguments = new Set<number>()

  readonly #index: number
  readonly #others = new Map<number, ChatEventEncoder>()
  /** The request's `stream_options`. The request itself is released during the answer. */
  readonly #options: unknown

  constructor(options: unknown, facts: AnswerFacts, index = 0) {
    this.#options = options
    this.#facts = facts
    this.#index = index
    this.#showsUsage = isRecord(options) && options.include_usage === true
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start': {
        this.#head = JSON.stringify(encodeHead('chat.completion.chunk', event, this.#facts)).slice(
          0,
          -1,
        )
        return this.#chunk({ role: 'assistant', content: '', refusal: null })
      }
      case 'text-delta':
        this.#textLength += event.text.length
        return this.#chunk({ content: event.text }, null, event.logprobs)
      case 'refusal-delta':
        return this.#chunk({ refusal: event.text })
      case 'reasoning-delta':
        this.#reasoningText += event.text
        return this.#chunk({ reasoning_content: event.text })
      case 'reasoning-end':
        if (event.seal !== undefined)
          this.#sealed.push({
            type: 'reasoning',
            text: this.#reasoningText,
            seal: event.seal,
            textBefore: this.#textLength,
          })
        this.#reasoningText = ''
        return ''
      case 'tool-call-start': {
        const reasoning = this.#isFirstCall ? this.#sealed : []
        this.#isFirstCall = false
        this.#withoutArguments.add(event.index)
        const id = writeToolId(
          event.id,
          { ...present({ seal: event.seal }), reasoning },
          this.#facts.sealOrigin,
        )
        const call = {
          index: event.index,
          id,
          type: 'function',
          function: { name: event.name, arguments: '' },
        }
        return this.#chunk({ tool_calls: [call] })
      }
      case 'tool-call-delta':
        this.#withoutArguments.delete(event.index)
        return this.#chunk({
          tool_calls: [{ index: event.index, function: { arguments: event.arguments } }],
        })
      case 'image': {
        const image = encodeAnswerImage(event.source, this.#images)
        this.#images += 1
        return this.#chunk({ images: [image] })
      }
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'finish':
        return this.#takeDetails() + this.#chunk({}, event.reason)
      case 'tool-call-end':
        if (!this.#withoutArguments.delete(event.index)) return ''
        return this.#chunk({ tool_calls: [{ index: event.index, function: { arguments: '{}' } }] })
      case 'choice':
        return this.#choice(event.index).push(event.event)
      case 'text-end':
      case 'unread':
      case 'error':
        return ''
    }
  }

  /** Usage often follows the end of the text, so the last chunks wait for the upstream's end. */
  end(): string {
    const usage =
      this.#showsUsage && this.#usage !== undefined
        ? `data: ${this.#start()},"choices":[],"usage":${JSON.stringify(encodeUsage(this.#usage))}}\n\n`
        : ''
    return usage + DONE
  }

  encodeFailure(error: GatewayError): string {
    return `data: ${String(encodeError('nested', error))}\n\n${DONE}`
  }

  /**
   * Sealed reasoning is sent once as a whole, because the SDK's accumulator keeps only the last
   * value of an unknown member.
   */
  #takeDetails(): string {
    if (this.#hasSentDetails || this.#sealed.length === 0) return ''
    this.#hasSentDetails = true
    return this.#chunk({
      reasoning_details: encodeReasoningDetails(this.#sealed, this.#facts.sealOrigin),
    })
  }

  #choice(index: number): ChatEventEncoder {
    const known = this.#others.get(index)
    if (known !== undefined) return known
    const encoder = new ChatEventEncoder(this.#options, this.#facts, index)
    this.#others.set(index, encoder)
    return encoder
  }

  #chunk(delta: JsonRecord, reason: string | null = null, logprobs: unknown = null): string {
    const choice = `{"index":${this.#index},"delta":${JSON.stringify(delta)},"logprobs":${JSON.stringify(logprobs ?? null)},"finish_reason":${JSON.stringify(reason)}}`
    return `data: ${this.#start()},"choices":[${choice}]${this.#showsUsage ? ',"usage":null' : ''}}\n\n`
  }

  /** Starts the answer even if the upstream never sent `start`, so chunks have an id. */
  #start(): string {
    if (this.#head === '')
      this.#head = JSON.stringify(encodeHead('chat.completion.chunk', {}, this.#facts)).slice(0, -1)
    return this.#head
  }
}
