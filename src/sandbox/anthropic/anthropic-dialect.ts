/** Builds the Anthropic dialect's answers: the message, its events, token counts. */

import { type Composition, composeThoughts } from '../compose-answer.ts'
import { splitTokens } from '../count-tokens.ts'
import {
  answerOnce,
  bearerOf,
  type Dialect,
  defineDialect,
  type Exchange,
  encodeNamedEvent,
  modelInAnswer,
  type NamedEvent,
  Refusal,
  type Scene,
  toDigits,
  type Vendor,
} from '../dialect.ts'
import { signThinking } from '../thinking.ts'
import { type AnthropicRequest, readAnthropicRequest, readPrompt } from './anthropic-request.ts'

export const anthropicVendor: Vendor = {
  findKey: ({ headers }) => headers.get('x-api-key')?.trim() || bearerOf(headers),
  checkRequest({ headers }) {
    if (!headers.get('anthropic-version'))
      throw new Refusal(400, 'anthropic-version: header is required')
  },
  idHeader: 'request-id',
  encodeRefusal(refusal) {
    const status = refusal.code === 'server_is_overloaded' ? 529 : refusal.status
    const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
    return {
      status,
      body: { type: 'error', error: { type, message: refusal.message }, request_id: null },
    }
  },
  encodeModels: (ids) => ({
    data: ids.map((id) => ({
      type: 'model',
      id,
      display_name: `Sandbox ${id}`,
      created_at: '2026-01-01T00:00:00Z',
    })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),
}

export const anthropicDialect = defineDialect<AnthropicRequest>({
  vendor: anthropicVendor,
  readRequest: readAnthropicRequest,
  buildAnswer: (scene, text) => ({
    ...buildHead(scene.exchange),
    content: buildBlocks(scene, text),
    ...buildEnding(scene.composition),
    usage: { ...buildStartUsage(scene.request), output_tokens: scene.composition.outputTokens },
  }),
  *streamFrames(scene) {
    for (const event of streamEvents(scene)) yield encodeNamedEvent(event)
  },
  failureFrames: (message) => [
    encodeNamedEvent({ type: 'error', error: { type: 'api_error', message } }),
  ],
})

export const anthropicCountDialect: Dialect = {
  vendor: anthropicVendor,
  answer: ({ body }) => answerOnce({ input_tokens: readPrompt(body).count.inputTokens }),
}

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: unknown
    }

const buildHead = ({ seed, model }: Exchange) => ({
  model: modelInAnswer(model),
  id: `msg_${seed.slice(0, 24)}`,
  type: 'message',
  role: 'assistant',
})

function buildBlocks(scene: Scene<AnthropicRequest>, text: string): Block[] {
  const { exchange, composition } = scene
  const calls = composition.calls.map(
    (call, index): Block => ({
      type: 'tool_use',
      id: `toolu_${exchange.seed.slice(24, 44)}${toDigits(index)}`,
      name: call.name,
      input: JSON.parse(call.arguments),
    }),
  )
  const said: Block[] = text === '' ? [] : [{ type: 'text', text }]
  return [...buildThinking(scene), ...said, ...calls]
}

/** `redacted thinking` in the prompt asks for hidden thoughts. */
function buildThinking({ exchange, request }: Scene<AnthropicRequest>): Block[] {
  if (request.thinking.type === 'off') return []
  const id = exchange.seed.slice(0, 24)
  const text = composeThoughts(exchange.seed)
  if (/\bredacted thinking\b/i.test(request.prompt.lastUserText))
    return [{ type: 'redacted_thinking', data: signThinking(id, text) }]
  const thinking = request.thinking.isShown ? text : ''
  return [{ type: 'thinking', thinking, signature: signThinking(id, thinking) }]
}

function buildEnding({ finish, stoppedBy }: Composition) {
  const ended = stoppedBy === null ? 'end_turn' : 'stop_sequence'
  const stop_reason = { stop: ended, length: 'max_tokens', tool_calls: 'tool_use' }[finish]
  return { stop_reason, stop_sequence: stoppedBy }
}

/** `input_tokens` excludes tokens read from or written to the cache. */
function buildStartUsage({ count, isCacheRead }: AnthropicRequest) {
  const { inputTokens, cachedTokens } = count
  const written = isCacheRead ? 0 : cachedTokens
  return {
    input_tokens: inputTokens - cachedTokens,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: isCacheRead ? cachedTokens : 0,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    service_tier: 'standard',
  }
}

function* streamEvents(scene: Scene<AnthropicRequest>): Generator<NamedEvent> {
  const { exchange, request, composition } = scene
  const usage = buildStartUsage(request)
  const start = { content: [], stop_reason: null, stop_sequence: null, usage }
  yield { type: 'message_start', message: { ...buildHead(exchange), ...start } }
  for (const [index, block] of buildBlocks(scene, composition.text ?? '').entries()) {
    yield { type: 'content_block_start', index, content_block: emptied(block) }
    if (index === 0) yield { type: 'ping' }
    for (const delta of streamDeltas(block, composition))
      yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  const { cache_creation, service_tier, ...counts } = usage
  yield {
    type: 'message_delta',
    delta: buildEnding(composition),
    usage: { ...counts, output_tokens: composition.outputTokens },
  }
  yield { type: 'message_stop' }
}

function emptied(block: Block): Block {
  switch (block.type) {
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'text':
      return { ...block, text: '' }
    case 'tool_use':
      return { ...block, input: {} }
    default:
      return block
  }
}

function* streamDeltas(block: Block, composition: Composition): Generator<object> {
  switch (block.type) {
    case 'thinking':
      for (const thinking of splitTokens(block.thinking)) yield { type: 'thinking_delta', thinking }
      yield { type: 'signature_delta', signature: block.signature }
      return
    case 'text':
      for (const text of composition.pieces()) yield { type: 'text_delta', text }
      return
    case 'tool_use': {
      // The first piece is empty; for a tool without arguments it is the only piece.
      const input = JSON.stringify(block.input)
      const pieces = input === '{}' ? [] : splitTokens(input)
      for (const partial_json of ['', ...pieces]) yield { type: 'input_json_delta', partial_json }
    }
  }
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}
