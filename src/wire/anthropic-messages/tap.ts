/** Observes a relayed stream of Messages events: end, usage, failures. */

import { NO_USES, type ToolUses } from '../../core/cost.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import { finishReasonsOf } from '../answer-facts.ts'
import type { JsonValue } from '../chat-request.ts'
import { deltaBytes } from '../delta-bytes.ts'
import type { StreamTap } from '../dialect.ts'
import { encodeErrorData } from '../envelope.ts'
import { kindOfFailure } from '../failure-kinds.ts'
import { toLatin1 } from '../latin1.ts'
import { isRecord, parseRecord, present, recordOf, textOf } from '../read-json.ts'
import { encodeSseFrame, type SseText } from '../sse.ts'
import { type SeenFrame, SseRelay } from '../sse-streams.ts'
import { isSearchBlock, readServerToolUse, searchesOf } from '../tool-uses.ts'
import { readUpstreamError } from '../upstream-error.ts'
import { modelOf, ProgramBlocks, readUsage, reportsNothing } from '../usage.ts'
import { readMessagesCounts } from './answer.ts'

const MESSAGE_START = 'message_start'
const BLOCK_START = 'content_block_start'

export class MessagesTap extends SseRelay implements StreamTap {
  /** The last usage names the model, because another model may have taken over. */
  model: string | undefined
  finishReasons: readonly string[] | undefined
  #hasBegun = false
  #started: { readonly id: unknown } | undefined
  #hasContent = false
  /** The last value of each count: input comes at the start, output at the end. */
  readonly #reported: Record<string, JsonValue> = {}
  #blocks: ProgramBlocks | undefined
  #reportedSearches = 0
  /**
   * Search blocks since the last usage report. If the client leaves now, only this count shows the
   * searches.
   */
  #newSearches = 0

  get answerId(): string | undefined {
    const id = this.#started?.id
    return typeof id === 'string' ? id : undefined
  }

  get toolUses(): ToolUses {
    const searches = this.#reportedSearches + this.#newSearches
    return searches === 0 ? NO_USES : searchesOf(searches)
  }

  get usage(): Usage | null {
    if (Object.keys(this.#reported).length === 0) return null
    return (
      readUsage(readMessagesCounts, this.#reported) ?? this.#blocks?.usageOf(this.#reported) ?? null
    )
  }

  protected see(frame: SseText): SeenFrame {
    const { text } = frame
    if (text.includes(MESSAGE_START) && this.#isSecondStart(frame)) return this.breakOff()
    this.#hasContent ||= text.includes(BLOCK_START)
    const written = deltaBytes(text)
    if (written > 0) this.unreportedBytes += written
    else if (text.includes('server_tool_use')) this.#noteSearch(frame)
    if (this.#blocks !== undefined && text.includes(BLOCK_START))
      this.#blocks.note(parseRecord(frame.data)?.content_block)
    if (text.includes('"usage"')) this.#noteUsage(frame)
    const isTerminal =
      text.includes('message_stop') && parseRecord(frame.data)?.type === 'message_stop'
    if (isTerminal && this.verdict === 'open') this.verdict = 'complete'
    const shown =
      frame.event === 'error' || text.includes('"error"') ? this.#noteError(frame) : text
    if (frame.data !== undefined) this.#hasBegun = true
    return { text: shown, isTerminal }
  }

  /** Every complete stream of this dialect contains `message_stop`. */
  isWholeAtEnd(): boolean {
    return false
  }

  encodeFailure(error: GatewayError): Uint8Array {
    if (this.verdict === 'failed') return new Uint8Array(0)
    return encodeSseFrame({ event: 'error', data: encodeErrorData('messages', error) })
  }

  /** True for a repetition of the start, which servers send before any other event. */
  #isSecondStart(frame: SseText): boolean {
    const event = parseRecord(frame.data)
    if (event?.type !== MESSAGE_START) return false
    const id = isRecord(event.message) ? event.message.id : undefined
    const before = this.#started
    this.#started ??= { id }
    return before !== undefined && (this.#hasContent || before.id !== id)
  }

  #noteUsage(frame: SseText): void {
    const event = parseRecord(frame.data)
    const message = isRecord(event?.message) ? event.message : event
    this.finishReasons = finishReasonsOf(recordOf(event?.delta)) ?? this.finishReasons
    const usage = message?.usage
    if (!isRecord(usage)) return
    this.model ??= modelOf(message)
    this.unreportedBytes = 0
    for (const [name, value] of Object.entries(usage))
      if (value !== null) this.#reported[name] = value
    if (event?.type === MESSAGE_START && reportsNothing({ ...usage, output_tokens: 0 }))
      this.#blocks ??= new ProgramBlocks()
    const uses = readServerToolUse(usage)
    if (uses === undefined) return
    this.#reportedSearches = uses.webSearch ?? 0
    this.#newSearches = 0
  }

  #noteSearch(frame: SseText): void {
    if (isSearchBlock(parseRecord(frame.data)?.content_block)) this.#newSearches += 1
  }

  #noteError(frame: SseText): string {
    const event = parseRecord(frame.data)
    if (event?.type === 'error') {
      const error = recordOf(event.error)
      this.#noteFailure(textOf(error.message), kindOfFailure(error))
      return frame.text
    }
    // Servers with several formats use one error form in all of their streams.
    const isForeign =
      frame.event === 'error' || (event?.type === undefined && isRecord(event?.error))
    if (!isForeign) return frame.text
    const { message, code, type } = readUpstreamError(Buffer.from(frame.data ?? ''))
    this.#noteFailure(message, kindOfFailure({ ...present({ code, type }) }))
    const error = new GatewayError('upstream_error', message ?? 'The upstream reported a failure.')
    return toLatin1(encodeSseFrame({ event: 'error', data: encodeErrorData('messages', error) }))
  }

  #noteFailure(message: string | undefined, kind?: string): void {
    this.verdict = 'failed'
    if (this.#hasBegun) return
    this.reportedError = message ?? 'no message'
    this.reportedKind = kind
  }
}
