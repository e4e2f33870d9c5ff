/**
 * A chat request in the gateway's own terms, with every feature that at least two dialects share.
 * Used when the caller's dialect differs from the upstream's.
 */
import type { UnnamedToolChoice } from '../core/chat-words.ts'

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }
export type JsonRecord = { readonly [name: string]: JsonValue }

/**
 * Bytes inside the request, or an address that the upstream fetches. The gateway fetches no
 * address.
 */
export type MediaSource =
  | { readonly type: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly type: 'url'; readonly url: string }

export function toUrl(source: MediaSource): string {
  return source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
}

/** Asks the provider to cache the prompt up to and including the part. */
export interface CacheHint {
  /** Undefined: the provider's choice. */
  readonly ttl?: '5m' | '1h'
}

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly cache?: CacheHint
}

export interface ImagePart {
  readonly type: 'image'
  readonly source: MediaSource
  /** OpenAI's `low`, `high`, `auto`. */
  readonly detail?: string
  readonly cache?: CacheHint
}

export interface FilePart {
  readonly type: 'file'
  readonly source: MediaSource
  readonly filename?: string
  readonly cache?: CacheHint
}

export interface AudioPart {
  readonly type: 'audio'
  readonly base64: string
  readonly format: string
}

/**
 * Reasoning that the model needs back unchanged in the next request of a tool loop. The provider
 * signs or encrypts `seal`.
 */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly seal?: Seal
  /**
   * UTF-16 units of the turn's text before the part, for dialects that keep text and reasoning
   * apart.
   */
  readonly textBefore?: number
}

/**
 * A provider's opaque mark on its reasoning, by which the provider recognises the reasoning later.
 */
export interface Seal {
  /**
   * `signature`: signs the text beside it. `encrypted`: the reasoning itself; `text` is at most its
   * summary.
   */
  readonly type: 'signature' | 'encrypted'
  readonly value: string
  /**
   * Only a target of the same origin can read the seal. Undefined in an answer from an upstream;
   * the inbound codec writes the origin into the client's carrier (wire/seal-carrier.ts). A
   * dialect's id stands for a seal that the caller got unchanged from an upstream of that dialect.
   */
  readonly origin?: string
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** The model's own JSON text, not parsed, so its spelling is preserved; `{}` for no arguments. */
  readonly arguments: string
  /** Some providers seal the call instead of a reasoning part. */
  readonly seal?: Seal
  readonly cache?: CacheHint
}

export interface RefusalPart {
  readonly type: 'refusal'
  readonly text: string
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart
export type ToolResultPart = TextPart | ImagePart | FilePart

export interface ToolResult {
  readonly role: 'tool'
  readonly callId: string
  readonly content: readonly ToolResultPart[]
  readonly isError?: boolean
  readonly cache?: CacheHint
}

export type ChatMessage =
  /**
   * Instructions, also in the middle of a conversation. For targets that support only leading
   * instructions, they are moved to the front.
   */
  | { readonly role: 'system'; readonly content: readonly TextPart[] }
  | { readonly role: 'user'; readonly content: readonly UserPart[]; readonly name?: string }
  | {
      readonly role: 'assistant'
      readonly content: readonly AssistantPart[]
      readonly name?: string
    }
  | ToolResult

export interface Tool {
  readonly name: string
  readonly description?: string
  /** A JSON Schema of an object; undefined: the tool takes no arguments. */
  readonly parameters?: JsonRecord
  readonly strict?: boolean
  readonly cache?: CacheHint
}

export type ToolChoice =
  | { readonly type: UnnamedToolChoice }
  | { readonly type: 'tool'; readonly name: string }

export type ResponseFormat =
  | { readonly type: 'text' | 'json' }
  | {
      readonly type: 'json-schema'
      readonly name?: string
      readonly description?: string
      readonly schema: JsonRecord
      readonly strict?: boolean
    }

/**
 * How much a model should think. Dialects use a word or a number of tokens; each codec converts
 * between them.
 */
export interface ReasoningOptions {
  /**
   * `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or other words, passed to targets
   * that support them.
   */
  readonly effort?: string
  readonly budgetTokens?: number
  /**
   * `on`: thinking is on and the model chooses the effort. `unsaid`: the caller set only an effort,
   * which turns nothing on. Undefined: an effort or a budget turns thinking on.
   */
  readonly thinking?: 'on' | 'unsaid'
  readonly display?: string
  /** The requested form of readable reasoning: `auto`, `concise`, `detailed`, or `none`. */
  readonly summary?: string
}

export function effortOf(reasoning: ReasoningOptions | undefined): string | undefined {
  const { effort, budgetTokens } = reasoning ?? {}
  if (effort !== undefined || budgetTokens === undefined) return effort
  return budgetTokens <= 2048 ? 'low' : budgetTokens <= 8192 ? 'medium' : 'high'
}

export interface ChatSettings {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly logprobs?: boolean
  readonly topLogprobs?: number
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly responseFormat?: ResponseFormat
  readonly reasoning?: ReasoningOptions
  readonly user?: string
  readonly metadata?: JsonRecord
  readonly serviceTier?: string
  readonly promptCacheKey?: string
}

export interface ChatRequest extends ChatSettings {
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  /**
   * Fills in `{{name}}` in a gate's instructions. Undefined: the caller's dialect has no variables.
   * @throws GatewayError
   */
  readonly renderTemplate?: (template: string) => string
  /**
   * Unknown top-level members of the caller's body. A target of the same family gets them
   * unchanged; for other targets they are reported as ignored.
   */
  readonly extra: JsonRecord
  readonly family: 'openai-chat' | 'anthropic-messages' | 'gatehouse-chat'
  /**
   * Members that the caller's codec itself had to omit, in the caller's spelling
   * (`messages[].content[].type=server_tool_use`).
   */
  readonly ignored: readonly string[]
  /** Members that the caller's codec changed without loss, in the same spelling. */
  readonly adapted?: readonly string[]
}
