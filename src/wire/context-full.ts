/**
 * A request that is too long for its model: how vendors say so, and how callers of each dialect
 * look for it. Pure.
 */
import type { Envelope } from './dialect.ts'
import type { UpstreamErrorAnswer } from './upstream-error.ts'

/** OpenAI's clients look for this code. */
export const CONTEXT_FULL = 'context_length_exceeded'

/**
 * Anthropic's clients look for it at the beginning of the text: an agent shortens its
 * conversation then.
 */
const TOO_LONG = 'prompt is too long'

/** Codes and types of OpenAI and those who copied it; llama.cpp's. */
const CODES: ReadonlySet<unknown> = new Set([CONTEXT_FULL, 'exceed_context_size_error'])

/** In lower case; the vendors' own words, in the order of the list of providers. */
const WORDS: readonly string[] = [
  TOO_LONG, // Anthropic, also on Vertex
  'exceed context limit', // Anthropic, prompt and max_tokens together
  'input is too long for requested model', // Bedrock
  'too many tokens: total number of tokens', // Cohere
  'maximum context length', // OpenAI, Azure, DeepSeek, OpenRouter, vLLM, Mistral
  'exceeds the context window', // OpenAI, Responses
  'exceeds the maximum number of tokens allowed', // Gemini
  'reduce the length of the messages', // Groq
  'maximum prompt length', // xAI
  'exceeds the available context size', // llama.cpp
  'context length exceeded', // NVIDIA, Fireworks
]

/** No vendor says it behind so much text: an error may repeat what it was sent. */
const SEARCHED_CHARS = 2_000

export function isContextFull(status: number, { code, type, message }: ContextRefusal): boolean {
  if (status < 400 || status > 499 || status === 429) return false
  if (CODES.has(code) || CODES.has(type)) return true
  const text = message?.slice(0, SEARCHED_CHARS).toLowerCase() ?? ''
  return WORDS.some((words) => text.includes(words))
}

type ContextRefusal = Pick<UpstreamErrorAnswer, 'code' | 'type' | 'message'>

/** The text as callers of an envelope recognise it. */
export function toContextMessage(message: string, envelope: Envelope): string {
  if (envelope !== 'messages' || message.startsWith(TOO_LONG)) return message
  // Its own clients read the figures of this one, and ask for less.
  return message.includes('exceed context limit') ? message : `${TOO_LONG}: ${message}`
}

/**
 * An upstream's own error in the caller's dialect: the bytes themselves where its client would
 * recognise them.
 */
export function toContextBody(
  body: Uint8Array,
  { json, message = 'no message' }: UpstreamErrorAnswer,
  envelope: Envelope,
): Uint8Array {
  const { error } = json as { readonly error: Readonly<Record<string, unknown>> }
  if (envelope === 'messages') {
    const told = toContextMessage(message, envelope)
    return told === message
      ? body
      : encode({ ...(json as object), error: { ...error, message: told } })
  }
  return error.code === CONTEXT_FULL
    ? body
    : encode({ ...(json as object), error: { ...error, code: CONTEXT_FULL } })
}

function encode(json: object): Uint8Array {
  return Buffer.from(JSON.stringify(json))
}
