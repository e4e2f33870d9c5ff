/**
 * Builds the answers of Mistral's chat and fill-in-the-middle dialects, which have the same form.
 */
import { type Composition, composeMiddle, type Prompt } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import {
  CREATED_AT,
  defineDialect,
  type Exchange,
  encodeData,
  modelInAnswer,
  Refusal,
  type Scene,
  toDigits,
} from '../dialect.ts'
import { numberOf, objectOf, objectsOf, stringOf } from '../json.ts'
import { readChat, readStop } from '../openai/chat-dialect.ts'
import { mistralVendor } from '../openai/openai-vendor.ts'

const form = {
  vendor: mistralVendor,
  buildAnswer: buildCompletion,
  streamFrames,
  failureFrames: (message: string) => [
    encodeData({
      object: 'error',
      message,
      type: 'internal_server_error',
      param: null,
      code: '1000',
    }),
  ],
}

export const mistralChatDialect = defineDialect({ ...form, readRequest: readMistralChatRequest })
export const mistralFimDialect = defineDialect({ ...form, readRequest: readFimRequest })

function buildCompletion(scene: Scene<MistralRequest>, text: string) {
  const { exchange, request, composition } = scene
  const calls = buildCalls(exchange, composition)
  const message = {
    role: 'assistant',
    tool_calls: calls.length > 0 ? calls : null,
    content: calls.length > 0 ? '' : text,
    ...request.message,
  }
  return {
    id: exchange.seed.slice(0, 32),
    created: CREATED_AT,
    model: modelInAnswer(exchange.model),
    usage: buildUsage(scene),
    object: 'chat.completion',
    choices: Array.from({ length: request.choices }, (_, index) => ({
      index,
      finish_reason: composition.finish,
      message,
    })),
  }
}

/** Mistral's call ids are nine letters or digits. */
function buildCalls({ seed }: Exchange, composition: Composition) {
  return composition.calls.map((call, index) => ({
    id: `${seed.slice(0, 7)}${toDigits(index)}`,
    type: 'function' as const,
    function: call,
    index,
  }))
}

function buildUsage({ request: { count, choices }, composition }: Scene<MistralRequest>) {
  const completion = composition.outputTokens * choices
  const cached =
    count.cachedTokens > 0 ? { prompt_tokens_details: { cached_tokens: count.cachedTokens } } : {}
  return {
    prompt_tokens: count.inputTokens,
    total_tokens: count.inputTokens + completion,
    completion_tokens: completion,
    ...cached,
  }
}

/** Usage is always sent, in the chunk with the last finish reason. */
function* streamFrames(scene: Scene<MistralRequest>): Generator<string> {
  const { exchange, composition } = scene
  const { choices } = scene.request
  const start = {
    id: exchange.seed.slice(0, 32),
    object: 'chat.completion.chunk',
    created: CREATED_AT,
    model: modelInAnswer(exchange.model),
  }
  const calls = buildCalls(exchange, composition)
  for (let index = 0; index < choices; index++) {
    const encodeChunk = (delta: unknown, finish: string | null, tail: object = {}) =>
      encodeData({
        ...start,
        choices: [{ index, delta, finish_reason: finish, logprobs: null }],
        ...tail,
      })
    const tail = index === choices - 1 ? { usage: buildUsage(scene) } : {}
    yield encodeChunk({ role: 'assistant', content: '' }, null)
    for (const content of composition.pieces()) yield encodeChunk({ content }, null)
    const last = calls.length > 0 ? { content: null, tool_calls: calls } : { content: '' }
    yield encodeChunk(last, composition.finish, tail)
  }
  yield 'data: [DONE]\n\n'
}

type Expected = 'any' | 'boolean' | 'integer' | 'number' | 'string'

const SHARED_FIELDS: Readonly<Record<string, Expected>> = {
  max_tokens: 'integer',
  metadata: 'any',
  model: 'string',
  prompt_cache_key: 'string',
  random_seed: 'integer',
  stop: 'any',
  stream: 'boolean',
  temperature: 'number',
  top_p: 'number',
}

const FIM_FIELDS: Readonly<Record<string, Expected>> = {
  ...SHARED_FIELDS,
  min_tokens: 'integer',
  prompt: 'string',
  suffix: 'string',
}

const CHAT_FIELDS: Readonly<Record<string, Expected>> = {
  ...SHARED_FIELDS,
  frequency_penalty: 'number',
  guardrails: 'any',
  messages: 'any',
  n: 'integer',
  parallel_tool_calls: 'boolean',
  prediction: 'any',
  presence_penalty: 'number',
  prompt_mode: 'string',
  reasoning_effort: 'string',
  response_format: 'any',
  safe_prompt: 'boolean',
  service_tier: 'string',
  tool_choice: 'any',
  tools: 'any',
}

/** @throws Refusal 422 listing every wrong field, like Mistral's validation. */
function checkFields(
  { body, model }: Exchange,
  fields: Readonly<Record<string, Expected>>,
  required: string,
): void {
  const faults: unknown[] = []
  const found = (type: string, name: string, msg: string, input: unknown) =>
    faults.push({ type, loc: ['body', name], msg, input })
  if (body[required] === undefined || body[required] === null)
    found('missing', required, 'Field required', null)
  for (const [name, value] of Object.entries(body)) {
    const expected = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (expected === undefined) {
      if (model.base !== 'echo-lenient')
        found('extra_forbidden', name, 'Extra inputs are not permitted', value)
    } else if (value !== null && !isExpected(value, expected)) {
      found(`${expected}_type`, name, `Input should be a valid ${expected}`, value)
    }
  }
  if (faults.length > 0) throw new Refusal(422, 'Validation failed', { detail: { detail: faults } })
}

function isExpected(value: unknown, expected: Expected): boolean {
  if (expected === 'any') return true
  return expected === 'integer' ? Number.isInteger(value) : typeof value === expected
}

interface MistralRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
  readonly choices: number
  /** Present in FIM messages, absent in chat messages. */
  readonly message: Readonly<Record<string, unknown>>
}

function readFimRequest(exchange: Exchange): MistralRequest {
  const { body, model } = exchange
  checkFields(exchange, FIM_FIELDS, 'prompt')
  if (model.base === 'echo-reasoning') {
    throw new Refusal(400, 'FIM is not enabled for this model', {
      type: 'invalid_request_invalid_args',
      code: '3051',
    })
  }
  const before = stringOf(body.prompt)
  const after = stringOf(body.suffix)
  return {
    prompt: {
      lastUserText: before,
      literalText: composeMiddle(before, after),
      toolOutputs: [],
      tools: [],
      toolChoice: { type: 'none' },
      isParallel: false,
      maxOutputTokens: numberOf(body.max_tokens),
      stop: readStop(body.stop),
      reasoningTokens: 0,
    },
    count: countPrompt(after === '' ? [before] : [after, before], body.prompt_cache_key),
    choices: 1,
    message: { prefix: false },
  }
}

function readMistralChatRequest(exchange: Exchange): MistralRequest {
  const { body, model } = exchange
  checkFields(exchange, CHAT_FIELDS, 'messages')
  if (model.base !== 'echo-lenient') {
    checkOrder(body.messages)
    checkNames(body.tools)
  }
  return { ...readChat(body, model, body.max_tokens), message: {} }
}

/** https://github.com/Kochava-Studios/witsy/pull/164 (2026-11) */
function checkNames(tools: unknown): void {
  for (const tool of objectsOf(tools)) {
    const name = stringOf(objectOf(tool.function).name)
    if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) continue
    throw new Refusal(
      400,
      `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, ` +
        'with a maximum length of 64.',
      { type: 'invalid_request_function', code: '3300' },
    )
  }
}

/** https://github.com/datapizza-labs/datapizza-ai/issues/98 (2026-11) */
function checkOrder(messages: unknown): void {
  const roles = objectsOf(messages).map(({ role }) => role)
  if (!roles.some((role, at) => role === 'user' && roles[at - 1] === 'tool')) return
  throw new Refusal(400, "Unexpected role 'user' after role 'tool'", {
    type: 'invalid_request_message_order',
    code: '3230',
  })
}
