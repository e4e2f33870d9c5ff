/** Cohere's chat: the request's checks, the message and its events. */
import {
  type Composition,
  composeThoughts,
  JSON_OBJECT,
  type Prompt,
  type ToolChoice,
  type ToolOffer,
} from '../compose-answer.ts'
import { countPrompt, type PromptCount, splitTokens } from '../count-tokens.ts'
import {
  badField,
  bearerOf,
  defineDialect,
  type Exchange,
  encodeNamedEvent,
  type NamedEvent,
  type Refusal,
  type Scene,
  toDigits,
  type Vendor,
} from '../dialect.ts'
import {
  isObject,
  type JsonObject,
  numberOf,
  objectsOf,
  stringOf,
  stringsOf,
  textOfContent,
  wordSet,
} from '../json.ts'
import { readChatTools } from '../openai/chat-dialect.ts'
import { reasoningTokensFor } from '../openai/openai-vendor.ts'

const FIELDS = wordSet(
  'citation_options documents frequency_penalty k logprobs max_tokens messages model p',
  'presence_penalty priority response_format safety_mode seed stop_sequences stream',
  'strict_tools temperature thinking tool_choice tools',
)
const RANGES: Readonly<Record<string, number>> = {
  frequency_penalty: 1,
  p: 0.99,
  presence_penalty: 1,
  temperature: 1,
}
const ROLES = ['user', 'assistant', 'system', 'tool']
const MAX_STOPS = 5

interface CohereRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
}

function invalid(param: string, message: string): Refusal {
  return badField(`invalid request: ${message}`, param)
}

function readCohereRequest({ body, model }: Exchange): CohereRequest {
  if (model.base !== 'echo-lenient') checkFields(body)
  const messages = readMessages(body.messages)
  if (model.base !== 'echo-lenient') refuseTextBesideCalls(messages)
  const tools = readTools(body.tools)
  const start = messages.findLastIndex((message) => message.role !== 'tool') + 1
  const parts = messages.map((message) => {
    const calls = Array.isArray(message.tool_calls) ? JSON.stringify(message.tool_calls) : ''
    return textOfContent(message.content) + calls
  })
  return {
    prompt: {
      lastUserText: textOfContent(messages.findLast((message) => message.role === 'user')?.content),
      toolOutputs: messages.slice(start).map((message) => textOfOutput(message.content)),
      tools,
      toolChoice: readToolChoice(body.tool_choice, tools),
      isParallel: true,
      maxOutputTokens: numberOf(body.max_tokens),
      stop: readStops(body.stop_sequences),
      reasoningTokens: readThinking(body.thinking, model.base === 'echo-reasoning'),
      ...readFormat(body.response_format),
    },
    count: countPrompt(
      tools.length > 0 ? [JSON.stringify(body.tools), ...parts] : parts,
      // Caching is implicit: the contents of earlier turns are cached.
      messages.some((message) => message.role === 'assistant') ? 'implicit' : undefined,
    ),
  }
}

function checkFields(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!FIELDS.has(name))
      throw badField(`unknown field: parameter '${name}' is not a valid field`, name)
    const most = RANGES[name]
    if (most === undefined || value === null) continue
    if (typeof value !== 'number' || value < 0 || value > most)
      throw invalid(name, `${name} must be between 0 and ${most} inclusive.`)
  }
}

function readMessages(value: unknown): readonly JsonObject[] {
  const messages = objectsOf(value)
  if (messages.length === 0)
    throw invalid('messages', 'messages must be a non-empty list of messages.')
  let open = new Set<string>()
  for (const [at, message] of messages.entries()) {
    if (!ROLES.includes(stringOf(message.role)))
      throw invalid('messages', `messages[${at}].role must be one of ${ROLES.join(', ')}.`)
    if (message.role === 'tool') {
      const id = stringOf(message.tool_call_id)
      if (!open.delete(id))
        throw invalid('messages', `cannot find tool call id ${id} in previous tool calls.`)
      continue
    }
    refuseOpenCalls(open)
    const calls = objectsOf(message.tool_calls)
    checkContent(message, calls.length > 0, at)
    open = new Set(calls.map((call) => stringOf(call.id)))
  }
  refuseOpenCalls(open)
  if (messages.at(-1)?.role === 'assistant')
    throw invalid('messages', 'the last message must be of role user or tool.')
  return messages
}

function checkContent(message: JsonObject, hasCalls: boolean, at: number): void {
  const parts = objectsOf(message.content)
  const isEmpty = typeof message.content === 'string' ? message.content === '' : parts.length === 0
  if (isEmpty && !hasCalls) throw invalid('messages', `messages[${at}].content must not be empty.`)
  const known = message.role === 'assistant' ? ['text', 'thinking'] : ['text', 'image_url']
  const odd = parts.find((part) => !known.includes(stringOf(part.type)))
  if (odd !== undefined)
    throw invalid(
      'messages',
      `messages[${at}].content has the type '${String(odd.type)}', expected ` +
        `one of ${known.join(', ')}.`,
    )
}

/** https://docs.cohere.com/docs/tool-use-usage-patterns (2026-11): the plan stands in `tool_plan`. */
function refuseTextBesideCalls(messages: readonly JsonObject[]): void {
  const at = messages.findIndex(
    ({ tool_calls, content }) => objectsOf(tool_calls).length > 0 && textOfContent(content) !== '',
  )
  if (at < 0) return
  throw invalid(
    'messages',
    `messages[${at}] cannot have both text content and tool_calls, use tool_plan.`,
  )
}

function refuseOpenCalls(open: ReadonlySet<string>): void {
  if (open.size === 0) return
  throw invalid(
    'messages',
    `all tool calls must be followed by tool results, missing for: ${[...open].join(', ')}.`,
  )
}

function textOfOutput(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsOf(content)
    .map((part) => {
      const data = isObject(part.document) ? part.document.data : part.text
      return typeof data === 'string' ? data : JSON.stringify(data)
    })
    .join('\n')
}

function readTools(tools: unknown): ToolOffer[] {
  const untyped = objectsOf(tools).find((tool) => tool.type !== 'function')
  if (untyped !== undefined) throw invalid('tools', "tools must be of type 'function'.")
  return readChatTools(tools)
}

function readToolChoice(choice: unknown, tools: readonly ToolOffer[]): ToolChoice {
  if (choice === undefined || choice === null) return { type: 'auto' }
  if (choice !== 'REQUIRED' && choice !== 'NONE')
    throw invalid('tool_choice', 'tool_choice must be one of REQUIRED, NONE.')
  if (tools.length === 0) throw invalid('tool_choice', 'tool_choice can be given only with tools.')
  return { type: choice === 'NONE' ? 'none' : 'required' }
}

function readStops(stops: unknown): string[] {
  const texts = stringsOf(stops)
  if (texts.length > MAX_STOPS)
    throw invalid('stop_sequences', `at most ${MAX_STOPS} stop_sequences can be given.`)
  return texts
}

/**
 * A reasoning model thinks unless the request disables thinking; other models refuse the setting.
 */
function readThinking(value: unknown, isReasoning: boolean): number {
  if (!isObject(value)) return isReasoning ? reasoningTokensFor(undefined) : 0
  if (!isReasoning) throw invalid('thinking', 'thinking is not supported for this model.')
  const budget =
    typeof value.token_budget === 'number' ? value.token_budget : Number.POSITIVE_INFINITY
  return value.type === 'disabled' ? 0 : Math.min(budget, reasoningTokensFor(undefined))
}

function readFormat(format: unknown): { readonly schema?: unknown } {
  if (!isObject(format) || format.type !== 'json_object') return {}
  return { schema: format.json_schema ?? format.schema ?? JSON_OBJECT }
}

/**
 * Cohere reports its own overload with 503, and validation errors with 400 or 422. Errors contain
 * only a message.
 */
export const cohereVendor: Vendor = {
  findKey: ({ headers }) => bearerOf(headers),
  idHeader: 'x-request-id',
  encodeRefusal: (refusal) => ({
    status: refusal.status,
    body: { message: refusal.keyFault === 'missing' ? 'no api key supplied' : refusal.message },
  }),
  encodeModels: (ids) => ({
    models: ids.map((name) => ({ name, endpoints: ['chat', 'embed'], context_length: 128_000 })),
  }),
}

type CohereScene = Scene<CohereRequest>

export const cohereDialect = defineDialect<CohereRequest>({
  vendor: cohereVendor,
  readRequest: readCohereRequest,
  buildAnswer: (scene, text) => ({
    id: toUuid(scene.exchange.seed),
    message: buildMessage(scene, text),
    finish_reason: finishReason(scene.composition),
    usage: buildUsage(scene),
  }),
  *streamFrames(scene) {
    for (const event of streamEvents(scene)) yield encodeNamedEvent(event)
  },
  failureFrames: (message) => [
    encodeNamedEvent({
      type: 'message-end',
      delta: { finish_reason: 'ERROR', error: message },
    }),
  ],
})

export function toUuid(seed: string): string {
  return seed.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

function finishReason({ finish, stoppedBy }: Composition): string {
  const ended = stoppedBy === null ? 'COMPLETE' : 'STOP_SEQUENCE'
  return { stop: ended, length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL' }[finish]
}

/** Cohere sends the plan before it calls tools. */
function planOf({ calls }: Composition): string {
  return calls.length === 0
    ? ''
    : `Sandbox plan: I will use ${calls.map(({ name }) => name).join(' and ')}.`
}

function buildCalls({ exchange, composition }: CohereScene) {
  return composition.calls.map((call, index) => ({
    id: `${call.name}_${exchange.seed.slice(0, 10)}${toDigits(index)}`,
    type: 'function' as const,
    function: call,
  }))
}

function thoughtsOf({ exchange, composition }: CohereScene): string | undefined {
  return composition.reasoningTokens > 0 ? composeThoughts(exchange.seed) : undefined
}

function buildMessage(scene: CohereScene, text: string) {
  const calls = buildCalls(scene)
  const thinking = thoughtsOf(scene)
  const content = [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ]
  return {
    role: 'assistant',
    ...(content.length > 0 ? { content } : {}),
    ...(calls.length > 0 ? { tool_plan: planOf(scene.composition), tool_calls: calls } : {}),
  }
}

/** Cohere's own prefix of a prompt, which is not charged. */
const FRAME_TOKENS = 495

function buildUsage({ request, composition }: CohereScene) {
  const { inputTokens, cachedTokens } = request.count
  const output_tokens = composition.outputTokens
  return {
    billed_units: { input_tokens: inputTokens, output_tokens },
    tokens: { input_tokens: inputTokens + FRAME_TOKENS, output_tokens },
    // A cache contains the beginning of a prompt, including the prefix.
    cached_tokens: cachedTokens === 0 ? 0 : cachedTokens + FRAME_TOKENS,
  }
}

function* streamEvents(scene: CohereScene): Generator<NamedEvent> {
  const { exchange, composition } = scene
  const empty = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  yield { id: toUuid(exchange.seed), type: 'message-start', delta: { message: empty } }
  for (const tool_plan of splitTokens(planOf(composition)))
    yield { type: 'tool-plan-delta', delta: { message: { tool_plan } } }
  let index = 0
  const content = (type: string, value?: object): NamedEvent =>
    value === undefined ? { type, index } : { type, index, delta: { message: { content: value } } }
  const thinking = thoughtsOf(scene)
  if (thinking !== undefined) {
    yield content('content-start', { type: 'thinking', thinking: '' })
    for (const piece of splitTokens(thinking)) yield content('content-delta', { thinking: piece })
    yield content('content-end')
    index++
  }
  if (composition.text !== null && composition.text !== '') {
    yield content('content-start', { type: 'text', text: '' })
    for (const text of composition.pieces()) yield content('content-delta', { text })
    yield content('content-end')
  }
  yield* streamCalls(scene)
  yield {
    type: 'message-end',
    delta: { finish_reason: finishReason(composition), usage: buildUsage(scene) },
  }
}

function* streamCalls(scene: CohereScene): Generator<NamedEvent> {
  for (const [index, call] of buildCalls(scene).entries()) {
    const calls = (tool_calls: object) => ({ index, delta: { message: { tool_calls } } })
    const opening = { ...call, function: { name: call.function.name, arguments: '' } }
    yield { type: 'tool-call-start', ...calls(opening) }
    for (const fragment of splitTokens(call.function.arguments))
      yield { type: 'tool-call-delta', ...calls({ function: { arguments: fragment } }) }
    yield { type: 'tool-call-end', index }
  }
}
