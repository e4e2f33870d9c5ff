/**
 * Requests that are too long for their model: how providers report them, and how callers of each
 * dialect recognise them.
 */
import type { Envelope } from './dialect.ts'
import type { ErrorWords, UpstreamErrorAnswer } from './upstream-error.ts'

/** OpenAI's clients look for this code. */
export const CONTEXT_FULL = 'context_length_exceeded'

/**
 * Anthropic's clients look for this text at the beginning of the message; an agent then shortens
 * its conversation.
 */
const TOO_LONG = 'prompt is too long'

/** The text for cases in which a lower `max_tokens` helps; an agent then asks for less. */
const BOTH_TOO_LONG = 'input length and `max_tokens` exceed context limit'

/** Codes and types of OpenAI and compatible providers, llama.cpp, Copilot and Z.ai. */
const CODES: ReadonlySet<unknown> = new Set([
  CONTEXT_FULL,
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'model_context_window_exceeded',
])

/**
 * The providers' own words, in lower case. The test has a whole message of each, and its source.
 */
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
  'input token length too long', // Claude Code knows these four words, of an unknown vendor.
  'tokens in request more than max tokens allowed',
  'maximum context limit',
  'context exceeds your deployment',
]

/** Providers write the words within this much text; later text may repeat the input. */
const SEARCHED_CHARS = 2_000

export function isContextFull(status: number, { code, type, message }: ErrorWords): boolean {
  if (status < 400 || status > 499 || status === 429) return false
  if (isContextCode(code) || isContextCode(type)) return true
  const text = message?.slice(0, SEARCHED_CHARS).toLowerCase() ?? ''
  return WORDS.some((words) => text.includes(words))
}

export function isContextCode(name: unknown): boolean {
  return CODES.has(name)
}

/**
 * The text that callers of an envelope recognise.
 * @param requested the tokens of the refused request
 */
export function toContextMessage(
  message: string,
  envelope: Envelope,
  requested: RequestedTokens,
): string {
  if (envelope !== 'messages' || message.startsWith(TOO_LONG)) return message
  if (message.includes('exceed context limit')) return message
  const figures = readContextFigures(message.slice(0, SEARCHED_CHARS).toLowerCase(), requested)
  if (figures === undefined) return `${TOO_LONG}: ${message}`
  const { input, output, limit } = figures
  // Some providers' words mean the other case to Anthropic's clients, so this text omits the
  // provider's words.
  if (output > 0 && limit - input >= LEAST_ROOM)
    return `${BOTH_TOO_LONG}: ${input} + ${output} > ${limit}`
  const tokens = input > limit ? input : input + output
  return `${TOO_LONG}: ${tokens} tokens > ${limit} maximum (${message})`
}

/**
 * Anthropic's clients act on the text only with this status; other clients get the provider's
 * status.
 */
export function toContextStatus(status: number, envelope: Envelope): number {
  return envelope === 'messages' ? 400 : status
}

/**
 * An upstream's own error in the caller's dialect, unchanged if its client would recognise it.
 * @param contextMessage the result of `toContextMessage`
 */
export function toContextBody(
  body: Uint8Array,
  { json, message }: UpstreamErrorAnswer,
  { envelope, contextMessage }: { readonly envelope: Envelope; readonly contextMessage: string },
): Uint8Array {
  const { error } = json as { readonly error: Readonly<Record<string, unknown>> }
  if (envelope === 'messages')
    return contextMessage === message
      ? body
      : encode({ ...(json as object), error: { ...error, message: contextMessage } })
  return error.code === CONTEXT_FULL
    ? body
    : encode({ ...(json as object), error: { ...error, code: CONTEXT_FULL } })
}

function encode(json: object): Uint8Array {
  return Buffer.from(JSON.stringify(json))
}

export interface RequestedTokens {
  readonly inputTokens: number
  readonly outputTokens: number | undefined
}

interface ContextFigures {
  readonly limit: number
  readonly input: number
  /** 0: the input alone is too long. */
  readonly output: number
}

const N = String.raw`[\d,]{1,20}`
/** Providers' sentences are shorter, so the patterns are tried only on this much text. */
const MOST_CHARACTERS = 2_000

function shape(strings: TemplateStringsArray, ...names: readonly string[]): RegExp {
  return new RegExp(strings.raw.map((text, at) => text + toGroup(names[at])).join(''))
}

function toGroup(name: string | undefined): string {
  return name === undefined ? '' : `(?<${name}>${N})`
}

/**
 * Matches totals of input and output in a lower-case text. `parts` is a list such as `3 in the
 * messages`.
 */
const SUMS: readonly RegExp[] = [
  // vLLM since 2025 checks input and output separately. `least` means that counting stopped there.
  shape`too large: ${'output'}\. this model's maximum context length is ${'limit'} tokens and your request has ${'input'} input tokens`,
  shape`context length is ${'limit'} tokens\. however, you requested ${'output'} output tokens and your prompt contains (?:(?<least>at least )?${'input'} input tokens|\d+ characters)`,
  // OpenAI's first wording, also vLLM's and DeepSeek's; OpenRouter's has `about`.
  shape`context length is ${'limit'} tokens[.,] however,? you requested (?:about )?${'total'} tokens(?: \((?<parts>[^)]*)\))?`,
  // SGLang.
  shape`token count exceeds the model's maximum context length of ${'limit'} tokens(?:\. you requested a total of ${'total'} tokens: ${'input'} tokens from the input messages and ${'output'} )?`,
  // Together, Text Generation Inference.
  shape`\`inputs\` tokens \+ \`max_new_tokens\` must be <= ${'limit'}(?:\. given: ${'input'} \`inputs\` tokens and ${'output'} )?`,
  // Kimi counts both: https://platform.moonshot.cn/docs/guide/faq.
  shape`exceeded model token limit ?: ?${'limit'}(?: \(requested: ${'total'}\))?`,
]

/** Patterns for the input alone. */
const INPUTS: readonly RegExp[] = [
  shape`context length is ${'limit'} tokens\. however, your (?:messages resulted in|request has) ${'input'} (?:input )?tokens`,
  shape`input(?: length)? \(?${'input'}(?: tokens)?\)? (?:is longer than the model's context length|exceeds (?:the )?(?:model's )?maximum (?:context|allowed input) length)(?: of)? \(?${'limit'}`,
  shape`\(${'input'} tokens\) (?:exceeds the available|is larger than the max) context size \(${'limit'} tokens\)`,
  shape`input token count \(${'input'}\) exceeds the maximum number of tokens allowed \(${'limit'}\)`,
  shape`maximum prompt length is ${'limit'} but the request contains ${'input'} tokens`,
  shape`prompt contains ${'input'} tokens.{0,40} too large for model with ${'limit'} maximum`,
  shape`prompt is too long: ${'input'}, model maximum context length: ${'limit'}`,
  shape`prompt is too long: ${'input'} tokens > ${'limit'} maximum`,
  shape`n_keep \(${'input'}\) >= n_ctx \(${'limit'}\)`,
  shape`keep the first ${'input'} tokens.{0,80} context length of only ${'limit'} tokens`,
  shape`configured limit of ${'limit'} tokens\. your messages resulted in ${'input'} tokens`,
]

/**
 * Claude Code (2.1) keeps 1,000 tokens free and asks for at least 3,000, so with less room only a
 * shorter conversation helps.
 */
const LEAST_ROOM = 4_000

/**
 * @param text in lower case
 * @returns undefined when the text has no figures of a known form
 */
function readContextFigures(text: string, requested: RequestedTokens): ContextFigures | undefined {
  const read = text.slice(0, MOST_CHARACTERS)
  const ofSum = firstGroups(SUMS, read)
  if (ofSum !== undefined) return readSum(ofSum, requested)
  const { limit, input } = firstGroups(INPUTS, read) ?? {}
  return limit === undefined || input === undefined
    ? undefined
    : { limit: toNumber(limit), input: toNumber(input), output: 0 }
}

type Groups = Readonly<Record<string, string | undefined>>

function firstGroups(shapes: readonly RegExp[], text: string): Groups | undefined {
  for (const each of shapes) {
    const found = each.exec(text)
    if (found?.groups !== undefined) return found.groups
  }
  return undefined
}

function readSum(groups: Groups, requested: RequestedTokens): ContextFigures {
  const limit = toNumber(groups.limit ?? '')
  const parts = groups.parts === undefined ? undefined : readParts(groups.parts)
  const reported = groups.output === undefined ? parts?.output : toNumber(groups.output)
  const output = reported ?? requested.outputTokens ?? 0
  const counted = groups.input === undefined ? parts?.input : toNumber(groups.input)
  if (groups.least !== undefined)
    // The server stopped counting. The gateway's higher estimate saves the client many rounds,
    // unless the client would shorten its conversation.
    return {
      ...{ limit, output },
      input: Math.max(counted ?? 0, Math.min(requested.inputTokens, limit - LEAST_ROOM)),
    }
  if (counted !== undefined) return { limit, input: counted, output }
  const total = groups.total === undefined ? 0 : toNumber(groups.total)
  return { limit, input: total > output ? total - output : requested.inputTokens, output }
}

/**
 * `30 of text input, 4 of tool input, 9 in the output`; `30 in your prompt; 9 for the completion`.
 */
function readParts(parts: string): Pick<ContextFigures, 'input' | 'output'> | undefined {
  let input = 0
  let output = 0
  for (const part of parts.split(/[,;] (?:and )?/)) {
    const [figure = ''] = part.split(' ', 1)
    const tokens = toNumber(figure)
    if (Number.isNaN(tokens)) continue
    if (/ (?:completion|output)\b/.test(part)) output += tokens
    else input += tokens
  }
  return input === 0 ? undefined : { input, output }
}

function toNumber(figure: string): number {
  return Number(figure.replaceAll(',', ''))
}
