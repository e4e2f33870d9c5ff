/**
 * Observes a stream of chat completion chunks: end and usage. Serves every dialect with this form.
 */

import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import { type AnswerFacts, factsOf, finishReasonsOf } from '../answer-facts.ts'
import { deltaBytes } from '../delta-bytes.ts'
import type { Envelope, StreamTap } from '../dialect.ts'
import { encodeErrorData } from '../envelope.ts'
import { kindOfFailure } from '../failure-kinds.ts'
import { type JsonObject, scanJsonObject, spliceJson } from '../json-splice.ts'
import { fromLatin1, toLatin1 } from '../latin1.ts'
import { isRecord, parseRecord } from '../read-json.ts'
import { encodeSseFrame, type SseText } from '../sse.ts'
import { type SeenFrame, SseRelay } from '../sse-streams.ts'
import { isReportedError } from '../upstream-error.ts'
import { readUsage } from '../usage.ts'
import { readChatCounts } from './usage.ts'

const NOTHING = new Uint8Array(0)
const REASON = /"finish_reason": ?"/

interface ChatTapOptions {
  /** The gateway added the request for usage, so usage is hidden from the client. */
  readonly hidesUsage: boolean
  readonly envelope: Envelope
}

export class ChatTap extends SseRelay implements StreamTap {
  readonly #options: ChatTapOptions
  usage: Usage | null = null
  #sawChunk = false
  readonly #ended = new ChatEnd()
  #lastWithReason: SseText | undefined
  /** Every chunk names the model, except some providers' first chunks. */
  #lastChunk: SseText | undefined

  constructor(options: ChatTapOptions) {
    super()
    this.#options = options
  }

  get isEmpty(): boolean {
    return !this.#sawChunk
  }

  get model(): string | undefined {
    return this.#last.model
  }

  get answerId(): string | undefined {
    return this.#last.answerId
  }

  get finishReasons(): readonly string[] | undefined {
    return finishReasonsOf(parseRecord(this.#lastWithReason?.data) ?? {})
  }

  get #last(): AnswerFacts {
    return factsOf(parseRecord(this.#lastChunk?.data) ?? {})
  }

  protected see(frame: SseText): SeenFrame {
    const { text } = frame
    if (isDone(frame)) {
      if (this.verdict === 'open') this.verdict = 'complete'
      return { text, isTerminal: true }
    }
    // Reading every chunk would cost more than relaying it, so the chunk is read only if the stream
    // ends without its last event.
    if (text.includes('finish_reason')) this.#lastWithReason = frame
    if (
      (this.#ended.hasEnded || REASON.test(text)) &&
      this.#ended.isPassedBy(parseRecord(frame.data) ?? {})
    )
      return this.breakOff()
    this.unreportedBytes += deltaBytes(text)
    const shown = text.includes('"usage"') ? this.#seeUsage(frame) : text
    if (text.includes('"error"')) this.#seeError(frame)
    if (text.startsWith('data:')) this.#lastChunk = frame
    if (!this.#sawChunk) this.#sawChunk = text.startsWith(PREFIX) || frame.data !== undefined
    return { text: shown, isTerminal: false }
  }

  /** Some providers close without `[DONE]`, so a finish reason also completes the answer. */
  isWholeAtEnd(): boolean {
    const last = this.#lastWithReason
    return (
      this.verdict === 'open' && last !== undefined && hasFinishReason(last) && !this.hasHalfEvent()
    )
  }

  encodeFailure(error: GatewayError): Uint8Array {
    // The upstream has reported its failure already; a second report does not help.
    if (this.verdict === 'failed') return NOTHING
    if (this.#options.envelope === 'flat') {
      return encodeSseFrame({ data: JSON.stringify({ error: flatFailure(error) }) })
    }
    const data = encodeErrorData('nested', error)
    return Buffer.concat([encodeSseFrame({ data }), encodeSseFrame({ data: '[DONE]' })])
  }

  /** Usage may be in any chunk, with or without choices; the last report counts. */
  #seeUsage(frame: SseText): string {
    const { text } = frame
    if (!text.includes(USAGE_NULL) || text.includes(USAGE_OBJECT)) {
      const chunk = parseRecord(frame.data)
      if (chunk === undefined || !Object.hasOwn(chunk, 'usage')) return text
      const usage = readUsage(readChatCounts, chunk.usage, chunk.service_tier)
      if (usage !== null) {
        this.usage = usage
        this.unreportedBytes = 0
      }
      const { choices } = chunk
      const isUsageOnly = chunk.usage !== null && Array.isArray(choices) && choices.length === 0
      if (this.#options.hidesUsage && isUsageOnly) return ''
    }
    return this.#options.hidesUsage ? withoutUsage(frame) : text
  }

  #seeError(frame: SseText): void {
    const chunk = parseRecord(frame.data)
    const error = chunk?.object === 'error' ? chunk : chunk?.error
    if (!isReportedError(error)) return
    this.verdict = 'failed'
    if (this.#sawChunk) return
    this.reportedError = messageOf(error)
    if (isRecord(error)) this.reportedKind = kindOfFailure(error)
  }
}

function messageOf(error: object | string): string {
  if (typeof error === 'string') return error
  const { message } = error as { message?: unknown }
  return typeof message === 'string' ? message : JSON.stringify(message ?? error)
}

function hasFinishReason(frame: SseText): boolean {
  const choices = parseRecord(frame.data)?.choices
  return (
    Array.isArray(choices) && choices.some((choice) => typeof choice?.finish_reason === 'string')
  )
}

function isDone(frame: SseText): boolean {
  const { text } = frame
  return text.length < 32 && text.includes('[DONE]') && frame.data?.trim() === '[DONE]'
}

function withoutUsage(frame: SseText): string {
  const { text } = frame
  if (text.endsWith(USAGE_AT_END)) return `${text.slice(0, -USAGE_AT_END.length)}}\n\n`
  const at = text.lastIndexOf(USAGE_NULL_MEMBER)
  const after = at + USAGE_NULL_MEMBER.length
  if (at > 0 && AFTER_LAST_USAGE.test(text.slice(after)))
    return text.slice(0, at) + text.slice(after)
  // Nearly every event is one line, `data: {…}`, and is edited in place; others are rebuilt.
  const isOneLine = text.startsWith(PREFIX) && text.indexOf('\n') === text.length - 2
  const json = isOneLine ? fromLatin1(text.slice(PREFIX.length, -2)) : Buffer.from(frame.data ?? '')
  let chunk: JsonObject
  try {
    chunk = scanJsonObject(json)
  } catch {
    return text // Not JSON, so there is no member to remove.
  }
  const member = chunk.get('usage')
  if (member === undefined) return text
  const edited = spliceJson(chunk, [{ type: 'remove', member }])
  if (isOneLine) return `${PREFIX}${toLatin1(edited)}\n\n`
  const data = new TextDecoder().decode(edited)
  const { event } = frame
  return toLatin1(encodeSseFrame(event === undefined ? { data } : { event, data }))
}

const PREFIX = 'data: '
/** Every chunk except the last contains this text. */
const USAGE_NULL = '"usage":null'
const USAGE_NULL_MEMBER = `,${USAGE_NULL}`
const USAGE_AT_END = `${USAGE_NULL_MEMBER}}\n\n`
/**
 * Only plain text members, such as OpenAI's `obfuscation`, and the closing brace may follow
 * `usage`. Then `usage` is certainly a member of the chunk itself, without parsing the JSON.
 */
const AFTER_LAST_USAGE = /^(?:,"\w+":"\w*")*\}\n\n$/
const USAGE_OBJECT = '"usage":{'

export function flatFailure(error: GatewayError): Record<string, unknown> {
  return { type: error.kind, code: error.code, message: error.message }
}

export class ChatEnd {
  readonly #ids = new Map<unknown, unknown>()

  get hasEnded(): boolean {
    return this.#ids.size > 0
  }

  /**
   * Records which choices finish in a chunk. True if the chunk has another id and continues a
   * finished choice.
   */
  isPassedBy({ id, choices }: Readonly<Record<string, unknown>>): boolean {
    if (!Array.isArray(choices)) return false
    for (const choice of choices) {
      if (!isRecord(choice)) continue
      const { index = 0, delta, finish_reason } = choice
      if (this.#ids.has(index) && this.#ids.get(index) !== id && hasContent(delta)) return true
      if (typeof finish_reason === 'string' && !this.#ids.has(index)) this.#ids.set(index, id)
    }
    return false
  }
}

function hasContent(delta: unknown): boolean {
  if (!isRecord(delta)) return false
  const { content, tool_calls } = delta
  return (content !== undefined && content !== null && content !== '') || Array.isArray(tool_calls)
}
