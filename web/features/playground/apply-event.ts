/** Applies each event of a streamed answer to it. Pure; times come from outside. */
import type { ServerSentEvent } from '../../api/event-stream.ts'
import type { Answer, ChatAnswer, ToolCall } from './conversation.ts'

interface ToolCallDelta {
  readonly index: number
  readonly id?: string
  readonly name?: string
  readonly arguments?: string
}

type Delta =
  | { readonly content: string }
  | { readonly reasoning: string }
  | { readonly tool_call: ToolCallDelta }

/** @param elapsedMs since the request was sent */
export function applyEvent(
  answer: Answer,
  { name, data }: ServerSentEvent,
  elapsedMs: number,
): Answer {
  switch (name) {
    case 'chat.started': {
      const { id, model } = JSON.parse(data) as Pick<ChatAnswer, 'id' | 'model'>
      return { ...answer, callId: id, target: model }
    }
    case 'chat.delta':
      return { firstTokenMs: elapsedMs, ...applyDelta(answer, JSON.parse(data) as Delta) }
    case 'chat.completed':
      return complete(answer, JSON.parse(data) as ChatAnswer, elapsedMs)
    case 'error': {
      const { error: code, message } = JSON.parse(data) as { error: string; message: string }
      return { ...answer, state: 'failed', failure: { code, message }, totalMs: elapsedMs }
    }
    default:
      // A later gateway may tell more.
      return answer
  }
}

function applyDelta(answer: Answer, delta: Delta): Answer {
  if ('content' in delta) return { ...answer, content: answer.content + delta.content }
  if ('reasoning' in delta) return { ...answer, reasoning: answer.reasoning + delta.reasoning }
  if ('tool_call' in delta)
    return { ...answer, toolCalls: addToCall(answer.toolCalls, delta.tool_call) }
  return answer
}

function addToCall(calls: readonly ToolCall[], delta: ToolCallDelta): readonly ToolCall[] {
  const { index, id = '', name = '', arguments: more = '' } = delta
  const known = calls[index]
  if (known === undefined) return [...calls, { id, name, arguments: more }]
  return calls.with(index, { ...known, arguments: known.arguments + more })
}

/** The whole answer counts, and not what its pieces add up to. */
function complete(answer: Answer, whole: ChatAnswer, elapsedMs: number): Answer {
  const { id, model, content, reasoning = '', tool_calls: toolCalls = [] } = whole
  const { usage, cost, attempts, finish_reason } = whole
  return {
    ...answer,
    state: 'done',
    callId: id,
    target: model,
    content,
    reasoning,
    toolCalls,
    totalMs: elapsedMs,
    figures: { usage, cost, attempts, finish_reason },
  }
}
