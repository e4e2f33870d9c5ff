/**
 * Watches a stream of chat completion chunks go by: its end and its usage. Serves every dialect shaped like it.
 * It must not change anything but usage that the client did not ask for.
 */
import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { Envelope, StreamTap } from '../dialect.ts'
import { encodeError } from '../envelope.ts'
import { type JsonObject, scanJsonObject, spliceJson } from '../json-splice.ts'
import { encodeSseFrame, type SseFrame } from '../sse.ts'
import { type SeenFrame, SseRelay } from '../sse-relay.ts'
import { readUsage } from '../usage.ts'

const NOTHING = new Uint8Array(0)

export interface ChatTapOptions {
  /** The gateway asked for usage on its own account: the client sees the stream as if it had not. */
  readonly hidesUsage: boolean
  /** How this dialect spells an error inside a stream. */
  readonly envelope: Envelope
}

export class ChatTap extends SseRelay implements StreamTap {
  readonly #options: ChatTapOptions
  usage: Usage | null = null
  reportedError: string | null = null
  #sawChunk = false
  #lastWithReason: SseFrame | undefined

  constructor(options: ChatTapOptions) {
    super()
    this.#options = options
  }

  protected see(frame: SseFrame): SeenFrame {
    const raw = Buffer.from(frame.raw.buffer, frame.raw.byteOffset, frame.raw.byteLength)
    if (isDone(raw, frame)) {
      if (this.verdict === 'open') this.verdict = 'complete'
      return { bytes: frame.raw, isTerminal: true }
    }
    // Read only should the stream end without its last event: reading every one would cost more than relaying it.
    if (raw.includes('finish_reason')) this.#lastWithReason = frame
    const namesUsage = raw.includes('"usage"')
    const shown = namesUsage ? this.#seeUsage(frame) : frame.raw
    if (raw.includes('"error"')) this.#seeError(frame)
    if (frame.data !== undefined) this.#sawChunk = true
    return { bytes: shown, isTerminal: false }
  }

  /** Some providers close without `[DONE]`; a finish reason says that nothing is missing. */
  isWholeAtEnd(): boolean {
    const last = this.#lastWithReason
    return this.verdict === 'open' && last !== undefined && hasFinishReason(last) && !this.hasHalfEvent()
  }

  encodeFailure(error: GatewayError): Uint8Array {
    // The upstream has told of its own failure already: telling it twice helps nobody.
    if (this.verdict === 'failed') return NOTHING
    if (this.#options.envelope === 'flat') {
      return encodeSseFrame({ data: JSON.stringify({ error: flatFailure(error) }) })
    }
    const data = encodeError('nested', error)
    return Buffer.concat([encodeSseFrame({ data: String(data) }), encodeSseFrame({ data: '[DONE]' })])
  }

  /** Usage may come in any chunk, with choices or without (lessons.md); the last report counts. */
  #seeUsage(frame: SseFrame): Uint8Array {
    const chunk = readChunk(frame)
    if (chunk === undefined || !Object.hasOwn(chunk, 'usage')) return frame.raw
    this.usage = readUsage('openai-chat', chunk.usage) ?? this.usage
    if (!this.#options.hidesUsage) return frame.raw
    const { choices } = chunk
    if (chunk.usage !== null && Array.isArray(choices) && choices.length === 0) return NOTHING
    return withoutUsage(frame)
  }

  #seeError(frame: SseFrame): void {
    const error = readChunk(frame)?.error
    if (typeof error !== 'object' || error === null) return
    this.verdict = 'failed'
    if (this.#sawChunk) return
    const message = (error as { message?: unknown }).message
    this.reportedError = typeof message === 'string' ? message : JSON.stringify(message ?? error)
  }
}

function hasFinishReason(frame: SseFrame): boolean {
  const choices = readChunk(frame)?.choices
  return Array.isArray(choices) && choices.some((choice) => typeof choice?.finish_reason === 'string')
}

/** `[DONE]` without decoding the frame when it is spelled the usual way. */
function isDone(raw: Buffer, frame: SseFrame): boolean {
  return raw.length < 32 && raw.includes('[DONE]') && frame.data?.trim() === '[DONE]'
}

function readChunk(frame: SseFrame): Record<string, unknown> | undefined {
  try {
    const chunk: unknown = JSON.parse(frame.data ?? '')
    return typeof chunk === 'object' && chunk !== null ? (chunk as Record<string, unknown>) : undefined
  } catch {
    return undefined // Not JSON: passed on as it is, there is nothing to read in it.
  }
}

/** The event without its `usage` member, every other byte of its JSON unchanged. */
function withoutUsage(frame: SseFrame): Uint8Array {
  let chunk: JsonObject
  try {
    chunk = scanJsonObject(Buffer.from(frame.data ?? ''))
  } catch {
    return frame.raw
  }
  const member = chunk.get('usage')
  if (member === undefined) return frame.raw
  const data = new TextDecoder().decode(spliceJson(chunk, [{ type: 'remove', member }]))
  return encodeSseFrame(frame.event === undefined ? { data } : { event: frame.event, data })
}

function flatFailure(error: GatewayError): Record<string, unknown> {
  return { type: error.kind, code: error.code, message: error.message }
}
