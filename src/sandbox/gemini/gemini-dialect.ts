/** Gemini's answers: the response and its pieces, which have one shape. Knows no HTTP. */

import { type Composition, composeAnswer } from '../compose-answer.ts'
import {
  type Answer,
  answerOnce,
  type Dialect,
  type Exchange,
  encodeBody,
  modelInAnswer,
} from '../dialect.ts'
import { embedText } from '../embed-text.ts'
import { isObject, type JsonObject, objectsOf, textOfContent } from '../json.ts'
import { composeThoughts } from '../prompt-texts.ts'
import { badField, Refusal } from '../refusal.ts'
import { bearerOf, type Vendor } from '../vendor.ts'
import { signThought } from './gemini-contents.ts'
import { type GeminiRequest, readGeminiRequest } from './gemini-request.ts'

/** https://cloud.google.com/apis/design/errors */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const BAD_KEY = 'API key not valid. Please pass a valid API key.'

/** Google's errors, key and list of models. Knows no content. */
export const geminiVendor: Vendor = {
  findKey(request) {
    const inAddress = new URL(request.url).searchParams.get('key')
    return request.headers.get('x-goog-api-key')?.trim() || inAddress || bearerOf(request.headers)
  },
  checkRequest(request) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname.endsWith(':streamGenerateContent') && searchParams.get('alt') !== 'sse')
      throw new Refusal(400, 'The sandbox streams only with alt=sse.')
  },
  idHeader: 'x-request-id',
  encodeRefusal(refusal) {
    const isBadKey = refusal.keyFault === 'bad'
    // Google answers a key that it does not know with 400, and none at all with 403.
    const code = isBadKey ? 400 : refusal.keyFault === 'missing' ? 403 : refusal.status
    const seconds = refusal.headers['retry-after']
    const details = [
      ...(isBadKey
        ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
        : []),
      ...(seconds === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }]),
    ]
    return {
      status: code,
      body: {
        error: {
          code,
          message: isBadKey ? BAD_KEY : refusal.message,
          status: STATUSES[code] ?? (code >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION'),
          ...(details.length > 0 ? { details } : {}),
        },
      },
    }
  },
  encodeModels: (ids) => ({
    models: ids.map((id) => ({
      name: `models/${id}`,
      version: 'sandbox',
      displayName: `Sandbox ${id}`,
      supportedGenerationMethods: ['generateContent', 'batchEmbedContents'],
    })),
  }),
}

export const geminiDialect: Dialect = { vendor: geminiVendor, answer }

interface Scene {
  readonly exchange: Exchange
  readonly request: GeminiRequest
  readonly composition: Composition
}

type Part = Readonly<Record<string, unknown>>

function answer(exchange: Exchange): Answer {
  const request = readGeminiRequest(exchange)
  const composition = composeAnswer(request.prompt, exchange.model.fault)
  const scene: Scene = { exchange, request, composition }
  return {
    json: () => encodeBody((text) => JSON.stringify(buildResponse(scene, text)), composition),
    frames: () => streamFrames(scene),
    failureFrames: () => [
      encodeFrame({
        error: {
          code: 500,
          message: 'The sandbox failed in mid-stream, as it was asked to.',
          status: 'INTERNAL',
        },
      }),
    ],
  }
}

/** Google ends its lines with both characters. */
function encodeFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`
}

function buildTail({ exchange, request, composition }: Scene) {
  const { inputTokens, cachedTokens } = request.count
  const { outputTokens, reasoningTokens } = composition
  const candidates = (outputTokens - reasoningTokens) * request.choices
  return {
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: candidates,
      totalTokenCount: inputTokens + candidates + reasoningTokens,
      ...(cachedTokens > 0 ? { cachedContentTokenCount: cachedTokens } : {}),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
      ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
    },
    modelVersion: modelInAnswer(exchange.model),
    responseId: exchange.seed.slice(0, 23),
  }
}

/** It says STOP for calls too. */
const reasonFor = ({ finish }: Composition) => (finish === 'length' ? 'MAX_TOKENS' : 'STOP')

function isSigned({ composition, exchange }: Scene): boolean {
  return composition.reasoningTokens > 0 || exchange.model.base === 'echo-reasoning'
}

function buildThoughts({ exchange, request }: Scene): Part[] {
  return request.showsThoughts ? [{ text: composeThoughts(exchange.seed), thought: true }] : []
}

/** Of parallel calls only the first is signed. */
function buildCalls(scene: Scene): Part[] {
  const { seed } = scene.exchange
  return scene.composition.calls.map((call, index) => ({
    functionCall: { name: call.name, args: JSON.parse(call.arguments) },
    ...(index === 0 && isSigned(scene)
      ? { thoughtSignature: signThought(seed.slice(0, 24), call.name) }
      : {}),
  }))
}

function textSignature(scene: Scene): Part {
  return isSigned(scene)
    ? { thoughtSignature: signThought(scene.exchange.seed.slice(0, 24), '') }
    : {}
}

function buildResponse(scene: Scene, text: string) {
  const { composition, request } = scene
  const said: Part[] = text === '' ? [] : [{ text, ...textSignature(scene) }]
  const parts = [...buildThoughts(scene), ...said, ...buildCalls(scene)]
  const candidates = Array.from({ length: request.choices }, (_, index) => ({
    // There are no parts where the limit left no room.
    content: { ...(parts.length > 0 ? { parts } : {}), role: 'model' },
    finishReason: reasonFor(composition),
    index,
    ...(composition.calls.length > 0 ? { finishMessage: 'Model generated function call(s).' } : {}),
  }))
  return { candidates, ...buildTail(scene) }
}

/**
 * Calls come whole, each in a piece of its own; the end is a piece with an empty text, which
 * carries a text's signature.
 */
function* streamFrames(scene: Scene): Generator<string> {
  const { composition, request } = scene
  const tail = buildTail(scene)
  for (let index = 0; index < request.choices; index++) {
    const encodePiece = (part: Part, end: object = {}) =>
      encodeFrame({
        candidates: [{ content: { parts: [part], role: 'model' }, ...end, index }],
        ...tail,
      })
    const calls = buildCalls(scene)
    for (const part of [...buildThoughts(scene), ...calls]) yield encodePiece(part)
    for (const text of composition.pieces()) yield encodePiece({ text })
    const signature = calls.length > 0 ? {} : textSignature(scene)
    yield encodePiece({ text: '', ...signature }, { finishReason: reasonFor(composition) })
  }
}

const DEFAULT_DIMENSIONS = 768
const MAX_REQUESTS = 100

/**
 * Gemini's `batchEmbedContents` and `embedContent`: reading, refusing, answering. Knows no HTTP.
 */
export const geminiBatchEmbeddings: Dialect = {
  vendor: geminiVendor,
  answer({ body }) {
    const requests = objectsOf(body.requests)
    if (requests.length === 0)
      throw badField(
        '* BatchEmbedContentsRequest.requests: requests is not specified\n',
        'requests',
      )
    if (requests.length > MAX_REQUESTS)
      throw badField(
        `* BatchEmbedContentsRequest.requests: at most ${MAX_REQUESTS} ` +
          'requests can be in one batch\n',
        'requests',
      )
    return answerOnce({
      embeddings: requests.map((request, at) => embed(request, `requests[${at}].`)),
    })
  },
}

export const geminiEmbedding: Dialect = {
  vendor: geminiVendor,
  answer: ({ body }) => answerOnce({ embedding: embed(body, '') }),
}

function embed(request: JsonObject, at: string) {
  const text = isObject(request.content) ? textOfContent(request.content.parts) : ''
  if (text === '')
    throw badField(
      `* EmbedContentRequest.${at}content: content is empty or has no text\n`,
      'content',
    )
  const asked = request.outputDimensionality ?? request.output_dimensionality
  const dimensions =
    typeof asked === 'number' && asked >= 1 ? Math.min(asked, 3072) : DEFAULT_DIMENSIONS
  return { values: [...embedText(text, dimensions)] }
}
