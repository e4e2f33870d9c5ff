/**
 * The port between the sandbox's dialects and its HTTP server, and what the dialects share:
 * refusals, keys, the form of an answer.
 */
import { type Composition, composeAnswer, type Prompt } from './compose-answer.ts'
import type { JsonObject } from './json.ts'
import type { BaseModel, SandboxModel } from './parse-model.ts'

type KeyFault = 'bad' | 'missing'

export interface RefusalDetails {
  readonly type?: string
  readonly code?: string | null
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Providers differ in status and words for a missing and a wrong key. */
  readonly keyFault?: KeyFault
  /** Replaces the message when a provider sends an object (Mistral's validation errors). */
  readonly detail?: unknown
}

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly keyFault: KeyFault | null
  readonly detail: unknown

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message)
    this.status = status
    this.type = details.type ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
    this.code = details.code ?? null
    this.param = details.param ?? null
    this.headers = details.headers ?? {}
    this.keyFault = details.keyFault ?? null
    this.detail = details.detail
  }
}

export function badField(message: string, param: string, code: string | null = null): Refusal {
  return new Refusal(400, message, { param, code })
}

export function missingField(param: string): Refusal {
  return badField(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
}

interface ErrorReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Vendor {
  /**
   * @returns '' without a key in an accepted form
   * @throws Refusal for a malformed key
   */
  findKey(request: Request): string
  /** @throws Refusal for other requirements of the provider, in headers or address */
  checkRequest?(request: Request): void
  readonly idHeader: string
  encodeRefusal(refusal: Refusal): ErrorReply
  /** Undefined: the provider has no list at this address. */
  encodeModels?(ids: readonly BaseModel[]): unknown
}

const BAD_KEY = 'sandbox-bad-key'

export function bearerOf(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1] ?? ''
}

export function checkKey(key: string, requireKey: boolean): void {
  if (key === BAD_KEY) {
    throw new Refusal(
      401,
      `Incorrect API key provided: ${maskKey(key)}. The sandbox takes any key but this one.`,
      { code: 'invalid_api_key', keyFault: 'bad' },
    )
  }
  if (key === '' && requireKey) {
    throw new Refusal(
      401,
      "You didn't provide an API key: send it as 'Authorization: Bearer KEY'. Any key will do.",
      { keyFault: 'missing' },
    )
  }
}

/** Providers repeat the masked key in their message, and relays should handle that. */
function maskKey(key: string): string {
  return `${key.slice(0, 8)}${'*'.repeat(Math.max(3, key.length - 12))}${key.slice(-4)}`
}

export interface Exchange {
  readonly body: JsonObject
  readonly apiKey: string
  readonly model: SandboxModel
  /**
   * SHA-256 of the request's body in hexadecimal. Every id is derived from the seed, so equal
   * requests get equal answers.
   */
  readonly seed: string
}

export interface Answer {
  /** The whole JSON body in parts, so a very large body is never in memory. */
  json(): Iterable<string>
  /** The events of the stream in their wire form; for SSE, each with its blank line. */
  frames(): Iterable<Frame>
  /** The provider's events when it fails after `sent` frames of a stream. */
  failureFrames(sent: number): readonly Frame[]
}

export type Frame = string | Uint8Array

export interface Framing {
  readonly contentType: string
  /** Returns the frame with data that is not valid JSON. */
  spoil(frame: Frame): Frame
}

export interface Dialect {
  readonly vendor: Vendor
  /** Undefined: server-sent events. */
  readonly framing?: Framing
  answer(exchange: Exchange): Answer
}

export interface Scene<Request> {
  readonly exchange: Exchange
  readonly request: Request
  readonly composition: Composition
}

interface DialectForm<Request> extends Omit<Dialect, 'answer'> {
  readRequest(exchange: Exchange): Request
  buildAnswer(scene: Scene<Request>, text: string): unknown
  streamFrames(scene: Scene<Request>): Iterable<Frame>
  failureFrames(message: string, scene: Scene<Request>, sent: number): readonly Frame[]
}

const FAILURE = 'The sandbox failed in mid-stream, as it was asked to.'

export function defineDialect<Request extends { readonly prompt: Prompt }>({
  readRequest,
  buildAnswer,
  streamFrames,
  failureFrames,
  ...dialect
}: DialectForm<Request>): Dialect {
  return {
    ...dialect,
    answer(exchange) {
      const request = readRequest(exchange)
      const composition = composeAnswer(request.prompt, exchange.model.fault)
      const scene: Scene<Request> = { exchange, request, composition }
      return {
        json: () => encodeBody((text) => JSON.stringify(buildAnswer(scene, text)), composition),
        frames: () => streamFrames(scene),
        failureFrames: (sent) => failureFrames(FAILURE, scene, sent),
      }
    },
  }
}

export const SSE: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  // Removes the last brace; `[DONE]` has none and is unchanged.
  spoil: (frame) => (typeof frame === 'string' ? frame.replace(/\}((?:\r?\n){2})$/, '$1') : frame),
}

export function answerOnce(body: unknown): Answer {
  return { json: () => [JSON.stringify(body)], frames: () => [], failureFrames: () => [] }
}

/** Fixed, so equal requests get byte-equal answers: 2026-01-01T00:00:00Z in seconds. */
export const CREATED_AT = 1_767_225_600

/** Differs from every real model's name. */
export function modelInAnswer(model: SandboxModel): string {
  return `sandbox-${model.name}`
}

export function toDigits(index: number): string {
  return index.toString(16).padStart(2, '0')
}

/**
 * OpenAI pads its deltas with a random string, so sizes reveal nothing. Here the string is derived
 * from the request.
 */
export function obfuscationAt(seed: string, position: number): string {
  const length = 4 + (position % 12)
  const start = (position * 7) % (seed.length - length)
  return seed.slice(start, start + length)
}

/** The text of a `big` answer is written piece by piece; any other body is one part. */
function* encodeBody(
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

export function encodeNamedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

export function encodeData(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
