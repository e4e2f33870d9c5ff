/**
 * Reads an OpenAI Chat request: refuses what OpenAI refuses, and turns the rest into a prompt.
 * Knows no answer.
 */
import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import type { Exchange } from '../dialect.ts'
import { isObject, type JsonObject, objectsOf, stringOf, textOfContent } from '../json.ts'
import { JSON_OBJECT } from '../prompt-texts.ts'
import { badField, missingField } from '../refusal.ts'
import {
  checkFields,
  type FieldTable,
  reasoningTokensFor,
  refuseForReasoning,
} from './openai-vendor.ts'

/** The parameters of OpenAI's API reference. */
const FIELDS: FieldTable = {
  audio: 'object',
  frequency_penalty: { least: -2, most: 2 },
  function_call: 'any',
  functions: 'array',
  logit_bias: 'object',
  logprobs: 'boolean',
  max_completion_tokens: { least: 1, whole: true },
  max_tokens: { least: 1, whole: true },
  messages: 'array',
  metadata: 'object',
  modalities: 'array',
  model: 'string',
  moderation: 'any',
  n: { least: 1, most: 128, whole: true },
  parallel_tool_calls: 'boolean',
  prediction: 'object',
  presence_penalty: { least: -2, most: 2 },
  prompt_cache_key: 'string',
  prompt_cache_options: 'any',
  prompt_cache_retention: 'string',
  reasoning_effort: 'string',
  response_format: 'object',
  safety_identifier: 'string',
  seed: 'any',
  service_tier: 'string',
  stop: 'any',
  store: 'boolean',
  stream: 'boolean',
  stream_options: 'object',
  temperature: { least: 0, most: 2 },
  tool_choice: 'any',
  tools: 'array',
  top_logprobs: { least: 0, most: 20, whole: true },
  top_p: { least: 0, most: 1 },
  user: 'string',
  verbosity: 'string',
  web_search_options: 'object',
}

export interface ChatRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
  readonly choices: number
  readonly wantsUsage: boolean
  readonly wantsObfuscation: boolean
}

/** @throws Refusal 400 with OpenAI's codes. */
export function readChatRequest({ body, model }: Exchange): ChatRequest {
  const isReasoning = model.base === 'echo-reasoning'
  if (model.base !== 'echo-lenient') checkFields(body, FIELDS)
  if (isReasoning) {
    refuseForReasoning(body, [
      'temperature',
      'top_p',
      'presence_penalty',
      'frequency_penalty',
      'logprobs',
      'logit_bias',
    ])
    if (typeof body.max_tokens === 'number') {
      const message =
        `Unsupported parameter: 'max_tokens' is not supported with this model. Use ` +
        `'max_completion_tokens' instead.`
      throw badField(message, 'max_tokens', 'unsupported_parameter')
    }
  }
  if (isObject(body.stream_options) && body.stream !== true) {
    throw badField(
      `The 'stream_options' parameter is only allowed when 'stream' is enabled.`,
      'stream_options',
    )
  }
  const messages = readMessages(body.messages)
  const tools = readChatTools(body.tools)
  const limit = body.max_completion_tokens ?? body.max_tokens
  const streamOptions: JsonObject = isObject(body.stream_options) ? body.stream_options : {}
  const parts = tools.length > 0 ? [JSON.stringify(body.tools), ...messages.parts] : messages.parts
  return {
    prompt: {
      lastUserText: messages.lastUserText,
      toolOutputs: messages.toolOutputs,
      tools,
      toolChoice: readChatToolChoice(body.tool_choice, tools),
      isParallel: body.parallel_tool_calls !== false,
      maxOutputTokens: typeof limit === 'number' ? limit : null,
      stop: readStop(body.stop),
      reasoningTokens: isReasoning ? reasoningTokensFor(body.reasoning_effort) : 0,
      ...readFormat(body.response_format, JSON_OBJECT),
    },
    count: countPrompt(parts, body.prompt_cache_key),
    choices: typeof body.n === 'number' && body.n > 1 ? Math.min(body.n, 128) : 1,
    wantsUsage: streamOptions.include_usage === true,
    wantsObfuscation: streamOptions.include_obfuscation !== false,
  }
}

interface ReadMessages {
  readonly lastUserText: string
  /** Only the tool messages that end the conversation. */
  readonly toolOutputs: readonly string[]
  /** The text of each message, in order, for counting. */
  readonly parts: readonly string[]
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

/**
 * @throws Refusal 400 for missing messages, unknown roles and tool messages that answer nothing.
 */
export function readMessages(value: unknown): ReadMessages {
  if (value === undefined || value === null) {
    throw missingField('messages')
  }
  const messages = objectsOf(value)
  if (messages.length === 0 || !Array.isArray(value) || messages.length < value.length) {
    throw badField(
      `Invalid 'messages': expected an array of at least one object.`,
      'messages',
      'invalid_type',
    )
  }
  messages.forEach(checkRole)
  checkToolMessages(messages)
  const start = messages.findLastIndex((message) => message.role !== 'tool') + 1
  return {
    lastUserText: textOfContent(messages.findLast((message) => message.role === 'user')?.content),
    toolOutputs: messages.slice(start).map((message) => textOfContent(message.content)),
    parts: messages.map((message) => {
      const calls = Array.isArray(message.tool_calls) ? JSON.stringify(message.tool_calls) : ''
      return textOfContent(message.content) + calls
    }),
  }
}

function checkRole(message: JsonObject, index: number): void {
  if (ROLES.includes(stringOf(message.role))) return
  const at = `messages[${index}].role`
  throw badField(
    `Invalid value: '${String(message.role)}'. Supported values are: ${ROLES.join(', ')}.`,
    at,
    'invalid_value',
  )
}

function checkToolMessages(messages: readonly JsonObject[]): void {
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (open.delete(stringOf(message.tool_call_id))) continue
      throw badField(
        `Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
        `messages.[${index}].role`,
      )
    }
    refuseOpenCalls(open, index)
    open = new Set(objectsOf(message.tool_calls).map((call) => stringOf(call.id)))
  }
  refuseOpenCalls(open, messages.length)
}

function refuseOpenCalls(open: ReadonlySet<string>, index: number): void {
  if (open.size === 0) return
  throw badField(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to ` +
      `each 'tool_call_id'. The following tool_call_ids did not have response messages: ` +
      `${[...open].join(', ')}`,
    `messages.[${index}].role`,
  )
}

/** @throws Refusal 400 for a function without a name. */
export function readChatTools(tools: unknown): ToolOffer[] {
  return objectsOf(tools).flatMap((tool, index) => {
    if (tool.type !== undefined && tool.type !== 'function') return []
    if (isObject(tool.function) && typeof tool.function.name === 'string') {
      return [{ name: tool.function.name, parameters: tool.function.parameters }]
    }
    const at = `tools[${index}].function.name`
    throw missingField(at)
  })
}

/**
 * Mistral's `any` means OpenAI's `required`.
 * @throws Refusal 400 for a named function that was not offered.
 */
export function readChatToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
  if (choice === 'none') return { type: 'none' }
  if (choice === 'required' || choice === 'any') return { type: 'required' }
  if (!isObject(choice) || !isObject(choice.function)) return { type: 'auto' }
  const name = stringOf(choice.function.name)
  if (tools.some((tool) => tool.name === name)) return { type: 'named', name }
  throw badField(
    `Invalid value for 'tool_choice': the tool '${name}' is not in 'tools'.`,
    'tool_choice',
  )
}

/** A stop text or an array of them. */
export function readStop(stop: unknown): string[] {
  if (typeof stop === 'string') return [stop]
  return Array.isArray(stop) ? stop.filter((text) => typeof text === 'string') : []
}

/** The schema that the answer's text must fit, or undefined for plain text. */
export function readFormat(format: unknown, jsonObject: unknown): { readonly schema?: unknown } {
  if (!isObject(format)) return {}
  if (format.type === 'json_object') return { schema: jsonObject }
  if (format.type !== 'json_schema') return {}
  const schema = isObject(format.json_schema)
    ? (format.json_schema.schema ?? format.json_schema.schema_definition)
    : undefined
  return { schema: schema ?? {} }
}
