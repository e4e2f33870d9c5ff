/** Decodes Gemini's stream to the gateway's events: every piece is a complete answer object. */

import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { SECOND_ANSWER, SseDecoder } from '../sse-streams.ts'
import { toUnread } from '../unread.ts'
import {
  callIdOf,
  imageOf,
  readCandidate,
  sealOf,
  toFinishReason,
  unreadOf,
  usageOf,
} from './answer.ts'

export class GeminiStreamDecoder extends SseDecoder {
  #hasStarted = false
  #open: 'text' | 'reasoning' | undefined
  /** Counted over the whole stream: parallel calls come in separate pieces, without an index. */
  #calls = 0
  #finishReason: string | undefined
  #endedId: string | undefined
  #usage: Usage | null = null

  get usageSoFar(): Usage | null {
    return this.#usage
  }

  /** Gemini sends no closing event, so a reason and the end of the stream complete the answer. */
  override end(): readonly ChatEvent[] {
    const events = [...super.end()]
    if (this.#finishReason === undefined || this.state === 'failed') return events
    events.push(...this.#close())
    if (this.#usage !== null) events.push({ type: 'usage', usage: this.#usage })
    try {
      events.push({ type: 'finish', reason: toFinishReason(this.#finishReason, this.#calls > 0) })
      this.state = 'complete'
    } catch (thrown) {
      if (!(thrown instanceof UnreadableAnswerError)) throw thrown
      events.push(...this.fail(`The upstream ${thrown.message}.`))
    }
    return events
  }

  protected decode(body: JsonRecord): readonly ChatEvent[] {
    if (isRecord(body.error))
      return this.fail(textOf(body.error.message) ?? 'no message', textOf(body.error.status))
    const { parts, finishReason, unread } = readCandidate(body)
    const id = textOf(body.responseId)
    if (this.#endedId !== undefined && id !== this.#endedId && parts.length > 0)
      return this.fail(SECOND_ANSWER)
    const events: ChatEvent[] = []
    if (!this.#hasStarted) {
      this.#hasStarted = true
      const facts = present({
        id,
        model: textOf(body.modelVersion),
        usage: usageOf(body) ?? undefined,
      })
      events.push({ type: 'start', ...facts })
    }
    for (const part of parts) events.push(...this.#decodePart(part), ...toUnread(unreadOf(part)))
    events.push(...toUnread(unread))
    this.#finishReason = finishReason ?? this.#finishReason
    if (finishReason !== undefined) this.#endedId ??= id
    this.#usage = usageOf(body) ?? this.#usage
    return events
  }

  #decodePart(part: JsonRecord): readonly ChatEvent[] {
    const seal = sealOf(part)
    if (isRecord(part.functionCall))
      return [...this.#close(), ...this.#decodeCall(part.functionCall, seal)]
    const image = imageOf(part)
    const text = textOf(part.text) ?? ''
    const kind = part.thought === true ? 'reasoning' : 'text'
    const events: ChatEvent[] = []
    if (image !== undefined) events.push(...this.#close(), { type: 'image', source: image })
    if (text !== '') {
      if (this.#open !== undefined && this.#open !== kind) events.push(...this.#close())
      this.#open = kind
      events.push({ type: `${kind}-delta`, text })
    }
    if (seal === undefined) return events
    if (this.#open === 'text') events.push(...this.#close())
    this.#open = undefined
    return [...events, { type: 'reasoning-end', seal }]
  }

  #decodeCall(call: JsonRecord, seal: ReturnType<typeof sealOf>): readonly ChatEvent[] {
    const index = this.#calls
    this.#calls += 1
    const name = textOf(call.name) ?? ''
    return [
      { type: 'tool-call-start', index, id: callIdOf(call), name, ...present({ seal }) },
      { type: 'tool-call-delta', index, arguments: JSON.stringify(call.args ?? {}) },
      { type: 'tool-call-end', index },
    ]
  }

  #close(): readonly ChatEvent[] {
    const open = this.#open
    this.#open = undefined
    return open === undefined ? [] : [{ type: `${open}-end` }]
  }
}
