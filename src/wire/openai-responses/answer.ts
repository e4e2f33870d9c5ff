/** Decodes an upstream's complete Responses answer to the gateway's own terms. */

import type { Usage } from '../../core/usage.ts'
import type { AnswerHead, AnswerPart, ChatAnswer, ChatEvent, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { parseJson } from '../json-scan.ts'
import { halfDayDetails, openaiWrites } from '../openai-chat/usage.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { presentIn, withUnread } from '../unread.ts'
import {
  cacheWrites,
  countOf,
  detailOf,
  hourWrites,
  partOf,
  readUsageOfTurn,
  type UsageReader,
} from '../usage.ts'

export function decodeResponse(body: JsonRecord): ChatAnswer {
  if (isRecord(body.error))
    throw new UnreadableAnswerError(
      `reported a failure: ${textOf(body.error.message) ?? 'no message'}`,
    )
  if (!Array.isArray(body.output)) throw new UnreadableAnswerError('sent an answer without output')
  if (textOf(body.status) === 'failed' || textOf(body.status) === 'cancelled')
    throw new UnreadableAnswerError('sent an answer that failed')
  const items = recordsOf(body.output)
  const content = items.flatMap(decodeItem)
  const logprobs = items
    .flatMap((item) => recordsOf(item.content))
    .flatMap((part) => listOf(part.logprobs))
  return {
    content,
    finishReason: finishReasonOf(
      body,
      content.some((part) => part.type === 'tool-call'),
    ),
    usage: readResponseUsage(body),
    ...withUnread(items.flatMap(unreadOf)),
    ...startOf(body),
    ...(logprobs.length === 0 ? {} : { logprobs: toChatLogprobs(logprobs) }),
  }
}

export function startOf(response: JsonRecord): AnswerHead {
  const createdAt = typeof response.created_at === 'number' ? response.created_at : undefined
  return present({ id: textOf(response.id), model: textOf(response.model), createdAt })
}

export function finishReasonOf(response: JsonRecord, hasCalls: boolean): FinishReason {
  if (response.status !== 'incomplete') return hasCalls ? 'tool_calls' : 'stop'
  const details = recordOf(response.incomplete_details)
  return details.reason === 'content_filter' ? 'content_filter' : 'length'
}

/**
 * Other items come from tools that only a Responses caller can ask for, so they are reported as
 * unread.
 */
export function decodeItem(item: JsonRecord): AnswerPart[] {
  switch (item.type) {
    case 'message':
      return recordsOf(item.content).flatMap(decodeContent)
    case 'reasoning': {
      const text = reasoningTextOf(item)
      const seal = sealOf(item)
      return text === '' && seal === undefined
        ? []
        : [{ type: 'reasoning', text, ...present({ seal }) }]
    }
    case 'function_call':
      return [
        { type: 'tool-call', ...callOf(item), arguments: textOf(item.arguments)?.trim() || '{}' },
      ]
    case 'image_generation_call': {
      const base64 = textOf(item.result) ?? ''
      const mediaType = `image/${textOf(item.output_format) ?? 'png'}`
      return base64 === '' ? [] : [{ type: 'image', source: { type: 'data', mediaType, base64 } }]
    }
    default:
      return []
  }
}

const KINDS = new Set(['message', 'reasoning', 'function_call', 'image_generation_call'])

export function unreadOf(item: JsonRecord): string[] {
  const type = textOf(item.type) ?? ''
  if (!KINDS.has(type)) return type === '' ? [] : [`answer.output[].type=${type}`]
  if (type !== 'message') return []
  return recordsOf(item.content).flatMap((part) =>
    presentIn(part, ['annotations'], 'output[].content[].'),
  )
}

/** Results refer to the call's id, not to the item's own. */
export function callOf(item: JsonRecord): { readonly id: string; readonly name: string } {
  return { id: textOf(item.call_id) ?? textOf(item.id) ?? '', name: textOf(item.name) ?? '' }
}

export function sealOf(item: JsonRecord) {
  const value = textOf(item.encrypted_content)
  return value === undefined || value === '' ? undefined : { type: 'encrypted' as const, value }
}

export const PART_BREAK = '\n\n'

function reasoningTextOf(item: JsonRecord): string {
  const shown = recordsOf(item.content)
  const parts = shown.length > 0 ? shown : recordsOf(item.summary)
  return parts.flatMap((part) => textOf(part.text) ?? []).join(PART_BREAK)
}

function decodeContent(part: JsonRecord): AnswerPart[] {
  const text = textOf(part.text) ?? ''
  if (part.type === 'output_text') return text === '' ? [] : [{ type: 'text', text }]
  const refusal = textOf(part.refusal) ?? ''
  return part.type === 'refusal' && refusal !== '' ? [{ type: 'refusal', text: refusal }] : []
}

/** Chat answers use the same entry for each token. */
export function toChatLogprobs(entries: readonly JsonValue[]): JsonRecord {
  return { content: entries, refusal: null }
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function recordsOf(value: JsonValue | undefined): JsonRecord[] {
  return listOf(value).filter(isRecord)
}

export class EmittedAnswer {
  isEmpty = true
  #text = ''
  #refusal = ''
  readonly #arguments = new Map<number, string>()

  note(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type !== 'start' && event.type !== 'unread') this.isEmpty = false
      if (event.type === 'text-delta') this.#text += event.text
      else if (event.type === 'refusal-delta') this.#refusal += event.text
      else if (event.type === 'tool-call-start') this.#arguments.set(event.index, '')
      else if (event.type === 'tool-call-delta')
        this.#arguments.set(event.index, (this.#arguments.get(event.index) ?? '') + event.arguments)
    }
  }

  /**
   * True when `repeated` equals the streamed answer. Servers may omit or trim the repetition, or
   * spell its JSON differently, so such differences do not count.
   */
  matches(repeated: readonly AnswerPart[]): boolean {
    const text = repeated.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    const refusal = repeated
      .flatMap((part) => (part.type === 'refusal' ? [part.text] : []))
      .join('')
    const calls = repeated.flatMap((part) => (part.type === 'tool-call' ? [part.arguments] : []))
    return (
      isSame(this.#text, text) &&
      isSame(this.#refusal, refusal) &&
      (calls.length === 0 || spellingOf(calls) === spellingOf([...this.#arguments.values()]))
    )
  }
}

function isSame(emitted: string, repeated: string): boolean {
  return repeated.trim() === '' || repeated.trim() === emitted.trim()
}

function spellingOf(calls: readonly string[]): string {
  return calls.map(normalize).sort().join('\n')
}

function normalize(text: string): string {
  if (text.trim() === '') return '{}'
  try {
    return JSON.stringify(parseJson(text))
  } catch {
    return text.replaceAll(/\s/g, '') // Arguments that a limit has cut off.
  }
}

export function readResponseUsage({
  usage,
  service_tier,
  output,
}: Readonly<Record<string, unknown>>): Usage | null {
  return readUsageOfTurn(readResponsesCounts, {
    reported: usage,
    tier: service_tier,
    items: output,
  })
}

/**
 * `input_tokens` includes cached tokens and tokens written to a cache, `output_tokens` includes
 * reasoning (https://github.com/openai/openai-node, `ResponseUsage`).
 */
export const readResponsesCounts: UsageReader = (reported) => ({
  inputTokens: countOf(reported.input_tokens),
  outputTokens: countOf(reported.output_tokens),
  cachedInputTokens: partOf(detailOf(reported.input_tokens_details, 'cached_tokens')),
  reasoningTokens: partOf(detailOf(reported.output_tokens_details, 'reasoning_tokens')),
  ...cacheWrites(openaiWrites(reported.input_tokens_details)),
  ...hourWrites(halfDayDetails(reported.input_tokens_details)),
})
