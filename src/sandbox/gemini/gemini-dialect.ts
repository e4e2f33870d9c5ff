/** Builds Gemini's answers: the response and its pieces, which have the same form. */

import { type Composition, composeThoughts } from '../compose-answer.ts'
import {
  bearerOf,
  defineDialect,
  modelInAnswer,
  Refusal,
  type Scene,
  type Vendor,
} from '../dialect.ts'
import { type GeminiRequest, readGeminiRequest, signThought } from './gemini-request.ts'

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
    // Google answers an unknown key with 400, and a missing key with 403.
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

type GeminiScene = Scene<GeminiRequest>

export const geminiDialect = defineDialect<GeminiRequest>({
  vendor: geminiVendor,
  readRequest: readGeminiRequest,
  buildAnswer: buildResponse,
  streamFrames,
  failureFrames: (message) => [encodeFrame({ error: { code: 500, message, status: 'INTERNAL' } })],
})

type Part = Readonly<Record<string, unknown>>

/** Google ends its lines with CR LF. */
function encodeFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`
}

function buildTail({ exchange, request, composition }: GeminiScene) {
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

/** Gemini sends STOP for calls too. */
const reasonFor = ({ finish }: Composition) => (finish === 'length' ? 'MAX_TOKENS' : 'STOP')

function isSigned({ composition, exchange }: GeminiScene): boolean {
  return composition.reasoningTokens > 0 || exchange.model.base === 'echo-reasoning'
}

function buildThoughts({ exchange, request }: GeminiScene): Part[] {
  return request.showsThoughts ? [{ text: composeThoughts(exchange.seed), thought: true }] : []
}

/** Of parallel calls only the first is signed. */
function buildCalls(scene: GeminiScene): Part[] {
  const { seed } = scene.exchange
  return scene.composition.calls.map((call, index) => ({
    functionCall: { name: call.name, args: JSON.parse(call.arguments) },
    ...(index === 0 && isSigned(scene)
      ? { thoughtSignature: signThought(seed.slice(0, 24), call.name) }
      : {}),
  }))
}

function textSignature(scene: GeminiScene): Part {
  return isSigned(scene)
    ? { thoughtSignature: signThought(scene.exchange.seed.slice(0, 24), '') }
    : {}
}

function buildResponse(scene: GeminiScene, text: string) {
  const { composition, request } = scene
  const said: Part[] = text === '' ? [] : [{ text, ...textSignature(scene) }]
  const parts = [...buildThoughts(scene), ...said, ...buildCalls(scene)]
  const candidates = Array.from({ length: request.choices }, (_, index) => ({
    // No parts when the limit left no room.
    content: { ...(parts.length > 0 ? { parts } : {}), role: 'model' },
    finishReason: reasonFor(composition),
    index,
    ...(composition.calls.length > 0 ? { finishMessage: 'Model generated function call(s).' } : {}),
  }))
  return { candidates, ...buildTail(scene) }
}

/**
 * Each call is complete in its own piece. The last piece has an empty text, which carries a text's
 * signature.
 */
function* streamFrames(scene: GeminiScene): Generator<string> {
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
