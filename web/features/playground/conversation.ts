import type { AnswerOf, QuestionOf } from '../../api/ask.ts'

export type ChatRequest = QuestionOf<'POST /v1/playground'>[0]['body']
export type ChatMessage = ChatRequest['messages'][number]
export type ChatAnswer = AnswerOf<'POST /v1/playground'>

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly arguments: string
}

export interface ToolResult {
  readonly callId: string
  readonly name: string
  readonly content: string
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly status?: number
  readonly retryAfterMs?: number
}

export interface Answer {
  readonly type: 'answer'
  readonly id: string
  readonly gateId: string
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly callId?: string
  readonly target?: string
  readonly ignored?: string
  /** From sending to the first word, including reasoning; measured by the browser. */
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly figures?: Pick<ChatAnswer, 'usage' | 'cost' | 'attempts' | 'finish_reason'>
  readonly failure?: Failure
}

export type Entry =
  | { readonly type: 'user'; readonly id: string; readonly text: string }
  | { readonly type: 'results'; readonly id: string; readonly results: readonly ToolResult[] }
  | Answer

export function beginAnswer(id: string, gateId: string): Answer {
  return { type: 'answer', id, gateId, state: 'running', content: '', reasoning: '', toolCalls: [] }
}

/**
 * The conversation for the model. Failed answers are omitted; a stopped answer is included as far
 * as it came.
 */
export function toMessages(entries: readonly Entry[]): ChatMessage[] {
  return entries.flatMap(entryMessages)
}

function entryMessages(entry: Entry): ChatMessage[] {
  switch (entry.type) {
    case 'user':
      return [{ role: 'user', content: entry.text }]
    case 'results':
      return entry.results.map(({ callId, content }) => ({
        role: 'tool',
        tool_call_id: callId,
        content,
      }))
    case 'answer':
      return toAssistant(entry)
  }
}

function toAssistant({ state, content, toolCalls }: Answer): ChatMessage[] {
  if (state === 'failed' || state === 'running') return []
  // A tool call that was cut off has invalid JSON and cannot be answered.
  const calls = state === 'done' ? toolCalls : []
  if (content === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => ({ ...call })) }),
    },
  ]
}

/** Pending tool calls, which must be answered before anything else is sent. */
export function openToolCalls(entries: readonly Entry[]): readonly ToolCall[] {
  const last = entries.at(-1)
  return last?.type === 'answer' && last.state === 'done' ? last.toolCalls : []
}

export function untilLastQuestion(entries: readonly Entry[]): readonly Entry[] | undefined {
  const at = entries.findLastIndex(({ type }) => type !== 'answer')
  return at < 0 ? undefined : entries.slice(0, at + 1)
}

export function splitAtLastMessage(
  entries: readonly Entry[],
): { readonly before: readonly Entry[]; readonly text: string } | undefined {
  const at = entries.findLastIndex(({ type }) => type === 'user')
  const message = entries[at]
  return message?.type === 'user' ? { before: entries.slice(0, at), text: message.text } : undefined
}

/** Settles the running answers of a restored copy, because their streams are lost. */
export function settleEntries(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry) =>
    entry.type === 'answer' && entry.state === 'running'
      ? { ...entry, state: 'stopped' as const }
      : entry,
  )
}
