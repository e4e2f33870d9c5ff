/**
 * Reads an OpenAI Chat request: refuses what OpenAI refuses, and turns the rest into a prompt.
 * Knows no answer.
 */

import type { Prompt } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import type { Exchange } from '../dialect.ts'
import { isObject, type JsonObject } from '../json.ts'
import { JSON_OBJECT } from '../prompt-texts.ts'
import { badField } from '../refusal.ts'
import {
  readChatToolChoice,
  readChatTools,
  readFormat,
  readMessages,
  readStop,
} from './chat-messages.ts'
import {
  checkFields,
  type FieldTable,
  reasoningTokensFor,
  refuseForReasoning,
} from './openai-fields.ts'

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
