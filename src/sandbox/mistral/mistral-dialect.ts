/**
 * The answers of Mistral's chat and fill-in-the-middle dialects, which have one shape. Knows no
 * HTTP.
 */
import type { Composition } from '../compose-answer.ts'
import {
  type Answer,
  CREATED_AT,
  type Dialect,
  type Exchange,
  encodeBody,
  modelInAnswer,
} from '../dialect.ts'
import { mistralVendor } from '../openai/openai-vendor.ts'
import { type MistralRequest, readFimRequest, readMistralChatRequest } from './mistral-request.ts'

export const mistralChatDialect: Dialect = {
  answer: (exchange) => answer(exchange, readMistralChatRequest(exchange)),
  vendor: mistralVendor,
}

export const mistralFimDialect: Dialect = {
  answer: (exchange) => answer(exchange, readFimRequest(exchange)),
  vendor: mistralVendor,
}

function answer(exchange: Exchange, request: MistralRequest): Answer {
  const { composition } = request
  return {
    json: () =>
      encodeBody((text) => JSON.stringify(buildCompletion(exchange, request, text)), composition),
    frames: () => streamFrames(exchange, request),
    failureFrames: () => [
      encodeFrame({
        object: 'error',
        message: 'The sandbox failed in mid-stream, as it was asked to.',
        type: 'internal_server_error',
        param: null,
        code: '1000',
      }),
    ],
  }
}

function encodeFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function buildCompletion(exchange: Exchange, request: MistralRequest, text: string) {
  const calls = buildCalls(exchange, request.composition)
  const message = {
    role: 'assistant',
    tool_calls: calls.length > 0 ? calls : null,
    content: calls.length > 0 ? '' : text,
    ...request.message,
  }
  const finish_reason = request.composition.finish
  return {
    id: exchange.seed.slice(0, 32),
    created: CREATED_AT,
    model: modelInAnswer(exchange.model),
    usage: buildUsage(request),
    object: 'chat.completion',
    choices: Array.from({ length: request.choices }, (_, index) => ({
      index,
      finish_reason,
      message,
    })),
  }
}

/** Mistral's call ids are nine letters or digits. */
function buildCalls({ seed }: Exchange, composition: Composition) {
  return composition.calls.map((call, index) => ({
    id: `${seed.slice(0, 7)}${index.toString(16).padStart(2, '0')}`,
    type: 'function' as const,
    function: call,
    index,
  }))
}

function buildUsage({ count, composition, choices }: MistralRequest) {
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

/** Usage comes unasked, in the chunk that carries the last finish reason. */
function* streamFrames(exchange: Exchange, request: MistralRequest): Generator<string> {
  const { composition, choices } = request
  const start = {
    id: exchange.seed.slice(0, 32),
    object: 'chat.completion.chunk',
    created: CREATED_AT,
    model: modelInAnswer(exchange.model),
  }
  const calls = buildCalls(exchange, composition)
  for (let index = 0; index < choices; index++) {
    const encodeChunk = (delta: unknown, finish: string | null, tail: object = {}) =>
      encodeFrame({
        ...start,
        choices: [{ index, delta, finish_reason: finish, logprobs: null }],
        ...tail,
      })
    const tail = index === choices - 1 ? { usage: buildUsage(request) } : {}
    yield encodeChunk({ role: 'assistant', content: '' }, null)
    for (const content of composition.pieces()) yield encodeChunk({ content }, null)
    const last = calls.length > 0 ? { content: null, tool_calls: calls } : { content: '' }
    yield encodeChunk(last, composition.finish, tail)
  }
  yield 'data: [DONE]\n\n'
}
