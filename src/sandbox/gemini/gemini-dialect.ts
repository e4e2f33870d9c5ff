/** Gemini's answers: the response and its pieces, which have one shape. Knows no HTTP. */
import { type Composition, composeAnswer } from '../compose-answer.ts'
import { type Answer, type Dialect, type Exchange, encodeBody, modelInAnswer } from '../dialect.ts'
import { composeThoughts } from '../prompt-texts.ts'
import { signThought } from './gemini-contents.ts'
import { type GeminiRequest, readGeminiRequest } from './gemini-request.ts'
import { geminiVendor } from './gemini-vendor.ts'

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
