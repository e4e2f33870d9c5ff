/** A whole Anthropic message in the gateway's own terms. It must not know callers. */
import type { ChatAnswer, FinishReason } from '../chat-answer.ts'
import type { AssistantPart, JsonRecord, JsonValue } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { readUsageOfTurn } from '../program-turns.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { presentIn, withUnread } from '../unread-parts.ts'

/**
 * `pause_turn`: the model would go on if asked again. A refusal is a stop by a filter (wire.md
 * §3.2).
 */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** A reason of a later version is an ordinary end rather than a failure. */
export function toFinishReason(stopReason: JsonValue | undefined): FinishReason {
  return (typeof stopReason === 'string' ? FINISH_REASONS[stopReason] : undefined) ?? 'stop'
}

/** @throws UnreadableAnswerError */
export function decodeAnthropicAnswer(body: JsonRecord): ChatAnswer {
  if (!Array.isArray(body.content)) {
    const error = isRecord(body.error) ? body.error.message : undefined
    throw new UnreadableAnswerError(
      typeof error === 'string' ? error : 'sent an answer without content',
    )
  }
  const blocks = body.content.filter(isRecord)
  return {
    content: blocks.flatMap(decodeBlock),
    ...withUnread(blocks.flatMap(unreadOf)),
    finishReason: toFinishReason(body.stop_reason),
    usage: readUsageOfTurn('anthropic-messages', { reported: body.usage, items: body.content }),
    ...present({
      id: textOf(body.id),
      model: textOf(body.model),
      stopSequence: textOf(body.stop_sequence),
    }),
  }
}

function decodeBlock(block: JsonRecord): AssistantPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textOf(block.text) ?? '' }]
    case 'thinking': {
      const value = textOf(block.signature)
      const seal = value === undefined ? undefined : { type: 'signature' as const, value }
      return [{ type: 'reasoning', text: textOf(block.thinking) ?? '', ...present({ seal }) }]
    }
    case 'redacted_thinking':
      return [
        {
          type: 'reasoning',
          text: '',
          seal: { type: 'encrypted', value: textOf(block.data) ?? '' },
        },
      ]
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: textOf(block.id) ?? '',
          name: textOf(block.name) ?? '',
          arguments: JSON.stringify(block.input ?? {}),
        },
      ]
    default:
      return [] // A server's own tools: not asked for by any request that is translated.
  }
}

const KINDS = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

/** Names of what is not read of a block. */
export function unreadOf(block: JsonRecord): string[] {
  const type = textOf(block.type) ?? ''
  if (KINDS.has(type)) return presentIn(block, ['citations'], 'content[].')
  return type === '' ? [] : [`answer.content[].type=${type}`]
}
