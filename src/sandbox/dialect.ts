/** What each dialect of the sandbox gives to the HTTP side, and what it gets from there. Knows no HTTP and no fault. */
import type { Composition } from './compose-answer.ts'
import type { JsonObject } from './json.ts'
import type { SandboxModel } from './parse-model.ts'
import type { Refusal } from './refusal.ts'

export interface Exchange {
  readonly body: JsonObject
  readonly apiKey: string
  readonly model: SandboxModel
  /** SHA-256 of the request's body in hexadecimal: every id is made from it, so equal requests get equal answers. */
  readonly seed: string
}

export interface Answer {
  /** The whole JSON body, in parts so that a very large one is never held in memory. */
  json(): Iterable<string>
  /** The SSE frames of the stream, each complete with its blank line. */
  frames(): Iterable<string>
  /** What the vendor sends when it fails after `sent` frames of a stream. */
  failureFrames(sent: number): readonly string[]
}

export interface Dialect {
  /** @throws Refusal when the vendor would refuse the request. */
  answer(exchange: Exchange): Answer
  encodeRefusal(refusal: Refusal): unknown
}

/** Fixed, so that equal requests get byte-equal answers: 2026-01-01T00:00:00Z in seconds. */
export const CREATED_AT = 1_767_225_600

/** The name an answer carries: never one that a real model has. */
export function modelInAnswer(model: SandboxModel): string {
  return `sandbox-${model.name}`
}

/** An id with the look of the vendor's, made from the request alone. */
export function createSeededId(prefix: string, seed: string, index: number): string {
  return `${prefix}${seed.slice(0, 46)}${index.toString(16).padStart(2, '0')}`
}

/** OpenAI pads its deltas with a random string so that sizes tell nothing; here it is made from the request. */
export function obfuscationAt(seed: string, position: number): string {
  const length = 4 + (position % 12)
  const start = (position * 7) % (seed.length - length)
  return seed.slice(start, start + length)
}

/**
 * The parts of a JSON body. Of a `big` answer the text is written piece by piece where it stands; any other body is one part.
 */
export function* encodeBody(encode: (text: string) => string, composition: Composition): Generator<string> {
  if (!composition.isBig) {
    yield encode(composition.text ?? '')
    return
  }
  const marker = crypto.randomUUID()
  const [before = '', ...rest] = encode(marker).split(marker)
  yield before
  for (const after of rest) {
    yield* composition.pieces()
    yield after
  }
}
