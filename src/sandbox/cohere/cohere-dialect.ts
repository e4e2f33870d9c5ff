/** Cohere's chat answers: the message and its events. Knows no HTTP. */

import { type Composition, composeAnswer } from '../compose-answer.ts'
import { countTokens, splitTokens } from '../count-tokens.ts'
import {
  type Answer,
  answerOnce,
  type Dialect,
  type Exchange,
  encodeBody,
  encodeNamedEvent,
  type NamedEvent,
} from '../dialect.ts'
import { embedText, toBase64 } from '../embed-text.ts'
import { isObject, objectsOf, textOfContent } from '../json.ts'
import { composeThoughts } from '../prompt-texts.ts'
import { badField } from '../refusal.ts'
import { bearerOf, type Vendor } from '../vendor.ts'
import { type CohereRequest, readCohereRequest } from './cohere-request.ts'

/**
 * Cohere answers an overload of its own with 503, a validation with 400 or 422; its errors are a
 * message and no more.
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

export const cohereDialect: Dialect = { vendor: cohereVendor, answer }

interface Scene {
  readonly exchange: Exchange
  readonly request: CohereRequest
  readonly composition: Composition
}

function answer(exchange: Exchange): Answer {
  const request = readCohereRequest(exchange)
  const composition = composeAnswer(request.prompt, exchange.model.fault)
  const scene: Scene = { exchange, request, composition }
  return {
    json: () =>
      encodeBody(
        (text) =>
          JSON.stringify({
            id: idOf(exchange),
            message: buildMessage(scene, text),
            finish_reason: finishReason(composition),
            usage: buildUsage(scene),
          }),
        composition,
      ),
    *frames() {
      for (const event of streamEvents(scene)) yield encodeNamedEvent(event)
    },
    failureFrames: () => [
      encodeNamedEvent({
        type: 'message-end',
        delta: {
          finish_reason: 'ERROR',
          error: 'The sandbox failed in mid-stream, as it was asked to.',
        },
      }),
    ],
  }
}

/** A UUID by its look. */
function idOf({ seed }: Exchange): string {
  return seed.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

function finishReason({ finish, stoppedBy }: Composition): string {
  const ended = stoppedBy === null ? 'COMPLETE' : 'STOP_SEQUENCE'
  return { stop: ended, length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL' }[finish]
}

/** Said before tools are called. */
function planOf({ calls }: Composition): string {
  return calls.length === 0
    ? ''
    : `Sandbox plan: I will use ${calls.map(({ name }) => name).join(' and ')}.`
}

function buildCalls({ exchange, composition }: Scene) {
  return composition.calls.map((call, index) => ({
    id: `${call.name}_${exchange.seed.slice(0, 10)}${index.toString(16).padStart(2, '0')}`,
    type: 'function' as const,
    function: call,
  }))
}

function thoughtsOf({ exchange, composition }: Scene): string | undefined {
  return composition.reasoningTokens > 0 ? composeThoughts(exchange.seed) : undefined
}

function buildMessage(scene: Scene, text: string) {
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

/** The bill leaves out what Cohere itself puts around a prompt. */
const FRAME_TOKENS = 495

function buildUsage({ request, composition }: Scene) {
  const { inputTokens, cachedTokens } = request.count
  const output_tokens = composition.outputTokens
  return {
    billed_units: { input_tokens: inputTokens, output_tokens },
    tokens: { input_tokens: inputTokens + FRAME_TOKENS, output_tokens },
    // A cache holds a beginning, which the frame is a part of.
    cached_tokens: cachedTokens === 0 ? 0 : cachedTokens + FRAME_TOKENS,
  }
}

function* streamEvents(scene: Scene): Generator<NamedEvent> {
  const { exchange, composition } = scene
  const empty = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  yield { id: idOf(exchange), type: 'message-start', delta: { message: empty } }
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

function* streamCalls(scene: Scene): Generator<NamedEvent> {
  for (const [index, call] of buildCalls(scene).entries()) {
    const calls = (tool_calls: object) => ({ index, delta: { message: { tool_calls } } })
    const opening = { ...call, function: { name: call.function.name, arguments: '' } }
    yield { type: 'tool-call-start', ...calls(opening) }
    for (const fragment of splitTokens(call.function.arguments))
      yield { type: 'tool-call-delta', ...calls({ function: { arguments: fragment } }) }
    yield { type: 'tool-call-end', index }
  }
}

/** Cohere's embeddings: reading, refusing, answering. Knows no HTTP. */
export const cohereEmbeddings: Dialect = { vendor: cohereVendor, answer: embed }

const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering', 'image']
const DIMENSIONS = [256, 512, 1024, 1536]
const MAX_TEXTS = 96

function embed({ body, seed }: Exchange): Answer {
  if (typeof body.input_type !== 'string' || !INPUT_TYPES.includes(body.input_type))
    throw badField(
      `invalid request: input_type must be one of ${INPUT_TYPES.join(', ')} for this model.`,
      'input_type',
    )
  const texts = readTexts(body.texts, body.inputs)
  const dimensions = body.output_dimension ?? 1536
  if (typeof dimensions !== 'number' || !DIMENSIONS.includes(dimensions))
    throw badField(
      `invalid request: output_dimension must be one of ${DIMENSIONS.join(', ')}.`,
      'output_dimension',
    )
  const vectors = texts.map((text) => embedText(text, dimensions))
  const embeddings: Record<string, unknown> = {}
  for (const type of readTypes(body.embedding_types)) embeddings[type] = vectors.map(ENCODERS[type])
  const input_tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
  return answerOnce({
    id: seed.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
    embeddings,
    texts,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens } },
    response_type: 'embeddings_by_type',
  })
}

const ENCODERS = {
  float: (vector: Float32Array): unknown => [...vector],
  base64: toBase64,
  int8: (vector: Float32Array): unknown => Array.from(vector, (value) => Math.round(value * 127)),
  uint8: (vector: Float32Array): unknown =>
    Array.from(vector, (value) => Math.round(value * 127) + 128),
}

function readTypes(types: unknown): (keyof typeof ENCODERS)[] {
  if (types === undefined || types === null) return ['float']
  const asked: readonly unknown[] = Array.isArray(types) ? types : []
  return asked.map((type) => {
    if (type === 'float' || type === 'base64' || type === 'int8' || type === 'uint8') return type
    throw badField(
      `invalid request: embedding_types must be of ${Object.keys(ENCODERS).join(', ')}.`,
      'embedding_types',
    )
  })
}

function readTexts(texts: unknown, inputs: unknown): string[] {
  const written: readonly unknown[] = Array.isArray(texts)
    ? texts
    : objectsOf(inputs).map((input) => (isObject(input) ? textOfContent(input.content) : undefined))
  const read = written.filter((text) => typeof text === 'string')
  if (read.length === 0 || read.length < written.length)
    throw badField('invalid request: valid texts must be provided.', 'texts')
  if (read.length > MAX_TEXTS)
    throw badField(`invalid request: at most ${MAX_TEXTS} texts can be given.`, 'texts')
  return read
}
