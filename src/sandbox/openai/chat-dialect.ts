/** The OpenAI Chat dialect: the request's checks, the completion and its chunks. */
import {
  type Composition,
  JSON_OBJECT,
  type Prompt,
  type ToolChoice,
  type ToolOffer,
} from '../compose-answer.ts'
import { countPrompt, type PromptCount, splitTokens } from '../count-tokens.ts'
import {
  badField,
  CREATED_AT,
  defineDialect,
  type Exchange,
  encodeData,
  missingField,
  modelInAnswer,
  obfuscationAt,
  type Scene,
  toDigits,
} from '../dialect.ts'
import {
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
  textOfContent,
} from '../json.ts'
import type { SandboxModel } from '../parse-model.ts'
import { checkChatLimits } from './openai-limits.ts'
import {
  checkFields,
  type FieldTable,
  openaiVendor,
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

interface ChatRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
  readonly choices: number
  readonly wantsUsage: boolean
  readonly wantsObfuscation: boolean
}

function readChatRequest({ body, model }: Exchange): ChatRequest {
  const isReasoning = model.base === 'echo-reasoning'
  if (model.base !== 'echo-lenient') {
    checkFields(body, FIELDS)
    checkChatLimits(body, model)
  }
  if (isReasoning) {
    refuseTemperature(body.temperature)
    refuseForReasoning(body, [
      'top_p',
      'presence_penalty',
      'frequency_penalty',
      'logprobs',
      'top_logprobs',
      'logit_bias',
      ...(model.limits?.refused ?? []),
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
  const streamOptions = objectOf(body.stream_options)
  return {
    ...readChat(body, model, body.max_completion_tokens ?? body.max_tokens),
    wantsUsage: streamOptions.include_usage === true,
    wantsObfuscation: streamOptions.include_obfuscation !== false,
  }
}

/** https://github.com/diffbot/code-gpt-docs/issues/445 (2026-11) */
function refuseTemperature(temperature: unknown): void {
  if (typeof temperature !== 'number' || temperature === 1) return
  throw badField(
    `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the ` +
      'default (1) value is supported.',
    'temperature',
    'unsupported_value',
  )
}

/**
 * The part of a request that Mistral's chat shares.
 * @throws Refusal 400
 */
export function readChat(body: JsonObject, model: SandboxModel, limit: unknown) {
  const messages = readMessages(body.messages)
  const tools = readChatTools(body.tools)
  const parts = tools.length > 0 ? [JSON.stringify(body.tools), ...messages.parts] : messages.parts
  const prompt: Prompt = {
    lastUserText: messages.lastUserText,
    toolOutputs: messages.toolOutputs,
    tools,
    toolChoice: readChatToolChoice(body.tool_choice, tools),
    isParallel: body.parallel_tool_calls !== false,
    maxOutputTokens: numberOf(limit),
    stop: readStop(body.stop),
    reasoningTokens:
      model.base === 'echo-reasoning' ? reasoningTokensFor(body.reasoning_effort) : 0,
    ...readFormat(body.response_format),
  }
  return {
    prompt,
    count: countPrompt(parts, body.prompt_cache_key),
    choices: typeof body.n === 'number' && body.n > 1 ? Math.min(body.n, 128) : 1,
  }
}

interface ReadMessages {
  readonly lastUserText: string
  readonly toolOutputs: readonly string[]
  readonly parts: readonly string[]
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

function readMessages(value: unknown): ReadMessages {
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
 * @throws Refusal 400 for a named function that is not in the tools.
 */
function readChatToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
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

export function readStop(stop: unknown): string[] {
  return typeof stop === 'string' ? [stop] : stringsOf(stop)
}

/** Undefined schema: plain text. */
function readFormat(format: unknown): { readonly schema?: unknown } {
  if (!isObject(format)) return {}
  if (format.type === 'json_object') return { schema: JSON_OBJECT }
  if (format.type !== 'json_schema') return {}
  const schema = isObject(format.json_schema)
    ? (format.json_schema.schema ?? format.json_schema.schema_definition)
    : undefined
  return { schema: schema ?? {} }
}

export const chatDialect = defineDialect<ChatRequest>({
  vendor: openaiVendor,
  readRequest: readChatRequest,
  buildAnswer: buildCompletion,
  streamFrames,
  failureFrames: (message) => [
    encodeData({ error: { message, type: 'server_error', param: null, code: 'server_error' } }),
  ],
})

function head(exchange: Exchange, object: string) {
  return {
    id: `chatcmpl-${exchange.seed.slice(0, 46)}00`,
    object,
    created: CREATED_AT,
    model: modelInAnswer(exchange.model),
  }
}

const TAIL = { service_tier: 'default', system_fingerprint: 'fp_sandbox' } as const

function buildCompletion({ exchange, request, composition }: Scene<ChatRequest>, text: string) {
  const calls = buildCalls(exchange, composition)
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    refusal: null,
    annotations: [],
  }
  const choices = Array.from({ length: request.choices }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: composition.finish,
  }))
  return {
    ...head(exchange, 'chat.completion'),
    choices,
    usage: buildUsage(request, composition),
    ...TAIL,
  }
}

function buildCalls({ seed }: Exchange, composition: Composition) {
  return composition.calls.map((call, index) => ({
    id: `call_${seed.slice(40, 62)}${toDigits(index)}`,
    type: 'function' as const,
    function: call,
  }))
}

/** All choices count as output; the prompt and the reasoning count once. */
function buildUsage(request: ChatRequest, composition: Composition) {
  const { inputTokens, cachedTokens } = request.count
  const visible = composition.outputTokens - composition.reasoningTokens
  const outputTokens = composition.reasoningTokens + visible * request.choices
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: composition.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

/**
 * With `include_usage` each chunk has `usage: null`, and an additional chunk has the numbers.
 * Without it no chunk has `usage`.
 */
function* streamFrames({ exchange, request, composition }: Scene<ChatRequest>): Generator<string> {
  const start = { ...head(exchange, 'chat.completion.chunk'), ...TAIL }
  let position = 0
  const encodeChunk = (choices: readonly unknown[], usage: unknown) =>
    encodeData({
      ...start,
      choices,
      ...(request.wantsUsage ? { usage } : {}),
      ...(request.wantsObfuscation
        ? { obfuscation: obfuscationAt(exchange.seed, position++) }
        : {}),
    })
  for (let index = 0; index < request.choices; index++) {
    for (const { delta, finish } of streamDeltas(exchange, composition)) {
      yield encodeChunk([{ index, delta, logprobs: null, finish_reason: finish }], null)
    }
  }
  if (request.wantsUsage) yield encodeChunk([], buildUsage(request, composition))
  yield 'data: [DONE]\n\n'
}

function* streamDeltas(exchange: Exchange, composition: Composition) {
  const calls = buildCalls(exchange, composition)
  yield {
    delta: { role: 'assistant', content: calls.length > 0 ? null : '', refusal: null },
    finish: null,
  }
  for (const [index, call] of calls.entries()) {
    const opening = {
      index,
      id: call.id,
      type: call.type,
      function: { name: call.function.name, arguments: '' },
    }
    yield { delta: { tool_calls: [opening] }, finish: null }
    for (const fragment of splitTokens(call.function.arguments)) {
      yield { delta: { tool_calls: [{ index, function: { arguments: fragment } }] }, finish: null }
    }
  }
  for (const content of composition.pieces()) yield { delta: { content }, finish: null }
  yield { delta: {}, finish: composition.finish }
}
