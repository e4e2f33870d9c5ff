/**
 * Encodes events as a `/v3/chat` stream: each delta's new text, and at the end the whole answer.
 */
import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { ChatEvent, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, ReasoningPart, Seal } from '../chat-request.ts'
import type { AnswerFacts, EventEncoder } from '../codec.ts'
import { encodeError } from '../envelope.ts'
import { present } from '../read-json.ts'
import { writeToolId } from '../seal-carrier.ts'
import { commentOf, LATE_SIGNATURE } from '../unread.ts'
import { encodeHead, encodeWhole, type WrittenCall } from './answer.ts'

export class GatehouseEventEncoder implements EventEncoder {
  readonly #facts: AnswerFacts
  #hasStarted = false
  #content = ''
  #reasoning = ''
  #partStart = 0
  /** Sealed reasoning, which the id of the next tool call carries. */
  #sealed: ReasoningPart[] = []
  readonly #calls = new Map<number, WrittenCall>()
  #hasRefusal = false
  #finishReason: FinishReason = 'stop'
  #usage: Usage | null = null
  #model: string | undefined

  constructor(facts: AnswerFacts) {
    this.#facts = facts
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#model = event.model
        return this.#begun()
      case 'text-delta':
        this.#content += event.text
        return this.#delta({ content: event.text })
      case 'refusal-delta':
        this.#hasRefusal = true
        this.#content += event.text
        return this.#delta({ content: event.text })
      case 'reasoning-delta':
        this.#reasoning += event.text
        return this.#delta({ reasoning: event.text })
      case 'reasoning-end':
        this.#endReasoning(event.seal)
        return ''
      case 'tool-call-start': {
        const carried = { ...present({ seal: event.seal }), reasoning: this.#sealed }
        this.#sealed = []
        const id = writeToolId(event.id, carried, this.#facts.sealOrigin)
        const call = { id, name: event.name, arguments: '' }
        this.#calls.set(event.index, call)
        return this.#delta({ tool_call: { index: event.index, ...call } })
      }
      case 'tool-call-delta':
        return this.#writeArguments(event.index, event.arguments)
      case 'tool-call-end':
        return this.#calls.get(event.index)?.arguments === ''
          ? this.#writeArguments(event.index, '{}')
          : ''
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'finish':
        this.#finishReason = event.reason
        return ''
      case 'text-end':
      // Callers of this dialect cannot ask for several answers.
      case 'choice':
      case 'image':
      case 'unread':
      case 'error':
        return ''
    }
  }

  end(): string {
    const whole = encodeWhole(
      {
        content: this.#content,
        reasoning: this.#reasoning,
        toolCalls: [...this.#calls.values()],
        hasRefusal: this.#hasRefusal,
        finishReason: this.#finishReason,
        usage: this.#usage,
        model: this.#model,
      },
      this.#facts,
    )
    // No id can carry reasoning after the last call, so that reasoning is reported as lost.
    const isLate = this.#calls.size > 0 && this.#sealed.length > 0
    const lost = isLate ? commentOf(LATE_SIGNATURE) : ''
    return this.#begun() + lost + write('chat.completed', whole)
  }

  encodeFailure(error: GatewayError): string {
    return encodeFailureEvent(error)
  }

  #begun(): string {
    if (this.#hasStarted) return ''
    this.#hasStarted = true
    return write('chat.started', encodeHead(this.#facts))
  }

  #delta(delta: JsonRecord): string {
    return this.#begun() + write('chat.delta', delta)
  }

  #writeArguments(index: number, written: string): string {
    const call = this.#calls.get(index)
    if (call === undefined) return ''
    call.arguments += written
    return this.#delta({ tool_call: { index, arguments: written } })
  }

  #endReasoning(seal: Seal | undefined): void {
    const text = this.#reasoning.slice(this.#partStart)
    this.#partStart = this.#reasoning.length
    if (seal === undefined) return
    this.#sealed.push({ type: 'reasoning', text, seal, textBefore: this.#content.length })
  }
}

export function encodeFailureEvent(error: GatewayError): string {
  return `event: error\ndata: ${String(encodeError('flat', error))}\n\n`
}

function write(type: string, data: JsonRecord): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}
