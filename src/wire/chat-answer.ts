/** A chat answer in the gateway's own terms, complete or as events. */
import type { FINISH_REASONS } from '../core/chat-words.ts'
import type { Usage } from '../core/usage.ts'
import type { AssistantPart, ImagePart, JsonValue, MediaSource, Seal } from './chat-request.ts'

/**
 * `content_filter` includes a provider's refusal to answer. A malformed answer is a failure, not a
 * reason.
 */
export type FinishReason = (typeof FINISH_REASONS)[number]

/**
 * Servers send `stop` with forced calls, and `tool_calls` without a call, so the reason is adapted
 * to the answer's contents.
 */
export function toFittingReason(reason: FinishReason, hasCalls: boolean): FinishReason {
  if (reason === 'stop' && hasCalls) return 'tool_calls'
  return reason === 'tool_calls' && !hasCalls ? 'stop' : reason
}

export function withFittingReasons(answer: ChatAnswer): ChatAnswer {
  const { others, ...first } = answer
  return others === undefined ? fit(first) : { ...fit(first), others: others.map(fit) }
}

function fit<Choice extends Pick<ChatAnswer, 'content' | 'finishReason'>>(choice: Choice): Choice {
  const hasCalls = choice.content.some(({ type }) => type === 'tool-call')
  return { ...choice, finishReason: toFittingReason(choice.finishReason, hasCalls) }
}

export type AnswerPart = AssistantPart | ImagePart

export interface ChatAnswer {
  readonly id?: string
  /** The upstream's name of the model, which may be more exact than the requested name. */
  readonly model?: string
  readonly createdAt?: number
  readonly content: readonly AnswerPart[]
  readonly finishReason: FinishReason
  readonly stopSequence?: string
  readonly usage: Usage | null
  /** Further answers to the same request, if the caller asked for several (OpenAI's `n`). */
  readonly others?: readonly ChatChoice[]
  /** OpenAI's `choices[0].logprobs`, unchanged. */
  readonly logprobs?: JsonValue
  /** Parts of the upstream's answer that have no place here (unread.ts). */
  readonly unread?: readonly string[]
}

export type ChatChoice = Pick<ChatAnswer, 'content' | 'finishReason' | 'logprobs'>

export type AnswerHead = Pick<ChatAnswer, 'id' | 'model' | 'createdAt'>

/**
 * One step of a streamed answer. Blocks follow in the model's order. Text and reasoning begin with
 * their first delta. Several tool calls may be open at once; `index` counts them from 0 over the
 * whole answer.
 */
export type ChatEvent =
  | {
      readonly type: 'start'
      readonly id?: string
      readonly model?: string
      readonly createdAt?: number
      readonly usage?: Usage
    }
  | { readonly type: 'text-delta'; readonly text: string; readonly logprobs?: JsonValue }
  | { readonly type: 'text-end' }
  | { readonly type: 'refusal-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'reasoning-end'; readonly seal?: Seal }
  | {
      readonly type: 'tool-call-start'
      readonly index: number
      readonly id: string
      readonly name: string
      readonly seal?: Seal
    }
  | { readonly type: 'tool-call-delta'; readonly index: number; readonly arguments: string }
  /** The arguments are complete; without any delta the arguments are `{}`. */
  | { readonly type: 'tool-call-end'; readonly index: number }
  /** A complete image; the previous block has ended. */
  | { readonly type: 'image'; readonly source: MediaSource }
  /**
   * A part of the upstream's answer that cannot be represented here. The event may occur several
   * times.
   */
  | { readonly type: 'unread'; readonly name: string }
  /** A step of a further answer, if the caller asked for several; `index` from 1. */
  | { readonly type: 'choice'; readonly index: number; readonly event: ChatEvent }
  /** The last report replaces earlier ones; usage is never summed. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly stopSequence?: string }
  /** The upstream reported a failure in its stream. Always the last event. */
  | { readonly type: 'error'; readonly message: string; readonly code?: string }
