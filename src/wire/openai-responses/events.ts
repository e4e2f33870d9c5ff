/** Decodes an upstream's Responses stream to the gateway's events. */

import type { AnswerPart, ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import { kindOfFailure } from '../failure-kinds.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import type { SseFrame } from '../sse.ts'
import { SECOND_ANSWER, SseDecoder } from '../sse-streams.ts'
import { toUnread } from '../unread.ts'
import {
  callOf,
  decodeItem,
  EmittedAnswer,
  finishReasonOf,
  listOf,
  PART_BREAK,
  readResponseUsage,
  sealOf,
  startOf,
  toChatLogprobs,
  unreadOf,
} from './answer.ts'

/** Other events (`….in_progress`, `….done` after deltas, unknown events) must only be valid. */
const READ = new Set([
  'response.created',
  'response.output_item.added',
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
  'response.output_item.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

/** `response.created` comes before any work, so only these events show that the model has begun. */
const BEGUN = new Set(
  [...READ].filter((type) => !['response.created', 'response.failed', 'error'].includes(type)),
)

const LOST = 'The complete answer at the end of the stream differs from the streamed answer.'

interface OpenItem {
  readonly call: number | undefined
  /** Without a delta, the item's end contains all of the item. */
  hasDeltas: boolean
  /** Only the kind of visible reasoning that came first is shown. */
  reasoning: 'text' | 'summary' | undefined
  part: unknown
}

export class ResponsesStreamDecoder extends SseDecoder {
  readonly #items = new Map<unknown, OpenItem>()
  #start: ChatEvent | undefined
  #created: { readonly id: unknown } | undefined
  #hasBegun = false
  #calls = 0
  #isTextOpen = false
  #isReasoningOpen = false
  /** Everything passed on, for comparison with the repetition in the last event. */
  readonly #emitted = new EmittedAnswer()

  protected decode(parsed: JsonRecord, frame: SseFrame): readonly ChatEvent[] {
    const events = this.#decodeTyped(withType(parsed, frame.event))
    this.#emitted.note(events)
    return events
  }

  /** Some servers write `[DONE]` where they break off. */
  protected override decodeOther({ data, event }: SseFrame): readonly ChatEvent[] {
    if (data?.trim() === '[DONE]') return []
    const isEmpty = data === undefined || data.trim() === ''
    return super.decodeOther({ event, data: isEmpty && READ.has(event ?? '') ? event : data })
  }

  #decodeTyped(event: JsonRecord): readonly ChatEvent[] {
    if (event.type === 'response.created') {
      const { id } = responseOf(event)
      // The same event may be repeated before any other event.
      if (this.#created !== undefined && (this.#hasBegun || id !== this.#created.id))
        return this.fail(SECOND_ANSWER)
      this.#created = { id }
      this.#start = { type: 'start', ...startOf(responseOf(event)) }
    }
    if (typeof event.type !== 'string' || !BEGUN.has(event.type)) return this.#read(event)
    this.#hasBegun = true
    const start = this.#start
    this.#start = undefined
    return start === undefined ? this.#read(event) : [start, ...this.#read(event)]
  }

  #read(event: JsonRecord): readonly ChatEvent[] {
    switch (event.type) {
      case 'response.output_item.added':
        return this.#beginItem(event)
      case 'response.output_text.delta':
        return this.#writeText(event)
      case 'response.refusal.delta':
        return this.#writeRefusal(event)
      case 'response.reasoning_text.delta':
        return this.#writeReasoning(event, 'text', event.content_index)
      case 'response.reasoning_summary_text.delta':
        return this.#writeReasoning(event, 'summary', event.summary_index)
      case 'response.function_call_arguments.delta':
        return this.#writeArguments(event)
      case 'response.output_item.done':
        return this.#endItem(event)
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(responseOf(event))
      case 'response.failed':
        return this.#failAs(responseOf(event).error)
      case 'error':
        // The error is documented as flat, but servers also send it nested.
        return this.#failAs(event.error ?? event)
      default:
        return []
    }
  }

  #beginItem(event: JsonRecord): readonly ChatEvent[] {
    const item = recordOf(event.item)
    if (item.type !== 'function_call') {
      this.#items.set(event.output_index, newItem(undefined))
      return []
    }
    const index = this.#calls
    this.#calls += 1
    this.#items.set(event.output_index, newItem(index))
    return [...this.#close(), { type: 'tool-call-start', index, ...callOf(item) }]
  }

  #writeText(event: JsonRecord): readonly ChatEvent[] {
    const text = this.#take(event)
    if (text === '') return []
    const closed = this.#isReasoningOpen ? this.#close() : []
    this.#isTextOpen = true
    const entries = listOf(event.logprobs)
    const logprobs = entries.length === 0 ? undefined : toChatLogprobs(entries)
    return [...closed, { type: 'text-delta', text, ...present({ logprobs }) }]
  }

  #writeRefusal(event: JsonRecord): readonly ChatEvent[] {
    const text = this.#take(event)
    return text === '' ? [] : [{ type: 'refusal-delta', text }]
  }

  #writeReasoning(
    event: JsonRecord,
    kind: 'text' | 'summary',
    part: unknown,
  ): readonly ChatEvent[] {
    const item = this.#itemOf(event)
    item.reasoning ??= kind
    if (item.reasoning !== kind) return []
    const delta = this.#take(event)
    if (delta === '') return []
    const isNextPart = item.part !== undefined && item.part !== part
    item.part = part
    const closed = this.#isTextOpen ? this.#close() : []
    this.#isReasoningOpen = true
    return [...closed, { type: 'reasoning-delta', text: isNextPart ? PART_BREAK + delta : delta }]
  }

  #writeArguments(event: JsonRecord): readonly ChatEvent[] {
    const { call } = this.#itemOf(event)
    const written = this.#take(event)
    if (call === undefined || written === '') return []
    return [{ type: 'tool-call-delta', index: call, arguments: written }]
  }

  /** Only the end of an item contains complete encrypted reasoning, so the end repeats the item. */
  #endItem(event: JsonRecord): readonly ChatEvent[] {
    const item = recordOf(event.item)
    const begun = this.#items.has(event.output_index) ? [] : this.#beginItem(event)
    const { call, hasDeltas } = this.#itemOf(event)
    this.#items.delete(event.output_index)
    const whole = hasDeltas ? [] : decodeItem(item).flatMap((part) => this.#emitWhole(part, call))
    const rest = [...whole, ...toUnread(unreadOf(item))]
    if (call !== undefined) return [...begun, ...rest, { type: 'tool-call-end', index: call }]
    if (item.type !== 'reasoning') return [...rest, ...this.#close()]
    const seal = sealOf(item)
    if (seal === undefined) return [...rest, ...this.#close()]
    this.#isReasoningOpen = false
    return [...rest, { type: 'reasoning-end', seal }]
  }

  #emitWhole(part: AnswerPart, call: number | undefined): readonly ChatEvent[] {
    switch (part.type) {
      case 'text':
        this.#isTextOpen = true
        return [{ type: 'text-delta', text: part.text }]
      case 'refusal':
        return [{ type: 'refusal-delta', text: part.text }]
      case 'reasoning':
        if (part.text === '') return []
        this.#isReasoningOpen = true
        return [{ type: 'reasoning-delta', text: part.text }]
      case 'tool-call':
        return call === undefined
          ? []
          : [{ type: 'tool-call-delta', index: call, arguments: part.arguments }]
      case 'image':
        return [...this.#close(), part]
    }
  }

  #finish(response: JsonRecord): readonly ChatEvent[] {
    const items = listOf(response.output).filter(isRecord)
    const hasEmitted = !this.#emitted.isEmpty
    if (hasEmitted && !this.#emitted.matches(items.flatMap(decodeItem))) return this.fail(LOST)
    this.state = 'complete'
    const usage = readResponseUsage(response)
    return [
      // Some servers send everything in their last event only.
      ...(hasEmitted
        ? []
        : items.flatMap((item, output_index) => this.#endItem({ item, output_index }))),
      ...this.#close(),
      ...(usage === null ? [] : [{ type: 'usage' as const, usage }]),
      { type: 'finish', reason: finishReasonOf(response, this.#calls > 0) },
    ]
  }

  /** `response.failed` follows `error` and repeats it. */
  #failAs(error: unknown): readonly ChatEvent[] {
    const reported = recordOf(error)
    // In the flat form, `type` names the event and not the error, so the type is not examined.
    const { type, ...named } = reported
    const kind = kindOfFailure(type === 'error' ? named : reported)
    return this.fail(textOf(reported.message) ?? 'no message', kind)
  }

  #take(event: JsonRecord): string {
    const delta = textOf(event.delta) ?? ''
    if (delta !== '') this.#itemOf(event).hasDeltas = true
    return delta
  }

  #itemOf(event: JsonRecord): OpenItem {
    const known = this.#items.get(event.output_index)
    if (known !== undefined) return known
    const item = newItem(undefined)
    this.#items.set(event.output_index, item)
    return item
  }

  #close(): readonly ChatEvent[] {
    const ends: ChatEvent[] = []
    if (this.#isTextOpen) ends.push({ type: 'text-end' })
    if (this.#isReasoningOpen) ends.push({ type: 'reasoning-end' })
    this.#isTextOpen = false
    this.#isReasoningOpen = false
    return ends
  }
}

function newItem(call: number | undefined): OpenItem {
  return { call, hasDeltas: false, reasoning: undefined, part: undefined }
}

/** Some servers put the event's name only in the data, and some only in the `event` field. */
function withType(event: JsonRecord, name: string | undefined): JsonRecord {
  return name === undefined || typeof event.type === 'string' ? event : { ...event, type: name }
}

function responseOf(event: JsonRecord): JsonRecord {
  return recordOf(event.response)
}
