/**
 * A request that is too long for its model: how vendors say so, and how callers of each dialect
 * look for it. Pure.
 */
import { type AskedTokens, LEAST_ROOM, readContextFigures } from './context-figures.ts'
import type { Envelope } from './dialect.ts'
import type { UpstreamErrorAnswer } from './upstream-error.ts'

/** OpenAI's clients look for this code. */
export const CONTEXT_FULL = 'context_length_exceeded'

/**
 * Anthropic's clients look for it at the beginning of the text: an agent shortens its
 * conversation then.
 */
const TOO_LONG = 'prompt is too long'

/** And for this one, where a lower `max_tokens` helps: an agent asks for less then. */
const BOTH_TOO_LONG = 'input length and `max_tokens` exceed context limit'

/** Codes and types of OpenAI and those who copied it; llama.cpp's, Copilot's, Z.ai's. */
const CODES: ReadonlySet<unknown> = new Set([
  CONTEXT_FULL,
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'model_context_window_exceeded',
])

/** In lower case; the vendors' own words. The test has a whole message of each, and its source. */
const WORDS: readonly string[] = [
  TOO_LONG, // Anthropic, also on Vertex; Fireworks
  'exceed context limit', // Anthropic, prompt and max_tokens together
  'input is too long for requested model', // Bedrock
  'too many tokens: total number of tokens', // Cohere
  'too many tokens: size limit exceeded', // Cohere, older
  'maximum context length', // OpenAI, Azure, DeepSeek, OpenRouter, vLLM, SGLang, Mistral
  'input tokens exceed the configured limit', // Azure
  'exceeds the context window', // OpenAI, Responses
  'exceeds the maximum number of tokens allowed', // Gemini
  'reduce the length of the messages', // Groq, Cerebras
  'maximum prompt length', // xAI
  'exceeds the available context size', // llama.cpp
  'is larger than the max context size', // llama.cpp
  'context size has been exceeded', // llama.cpp, while it writes
  'tokens, but the configured context size is', // DwarfStar
  'context length exceeded', // NVIDIA, Fireworks
  "longer than the model's context length", // Together, SGLang
  '`inputs` tokens + `max_new_tokens` must be', // Together, Text Generation Inference
  '`inputs` must have less than', // Text Generation Inference
  'greater than the context length', // LM Studio
  'tokens when context', // LM Studio: "Trying to keep the first 9 tokens when context the overflows"
  'cannot truncate prompt with n_keep', // LM Studio
  'longer than the maximum model length', // vLLM
  'is too long to fit into the model', // vLLM
  'exceeds the maximum allowed input length', // Baseten, also behind OpenRouter
  'context window exceeds limit', // MiniMax
  'exceeded model token limit', // Kimi
  'exceeded max context length', // Ollama
  'range of input length should be', // Alibaba
  'prompt exceeds max length', // Zhipu
  'prompt token count of', // Copilot
  'input token length too long', // these four: no vendor known, Claude Code knows them
  'tokens in request more than max tokens allowed',
  'maximum context limit',
  'context exceeds your deployment',
]

/** No vendor says it behind so much text: an error may repeat what it was sent. */
const SEARCHED_CHARS = 2_000

export function isContextFull(status: number, { code, type, message }: ContextRefusal): boolean {
  if (status < 400 || status > 499 || status === 429) return false
  if (isContextCode(code) || isContextCode(type)) return true
  const text = message?.slice(0, SEARCHED_CHARS).toLowerCase() ?? ''
  return WORDS.some((words) => text.includes(words))
}

export function isContextCode(name: unknown): boolean {
  return CODES.has(name)
}

type ContextRefusal = Pick<UpstreamErrorAnswer, 'code' | 'type' | 'message'>

/** The text as callers of an envelope recognise it. @param asked of the request that was refused */
export function toContextMessage(message: string, envelope: Envelope, asked: AskedTokens): string {
  if (envelope !== 'messages' || message.startsWith(TOO_LONG)) return message
  if (message.includes('exceed context limit')) return message
  const figures = readContextFigures(message.slice(0, SEARCHED_CHARS).toLowerCase(), asked)
  if (figures === undefined) return `${TOO_LONG}: ${message}`
  const { input, output, limit } = figures
  // The vendor's own words stay away: some of them mean the other case to the same clients.
  if (output > 0 && limit - input >= LEAST_ROOM)
    return `${BOTH_TOO_LONG}: ${input} + ${output} > ${limit}`
  const tokens = input > limit ? input : input + output
  return `${TOO_LONG}: ${tokens} tokens > ${limit} maximum (${message})`
}

/** Anthropic's clients act on either text at this status alone; others get the vendor's. */
export function toContextStatus(status: number, envelope: Envelope): number {
  return envelope === 'messages' ? 400 : status
}

/**
 * An upstream's own error in the caller's dialect: the bytes themselves where its client would
 * recognise them.
 * @param told what `toContextMessage` made of its message
 */
export function toContextBody(
  body: Uint8Array,
  { json, message }: UpstreamErrorAnswer,
  { envelope, told }: { readonly envelope: Envelope; readonly told: string },
): Uint8Array {
  const { error } = json as { readonly error: Readonly<Record<string, unknown>> }
  if (envelope === 'messages')
    return told === message
      ? body
      : encode({ ...(json as object), error: { ...error, message: told } })
  return error.code === CONTEXT_FULL
    ? body
    : encode({ ...(json as object), error: { ...error, code: CONTEXT_FULL } })
}

function encode(json: object): Uint8Array {
  return Buffer.from(JSON.stringify(json))
}
