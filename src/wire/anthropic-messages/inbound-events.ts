/** Encodes the gateway's events as a stream of Messages events, in Anthropic's order. */
import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, Seal } from '../chat-request.ts'
import type { AnswerFacts, EventEncoder } from '../codec.ts'
import { encodeError } from '../envelope.ts'
import { writeSeal } from '../seal-carrier.ts'
import { commentOf, LATE_SIGNATURE } from '../unread.ts'
import { encodeHead, encodeReasoning, encodeUsage, toStopReason, writeCallId } from './answer.ts'

export class MessagesEventEncoder implements EventEncoder {
  readonly #facts: AnswerFacts
  #hasStarted = false
  #blocks = 0
  /** The open block of text or reasoning; tools have separate blocks in `#tools`. */
  #open: { readonly type: 'text' | 'reasoning'; readonly index: number } | undefined
  readonly #tools = new Map<number, number>()
  /**
   * Seals without text that came after a text, sent before the next block. A message never ends
   * with a seal, because clients take the text of the last block as the result.
   */
  #waiting: Seal[] = []
  #hasText = false
  #usage: Usage | null = null
  #stop: { reason: string; sequence: string | null } = { reason: 'end_turn', sequence: null }

  constructor(facts: AnswerFacts) {
    this.#facts = facts
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event)
      case 'text-delta':
      case 'refusal-delta':
        return this.#openBlock('text') + this.#delta({ type: 'text_delta', text: event.text })
      case 'text-end':
        return this.#closeBlock()
      case 'reasoning-delta':
        return (
          this.#openBlock('reasoning') +
          this.#delta({ type: 'thinking_delta', thinking: event.text })
        )
      case 'reasoning-end':
        return this.#endReasoning(event.seal)
      case 'tool-call-start':
        return this.#startTool(event)
      case 'tool-call-delta':
        return write('content_block_delta', {
          index: this.#tools.get(event.index) ?? 0,
          delta: { type: 'input_json_delta', partial_json: event.arguments },
        })
      case 'tool-call-end':
        return write('content_block_stop', { index: this.#tools.get(event.index) ?? 0 })
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'finish':
        this.#stop = {
          reason: toStopReason(event.reason, event.stopSequence),
          sequence: event.stopSequence ?? null,
        }
        return this.#closeBlock()
      // Callers of this dialect cannot ask for several answers.
      case 'choice':
      case 'image':
      case 'unread':
      case 'error':
        return ''
    }
  }

  end(): string {
    const { reason, sequence } = this.#stop
    const delta = { stop_reason: reason, stop_sequence: sequence }
    const last = write('message_delta', { delta, usage: encodeUsage(this.#usage) })
    const lost = this.#waiting.length === 0 ? '' : commentOf(LATE_SIGNATURE)
    return this.#begun() + this.#closeBlock() + lost + last + write('message_stop', {})
  }

  encodeFailure(error: GatewayError): string {
    return `event: error\ndata: ${String(encodeError('messages', error))}\n\n`
  }

  #start(event: Omit<Extract<ChatEvent, { readonly type: 'start' }>, 'type'>): string {
    this.#hasStarted = true
    const head = encodeHead(event, this.#facts)
    const message = {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage(event.usage ?? null),
    }
    return write('message_start', { message })
  }

  /** Opens the message even if the upstream never sent `start`. */
  #begun(): string {
    return this.#hasStarted ? '' : this.#start({})
  }

  #openBlock(type: 'text' | 'reasoning'): string {
    if (this.#open?.type === type) return ''
    const closed = this.#beginBlock()
    const index = this.#nextIndex()
    this.#open = { type, index }
    this.#hasText ||= type === 'text'
    const block =
      type === 'text' ? { type, text: '' } : { type: 'thinking', thinking: '', signature: '' }
    return this.#begun() + closed + write('content_block_start', { index, content_block: block })
  }

  #delta(delta: JsonRecord): string {
    return write('content_block_delta', { index: this.#open?.index ?? 0, delta })
  }

  #closeBlock(): string {
    const open = this.#open
    this.#open = undefined
    return open === undefined ? '' : write('content_block_stop', { index: open.index })
  }

  #endReasoning(seal: Seal | undefined): string {
    if (this.#open?.type === 'reasoning') {
      const signature = seal === undefined ? '' : writeSeal(seal, this.#facts.sealOrigin)
      const signed = signature === '' ? '' : this.#delta({ type: 'signature_delta', signature })
      return signed + this.#closeBlock()
    }
    if (seal === undefined) return ''
    const closed = this.#closeBlock()
    if (!this.#hasText) return this.#begun() + closed + this.#writeSeal(seal)
    this.#waiting.push(seal)
    return closed
  }

  #writeSeal(seal: Seal): string {
    const index = this.#nextIndex()
    const block = encodeReasoning({ text: '', seal }, this.#facts.sealOrigin)
    const started = write('content_block_start', { index, content_block: block })
    return started + write('content_block_stop', { index })
  }

  #beginBlock(): string {
    const closed = this.#closeBlock()
    const seals = this.#waiting
    this.#waiting = []
    return closed + seals.map((seal) => this.#writeSeal(seal)).join('')
  }

  #startTool(event: Extract<ChatEvent, { readonly type: 'tool-call-start' }>): string {
    const closed = this.#beginBlock()
    const index = this.#nextIndex()
    this.#tools.set(event.index, index)
    this.#hasText = false
    const id = writeCallId(event.id, event.seal, this.#facts.sealOrigin)
    const block = { type: 'tool_use', id, name: event.name, input: {} }
    return this.#begun() + closed + write('content_block_start', { index, content_block: block })
  }

  #nextIndex(): number {
    const index = this.#blocks
    this.#blocks += 1
    return index
  }
}

function write(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}
