/**
 * The port between each dialect of the sandbox and the HTTP side. Knows no
 * HTTP and no fault.
 */
import type { Composition } from './compose-answer.ts'
import type { JsonObject } from './json.ts'
import type { SandboxModel } from './parse-model.ts'
import type { Vendor } from './vendor.ts'

export interface Exchange {
  readonly body: JsonObject
  readonly apiKey: string
  readonly model: SandboxModel
  /**
   * SHA-256 of the request's body in hexadecimal, the source of every id: equal requests get equal
   * answers.
   */
  readonly seed: string
}

export interface Answer {
  /** The whole JSON body, in parts so that a very large one is never held in memory. */
  json(): Iterable<string>
  /**
   * The events of the stream as they are on the wire: of SSE, each complete with its blank line.
   */
  frames(): Iterable<Frame>
  /** The vendor sends these when it fails after `sent` frames of a stream. */
  failureFrames(sent: number): readonly Frame[]
}

/** One event of a stream; bytes where the vendor's framing is binary. */
export type Frame = string | Uint8Array

/** How a stream is cut into events. */
export interface Framing {
  readonly contentType: string
  /** The same event, whole as an event, but its data is no JSON. */
  spoil(frame: Frame): Frame
}

export interface Dialect {
  readonly vendor: Vendor
  /** Absent: server-sent events. */
  readonly framing?: Framing
  /** @throws Refusal when the vendor would refuse the request. */
  answer(exchange: Exchange): Answer
}

export const SSE: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  // Without its last brace; `[DONE]` has none and stays.
  spoil: (frame) => (typeof frame === 'string' ? frame.replace(/\}((?:\r?\n){2})$/, '$1') : frame),
}

/** The answer of an embedding or a count of tokens: never a stream. */
export function answerOnce(body: unknown): Answer {
  return { json: () => [JSON.stringify(body)], frames: () => [], failureFrames: () => [] }
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

/**
 * OpenAI pads its deltas with a random string so that sizes tell nothing; here the string follows
 * from the request.
 */
export function obfuscationAt(seed: string, position: number): string {
  const length = 4 + (position % 12)
  const start = (position * 7) % (seed.length - length)
  return seed.slice(start, start + length)
}

/**
 * The parts of a JSON body. Of a `big` answer the text is written piece by piece where it stands;
 * any other body is one part.
 */
export function* encodeBody(
  encode: (text: string) => string,
  composition: Composition,
): Generator<string> {
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

export interface NamedEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/** A server-sent event that is named after its data's `type`. Knows no dialect. */
export function encodeNamedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
