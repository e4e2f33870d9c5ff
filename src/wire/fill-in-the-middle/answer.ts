/** Encodes answers as Mistral's fill-in-the-middle completions, complete and as a stream. */
import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { AnswerHead, ChatAnswer, ChatEvent, FinishReason } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { EventEncoder } from '../codec.ts'
import { encodeHead, type HeadFacts } from '../openai-chat/inbound-answer.ts'
import { flatFailure } from '../openai-chat/tap.ts'

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

/** Mistral's SDK refuses an answer without usage, so unreported usage is 0. */
export function encodeFimAnswer(answer: ChatAnswer, facts: HeadFacts): JsonRecord {
  const content = answer.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return {
    ...encodeFimHead('chat.completion', answer, facts),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, tool_calls: null, prefix: false },
        finish_reason: toReason(answer.finishReason),
      },
    ],
    usage: encodeUsage(answer.usage ?? NO_USAGE),
  }
}

export class FimEventEncoder implements EventEncoder {
  readonly #facts: HeadFacts
  #head: JsonRecord
  #usage: Usage | undefined
  #reason: FinishReason = 'stop'

  constructor(facts: HeadFacts) {
    this.#facts = facts
    this.#head = encodeFimHead('chat.completion.chunk', {}, facts)
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#head = encodeFimHead('chat.completion.chunk', event, this.#facts)
        return this.#chunk({ role: 'assistant', content: '' })
      case 'text-delta':
        return this.#chunk({ content: event.text })
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'finish':
        this.#reason = event.reason
        return ''
      default:
        return ''
    }
  }

  /** Mistral's SDK refuses `usage: null`, so only the last chunk contains usage. */
  end(): string {
    const usage = this.#usage === undefined ? {} : { usage: encodeUsage(this.#usage) }
    return `${this.#chunk({ content: '' }, toReason(this.#reason), usage)}data: [DONE]\n\n`
  }

  encodeFailure(error: GatewayError): string {
    return `data: ${JSON.stringify({ error: flatFailure(error) })}\n\n`
  }

  /** Mistral's SDK refuses a chunk without `finish_reason`. */
  #chunk(delta: JsonRecord, reason: string | null = null, more: JsonRecord = {}): string {
    const choices = [{ index: 0, delta, finish_reason: reason }]
    return `data: ${JSON.stringify({ ...this.#head, choices, ...more })}\n\n`
  }
}

function encodeFimHead(
  object: 'chat.completion' | 'chat.completion.chunk',
  answer: AnswerHead,
  facts: HeadFacts,
): JsonRecord {
  return { ...encodeHead(object, answer, facts), id: answer.id ?? `cmpl-${facts.callId}` }
}

function encodeUsage({ inputTokens, outputTokens }: Usage): JsonRecord {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
}

function toReason(reason: FinishReason): string {
  return reason === 'length' ? 'length' : 'stop'
}
