/** Observes a Responses stream: end, usage, and the state that a failure event has to repeat. */
import { NO_USES, type ToolUses } from '../../core/cost.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import { factsOf, finishReasonsOf } from '../answer-facts.ts'
import { CONTEXT_FULL } from '../context-full.ts'
import { deltaBytes, sealedTextBytes } from '../delta-bytes.ts'
import type { StreamTap } from '../dialect.ts'
import { toNestedError } from '../envelope.ts'
import { type FailureNames, kindOfFailure } from '../failure-kinds.ts'
import { parseRecord } from '../read-json.ts'
import { encodeSseFrame, type SseText } from '../sse.ts'
import { type SeenFrame, SseRelay } from '../sse-streams.ts'
import { ItemCounter, readResponseUses } from '../tool-uses.ts'
import { modelOf } from '../usage.ts'
import { readResponseUsage } from './answer.ts'

const CREATED = 'response.created'
const ITEM_ADDED = 'response.output_item.added'
const ITEM_DONE = 'response.output_item.done'
/** Every use of a counted tool contains one of these texts. */
const HOSTED_CALL = /"(?:web_search|file_search|code_interpreter|image_generation)_call"/
const TERMINAL_EVENTS = new Set(['response.completed', 'response.failed', 'response.incomplete'])

interface ResponseEvent {
  readonly type?: unknown
  readonly sequence_number?: number
  readonly response?: Record<string, unknown>
  readonly error?: { readonly message?: string } & FailureNames
  readonly message?: string
  readonly code?: unknown
  readonly item?: unknown
}

export class ResponsesTap extends SseRelay implements StreamTap {
  usage: Usage | null = null
  #first: SseText | undefined
  #last: SseText | undefined
  #items: ItemCounter | undefined
  #created: SseText | undefined
  #hasItems = false
  /** From the last event, which repeats all items. */
  #finalUses: ToolUses | undefined

  get toolUses(): ToolUses {
    return this.#finalUses ?? this.#items?.uses ?? NO_USES
  }

  get answerId(): string | undefined {
    return factsOf(responseIn(this.#first)).answerId
  }

  get finishReasons(): readonly string[] | undefined {
    return finishReasonsOf(responseIn(this.#last))
  }

  get model(): string | undefined {
    return this.#first === undefined ? undefined : modelOf(readEvent(this.#first).response)
  }

  protected see(frame: SseText): SeenFrame {
    const { text } = frame
    const event = frame.event ?? typeOf(frame)
    if (event === CREATED && this.#isSecond(frame)) return this.breakOff()
    this.unreportedBytes += deltaBytes(text)
    if (event === undefined) return { text, isTerminal: false }
    if (event === 'error') this.#noteError(frame)
    else this.#first ??= frame
    this.#last = frame
    if (event === ITEM_DONE) this.unreportedBytes += sealedBytes(text)
    if (event === ITEM_ADDED || event === ITEM_DONE) this.#hasItems = true
    if ((event === ITEM_DONE || event === ITEM_ADDED) && HOSTED_CALL.test(text))
      this.#noteItem(event, frame)
    const isTerminal = TERMINAL_EVENTS.has(event)
    if (isTerminal) {
      const { response } = readEvent(frame)
      this.usage = readResponseUsage(response ?? {})
      if (this.usage !== null) this.unreportedBytes = 0
      if (response !== undefined) this.#finalUses = readResponseUses(response, this.toolUses)
      this.verdict =
        event === 'response.failed' || this.verdict === 'failed' ? 'failed' : 'complete'
    }
    return { text, isTerminal }
  }

  /** The same response may be created twice before any other event. */
  #isSecond(frame: SseText): boolean {
    const before = this.#created
    this.#created ??= frame
    if (before === undefined) return false
    return this.#hasItems || readEvent(before).response?.id !== readEvent(frame).response?.id
  }

  isWholeAtEnd(): boolean {
    return false // Every Responses stream ends with a terminal event; without one it was cut.
  }

  #noteItem(event: string, frame: SseText): void {
    this.#items ??= new ItemCounter()
    const { item } = readEvent(frame)
    if (event === ITEM_DONE) this.#items.note(item)
    else this.#items.announce(item)
  }

  #noteError(frame: SseText): void {
    this.verdict = 'failed'
    const event = readEvent(frame)
    if (this.#first !== undefined) return
    this.reportedError = event.error?.message ?? event.message ?? 'no message'
    // In the flat form, `type` names the event and not the error, so the type is not used.
    this.reportedKind = kindOfFailure(event.error ?? { code: event.code })
  }

  /**
   * `error` with both the flat and the nested spelling, then `response.failed` with a whole
   * response, then `[DONE]`: the only sequence that every tested client reports as a failure.
   */
  encodeFailure(error: GatewayError): Uint8Array {
    const nested = toNestedError(error)
    const sequence =
      (this.#last === undefined ? -1 : (readEvent(this.#last).sequence_number ?? -1)) + 1
    const { type, ...flat } = nested
    const started = this.#first === undefined ? {} : (readEvent(this.#first).response ?? {})
    const failed = {
      ...EMPTY_RESPONSE,
      ...started,
      status: 'failed',
      error: { code: failureCodeOf(error), message: error.message },
    }
    return Buffer.concat([
      encodeSseFrame({
        event: 'error',
        data: JSON.stringify({
          type: 'error',
          sequence_number: sequence,
          ...flat,
          error: { type, ...flat },
        }),
      }),
      encodeSseFrame({
        event: 'response.failed',
        data: JSON.stringify({
          type: 'response.failed',
          sequence_number: sequence + 1,
          response: failed,
        }),
      }),
      encodeSseFrame({ data: '[DONE]' }),
    ])
  }
}

function failureCodeOf({ status, code }: GatewayError): string {
  if (code === CONTEXT_FULL) return CONTEXT_FULL
  return status === 429 ? 'rate_limit_exceeded' : 'server_error'
}

const SEAL = '"encrypted_content":"'
/**
 * Estimates the length of sealed reasoning, in bytes of its text.
 * @param event the end of an item, because earlier events lack parts of the seal
 */
function sealedBytes(event: string): number {
  const at = event.indexOf(SEAL)
  if (at < 0) return 0
  const from = at + SEAL.length
  return sealedTextBytes(event.indexOf('"', from) - from)
}

/** Some servers write no `event:` lines, so only the data identifies an event. */
function typeOf(frame: SseText): string | undefined {
  const { type } = readEvent(frame)
  return typeof type === 'string' && (type === 'error' || type.startsWith('response.'))
    ? type
    : undefined
}

function readEvent({ data }: SseText): ResponseEvent {
  return parseRecord(data) ?? {}
}

function responseIn(frame: SseText | undefined): Readonly<Record<string, unknown>> {
  return frame === undefined ? {} : (readEvent(frame).response ?? {})
}

/**
 * Every required member of a response object, for a stream that broke before the upstream sent one.
 */
const EMPTY_RESPONSE = {
  id: 'resp_unknown',
  object: 'response',
  created_at: 0,
  background: false,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: '',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'auto',
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  presence_penalty: 0,
  frequency_penalty: 0,
  usage: null,
  user: null,
  metadata: {},
}
