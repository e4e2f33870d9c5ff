/**
 * A chat request in the gateway's own terms: what a caller's dialect is decoded into and an
 * upstream's is encoded from when the two differ. Knows no dialect; holds every feature that at
 * least two of them share.
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
 * Bytes inside the request, or an address that the upstream fetches. The gateway itself never
 * fetches one.
 */
export type MediaSource =
  | { readonly type: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly type: 'url'; readonly url: string }

/**
 * How long a provider may keep the prompt up to and with this part in its cache; absent: as it
 * likes.
 */
export function toUrl(source: MediaSource): string {
  return source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
}

export interface CacheHint {
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

/** A document, such as a PDF. */
export interface FilePart {
  readonly type: 'file'
  readonly source: MediaSource
  readonly filename?: string
  readonly cache?: CacheHint
}

export interface AudioPart {
  readonly type: 'audio'
  readonly base64: string
  /** `wav`, `mp3`… */
  readonly format: string
}

/**
 * A piece of reasoning that the model wants back unchanged in the next request of a tool loop.
 * `text` is what people may read; `seal` is what the provider signed or encrypted.
 */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly seal?: Seal
  /**
   * UTF-16 units of the turn's text that stand before the part, for carriers to dialects that keep
   * text and reasoning apart. Absent: none.
   */
  readonly textBefore?: number
}

/**
 * The mark that a provider attached to its reasoning so that it recognises it when it comes back.
 * Opaque.
 */
export interface Seal {
  /**
   * `signature`: the text beside it is signed. `encrypted`: this is the reasoning itself, and
   * `text` at most its summary.
   */
  readonly type: 'signature' | 'encrypted'
  readonly value: string
  /**
   * Its origin: only a target of the same origin can read it. Absent in an answer fresh from its
   * upstream; the inbound codec writes it into what carries the seal to the client and back
   * (wire/seal-carrier.ts). A dialect's id stands for one that the caller had from an upstream of
   * that dialect, byte for byte.
   */
  readonly origin?: string
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /**
   * JSON text, as the model wrote it; `{}` for none. Not parsed, so that nothing of its spelling is
   * lost.
   */
  readonly arguments: string
  /** Some providers seal the call instead of a reasoning part beside it. */
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
   * Instructions; also in the middle of a conversation, where targets that know only leading ones
   * hoist them.
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
  /** A JSON Schema of an object; absent: the tool takes no arguments. */
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
 * How much a model shall think. Dialects have either a word or a number of tokens; each codec maps
 * the other.
 */
export interface ReasoningOptions {
  /**
   * `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`: words of the field, passed on where
   * a target knows them.
   */
  readonly effort?: string
  readonly budgetTokens?: number
  /**
   * `on`: the caller turned thinking on and left the effort to the model. `unsaid`: the caller gave
   * an effort alone, which turns nothing on. Absent: an effort or a budget turns it on.
   */
  readonly thinking?: 'on' | 'unsaid'
  /** Readable thinking: `summarized` or `omitted`. */
  readonly display?: string
  /** How the caller wants to read the reasoning: `auto`, `concise`, `detailed`, or `none`. */
  readonly summary?: string
}

/** Every setting is optional; absent means that the caller said nothing. */
/** The requested effort in a word, also where a budget of tokens says it. */
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
  /** An opaque name of the caller's end user. */
  readonly user?: string
  readonly metadata?: JsonRecord
  readonly serviceTier?: string
  readonly promptCacheKey?: string
}

export interface ChatRequest extends ChatSettings {
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  /**
   * Fills `{{name}}` in a gate's instructions in; absent where the caller's dialect knows no
   * variables. @throws GatewayError
   */
  readonly renderTemplate?: (template: string) => string
  /**
   * Top-level members of the caller's body that this model of a request does not know, as they
   * were. A target of the same family as the caller's dialect (`family`) takes them over unchanged;
   * every other target ignores them by name.
   */
  readonly extra: JsonRecord
  /** The family of dialects that `extra` is written in. */
  readonly family: 'openai-chat' | 'anthropic-messages' | 'gatehouse-chat'
  /**
   * The members that the caller's codec itself had to leave out, in the caller's own spelling
   * (`messages[].content[].type=server_tool_use`).
   */
  readonly ignored: readonly string[]
  /** Members that the caller's codec changed without any loss, in the same spelling. */
  readonly adapted?: readonly string[]
}
