/**
 * Recognises failures by vendors' codes and words: no credit, an unknown or retired model, or a
 * failure behind a 200. Vendors report missing credit and models as the caller's mistake, so the
 * status does not decide.
 */
import type { TargetFault } from '../core/errors.ts'
import { isContextCode } from './context-full.ts'
import type { ErrorWords } from './upstream-error.ts'

const FAULTS_BY_CODE: ReadonlyMap<string, TargetFault> = new Map<string, TargetFault>([
  ['insufficient_quota', 'out_of_credit'], // OpenAI, Azure, Alibaba
  ['billing_error', 'out_of_credit'], // Anthropic
  ['billing_hard_limit_reached', 'out_of_credit'], // OpenAI
  ['billing_not_active', 'out_of_credit'], // OpenAI
  ['exceeded_current_quota_error', 'out_of_credit'], // Kimi
  ['credit_limit', 'out_of_credit'], // Together
  ['arrearage', 'out_of_credit'], // Alibaba
  ['1113', 'out_of_credit'], // Zhipu
  ['model_not_found', 'model_not_found'], // OpenAI, Groq, Cerebras, LM Studio
  ['model_decommissioned', 'model_not_found'], // Groq
  ['model_not_available', 'model_not_found'], // Together
  ['deploymentnotfound', 'model_not_found'], // Azure
  ['invalid_model', 'model_not_found'], // Mistral, Perplexity
])

const CREDIT_WORDS: readonly string[] = [
  'credit balance is too low', // Anthropic
  'reached your specified api usage limits', // Anthropic
  'reached your specified workspace api usage limits', // Anthropic
  'insufficient balance', // DeepSeek, Kimi, MiniMax, Zhipu
  'insufficient credits', // OpenRouter
  'requires more credits, or fewer max_tokens', // OpenRouter
  'used all available credits or reached its monthly spending limit', // xAI
  'prepayment credits are depleted', // Gemini
  'credit limit exceeded', // Together
  'is suspended, possibly due to reaching the monthly spending limit', // Fireworks
  'cloud credits expired', // NVIDIA
]

/** In lower case. `{model}` stands for the target's model. */
const MODEL_WORDS: readonly string[] = [
  'model: {model}', // Anthropic
  'model not exist', // DeepSeek
  'models/{model} is not found for api version', // Gemini
  'models/{model} is no longer available', // Gemini
  '/models/{model}` was not found', // Vertex
  '/models/{model} was not found', // Vertex
  'the model {model} does not exist', // xAI
  'the model `{model}` does not exist', // OpenAI, vLLM, Groq
  'the model `{model}` has been de', // deprecated or decommissioned: OpenAI, Groq
  "the model '{model}' does not exist", // Azure
  "the model '{model}' has reached its end of life", // NVIDIA
  "model '{model}' not found", // Cohere, Ollama
  'model "{model}" not found', // Ollama
  'invalid model: {model}', // Mistral
  "invalid model '{model}'", // Perplexity
  '{model} is not a valid model id', // OpenRouter
  'no endpoints found for {model}', // OpenRouter
  'unable to access model {model}', // Together
  'model not found, inaccessible, and/or not deployed', // Fireworks
  'the provided model identifier is invalid', // Bedrock
  'could not resolve the foundation model from the provided model identifier', // Bedrock
  'this model version has reached the end of its life', // Bedrock
  'invocation of model id {model} with on-demand throughput', // Bedrock
  'the api deployment for this resource does not exist', // Azure
]

/** Later text may repeat the input. */
const SEARCHED_CHARS = 2_000

/**
 * @param model the target's model: an error about another model concerns the request, which may
 * name further models
 */
export function readTargetFault(
  status: number,
  { code, type, message }: ErrorWords,
  model: string,
): TargetFault | undefined {
  if (status < 400 || status > 499) return undefined
  const text = message?.slice(0, SEARCHED_CHARS).toLowerCase() ?? ''
  const name = model.toLowerCase()
  const coded = faultOf(code) ?? faultOf(type)
  if (coded === 'out_of_credit') return coded
  if (coded === 'model_not_found') return namesOther(text, name) ? undefined : coded
  if (CREDIT_WORDS.some((words) => text.includes(words))) return 'out_of_credit'
  return MODEL_WORDS.some((words) => containsWords(text, words.replace('{model}', name)))
    ? 'model_not_found'
    : undefined
}

export function faultOf(name: string | undefined): TargetFault | undefined {
  return name === undefined ? undefined : FAULTS_BY_CODE.get(name.toLowerCase())
}

/** Matches whole words at the end, because a longer name may begin like a shorter name. */
function containsWords(text: string, words: string): boolean {
  const at = text.indexOf(words)
  return at >= 0 && !/^[\w-]|^[.:/][\w-]/.test(text.slice(at + words.length))
}

const NAMED_MODEL = /\bmodel:? ?[`'"]([\w.:/@-]+)[`'"]/

function namesOther(text: string, model: string): boolean {
  const named = NAMED_MODEL.exec(text)?.[1]
  return named !== undefined && named !== model && !named.endsWith(`/${model}`)
}

/** By providers' names for kinds of failures, in lower case and without `_` and `-`. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ...[
    'overloadederror', // Anthropic
    'overloaded',
    'serveroverloaded', // OpenAI
    'serverisoverloaded', // OpenAI
    'engineoverloadederror', // Kimi
    'unavailable', // Google
    'unavailableerror', // llama.cpp
    'serviceunavailable',
    'serviceunavailableerror',
    'serviceunavailableexception', // Bedrock
  ].map((name) => [name, 503] as const),
  ...[
    'ratelimiterror', // Anthropic
    'ratelimitexceeded', // OpenAI
    'toomanyrequests',
    'resourceexhausted', // Google
    'throttlingexception', // Bedrock
    'insufficientquota', // OpenAI
  ].map((name) => [name, 429] as const),
  ...[
    'invalidrequesterror', // Anthropic, OpenAI
    'invalidrequest',
    'invalidargument', // Google
    'validationexception', // Bedrock
    'badrequesterror', // vLLM
  ].map((name) => [name, 400] as const),
  ['billingerror', 402], // Anthropic
  ['notfounderror', 404], // Anthropic
  ['requesttoolarge', 413], // Anthropic
])

/** Some codes are HTTP statuses, which count if they mean a temporary failure. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 503, 529])

export interface FailureNames {
  readonly code?: unknown
  readonly type?: unknown
  readonly status?: unknown
}

/**
 * The most specific name of a failure's kind. OpenAI and compatible providers rarely use `type`.
 */
export function kindOfFailure(error: FailureNames): string | undefined {
  const names = [error.code, error.type, error.status].flatMap((name) =>
    typeof name === 'string' && name !== '' ? [name] : typeof name === 'number' ? [`${name}`] : [],
  )
  return (
    names.find((name) => isContextCode(name) || faultOf(name) !== undefined) ??
    names.find((name) => statusOfKind(name) !== undefined) ??
    names[0]
  )
}

/** Undefined: the kind does not show whether the caller or the upstream is at fault. */
export function statusOfKind(kind: string | undefined): number | undefined {
  if (kind === undefined) return undefined
  const code = Number(kind)
  if (TEMPORARY.has(code)) return code
  return STATUSES.get(kind.toLowerCase().replaceAll(/[_-]/g, ''))
}
