/** The OpenAI Chat dialect's answers: the completion and its chunks. Knows no HTTP. */

import { type Composition, composeAnswer } from '../compose-answer.ts'
import { splitTokens } from '../count-tokens.ts'
import {
  type Answer,
  CREATED_AT,
  createSeededId,
  type Dialect,
  type Exchange,
  encodeBody,
  modelInAnswer,
  obfuscationAt,
} from '../dialect.ts'
import { type ChatRequest, readChatRequest } from './chat-request.ts'
import { openaiVendor } from './openai-vendor.ts'

export const chatDialect: Dialect = { vendor: openaiVendor, answer }

function answer(exchange: Exchange): Answer {
  const request = readChatRequest(exchange)
  const composition = composeAnswer(request.prompt, exchange.model.fault)
  return {
    json: () =>
      encodeBody(
        (text) => JSON.stringify(buildCompletion(exchange, request, composition, text)),
        composition,
      ),
    frames: () => streamFrames(exchange, request, composition),
    failureFrames: () => {
      const message = 'The sandbox failed in mid-stream, as it was asked to.'
      return [
        encodeFrame({
          error: { message, type: 'server_error', param: null, code: 'server_error' },
        }),
      ]
    },
  }
}

function encodeFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function head(exchange: Exchange, object: string) {
  return {
    id: createSeededId('chatcmpl-', exchange.seed, 0),
    object,
    created: CREATED_AT,
    model: modelInAnswer(exchange.model),
  }
}

const TAIL = { service_tier: 'default', system_fingerprint: 'fp_sandbox' } as const

function buildCompletion(
  exchange: Exchange,
  request: ChatRequest,
  composition: Composition,
  text: string,
) {
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
    id: `call_${seed.slice(40, 62)}${index.toString(16).padStart(2, '0')}`,
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
 * With `include_usage` each chunk has `usage: null` and one more chunk the numbers; without it no
 * chunk has the key.
 */
function* streamFrames(
  exchange: Exchange,
  request: ChatRequest,
  composition: Composition,
): Generator<string> {
  const start = { ...head(exchange, 'chat.completion.chunk'), ...TAIL }
  let position = 0
  const encodeChunk = (choices: readonly unknown[], usage: unknown) =>
    encodeFrame({
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
