import { ApiError, send } from '../../api/ask.ts'
import { createEventReader, type ServerSentEvent } from '../../api/event-stream.ts'
import type { Answer, ChatAnswer, ChatRequest, Failure, ToolCall } from './conversation.ts'

export interface StreamOptions {
  readonly signal: AbortSignal
  readonly onProgress: (answer: Answer) => void
}

/** Never rejects. */
export async function streamAnswer(
  request: ChatRequest,
  begun: Answer,
  { signal, onProgress }: StreamOptions,
): Promise<void> {
  const sentAt = performance.now()
  const elapsedMs = () => performance.now() - sentAt
  let answer = begun
  const tell = (next: Answer) => {
    answer = next
    onProgress(next)
  }
  try {
    const response = await send(
      'POST /v1/playground',
      { signal },
      { body: { ...request, stream: true } },
    )
    const ignored = response.headers.get('x-gatehouse-ignored')
    if (ignored !== null) tell({ ...answer, ignored })
    for await (const events of readEvents(response)) {
      let next = answer
      for (const event of events) next = applyEvent(next, event, elapsedMs())
      if (next !== answer) tell(next)
    }
    if (answer.state === 'running') tell(fail(answer, CUT_OFF, elapsedMs()))
  } catch (thrown) {
    if (answer.state !== 'running') return
    if (signal.aborted) tell({ ...answer, state: 'stopped', totalMs: elapsedMs() })
    else if (thrown instanceof ApiError) tell(refuse(answer, thrown, elapsedMs()))
    else tell(fail(answer, CUT_OFF, elapsedMs()))
  }
}

const CUT_OFF: Failure = {
  code: 'connection_lost',
  message: 'The connection ended before the answer was complete.',
}

function fail(answer: Answer, failure: Failure, totalMs: number): Answer {
  return { ...answer, state: 'failed', failure, totalMs }
}

function refuse(answer: Answer, error: ApiError, totalMs: number): Answer {
  const { code, message, status, retryAfterMs, requestId } = error
  const failure = { code, message, status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  return {
    ...fail(answer, failure, totalMs),
    ...(requestId === undefined ? {} : { callId: requestId }),
  }
}

/**
 * Yields all events of a read together, so that the page draws once and keeps up with any model.
 */
async function* readEvents(response: Response) {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const read = createEventReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield read(value)
  }
}

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
      // A later gateway may send more kinds.
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
