/** Decodes Bedrock's event stream to the gateway's events. */

import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue, Seal } from '../chat-request.ts'
import { type StreamDecoder, UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { toUnread } from '../unread.ts'
import { readUsage } from '../usage.ts'
import {
  readBedrockCounts,
  signatureSeal,
  stopSequenceOf,
  tierOf,
  toFinishReason,
  unreadOf,
} from './answer.ts'
import { DamagedStreamError, FrameCutter, readFrame, type StreamMessage } from './event-frames.ts'

type Block =
  | { readonly type: 'text' }
  | { readonly type: 'reasoning'; signature: string; readonly encrypted: string[] }
  | { readonly type: 'tool-call'; readonly index: number }

export class BedrockStreamDecoder implements StreamDecoder {
  readonly #cutter = new FrameCutter()
  readonly #blocks = new Map<number, Block>()
  /** Counts tool calls, because the upstream numbers blocks of all kinds. */
  #tools = 0
  #hasStarted = false
  #hasUsage = false
  #hasFailed = false
  #isComplete = false
  #finish: Extract<ChatEvent, { type: 'finish' }> | undefined

  push(chunk: Uint8Array): readonly ChatEvent[] {
    const events: ChatEvent[] = []
    try {
      for (const frame of this.#cutter.cut(chunk)) {
        if (this.#hasFailed || this.#isComplete) break
        events.push(...this.#decode(readFrame(frame)))
      }
    } catch (thrown) {
      if (!(thrown instanceof DamagedStreamError || thrown instanceof UnreadableAnswerError))
        throw thrown
      if (!this.#hasFailed && !this.#isComplete)
        events.push(this.#fail(`The upstream ${thrown.message}.`))
    }
    return events
  }

  /** Without reported usage, the end of the stream completes the answer, unless an event is cut. */
  end(): readonly ChatEvent[] {
    return this.#cutter.hasUnfinished ? [] : this.#complete()
  }

  isComplete(): boolean {
    return this.#isComplete
  }

  #decode(message: StreamMessage): readonly ChatEvent[] {
    if (message.type === 'failure') return [this.#fail(message.message, message.code)]
    const { name, body } = message
    const started = this.#start()
    switch (name) {
      case 'contentBlockStart':
        return [...started, ...this.#startBlock(indexOf(body), body.start)]
      case 'contentBlockDelta':
        return [...started, ...this.#delta(indexOf(body), recordOf(body.delta))]
      case 'contentBlockStop':
        return [...started, ...this.#stopBlock(indexOf(body))]
      case 'messageStop':
        return [...started, ...this.#stop(body)]
      case 'metadata': {
        const usage = readUsage(readBedrockCounts, body.usage, tierOf(body))
        if (usage === null) return started
        this.#hasUsage = true
        return [...started, { type: 'usage', usage }, ...this.#complete()]
      }
      default:
        return started // `messageStart`, and unknown events of later versions.
    }
  }

  /** The upstream sends no id and no model, and some models omit `messageStart`. */
  #start(): readonly ChatEvent[] {
    if (this.#hasStarted) return []
    this.#hasStarted = true
    return [{ type: 'start' }]
  }

  #startBlock(index: number, start: JsonValue | undefined): readonly ChatEvent[] {
    if (!isRecord(start)) return []
    if (!isRecord(start.toolUse)) return toUnread(unreadOf(start))
    const tool = this.#tools
    this.#tools += 1
    this.#blocks.set(index, { type: 'tool-call', index: tool })
    const { toolUseId, name } = start.toolUse
    return [
      {
        type: 'tool-call-start',
        index: tool,
        id: textOf(toolUseId) ?? '',
        name: textOf(name) ?? '',
      },
    ]
  }

  /** Only tools announce their block: text and reasoning begin with their first delta. */
  #delta(index: number, delta: JsonRecord): readonly ChatEvent[] {
    if (typeof delta.text === 'string') {
      if (!this.#blocks.has(index)) this.#blocks.set(index, { type: 'text' })
      return delta.text === '' ? [] : [{ type: 'text-delta', text: delta.text }]
    }
    if (isRecord(delta.reasoningContent)) return this.#reason(index, delta.reasoningContent)
    const block = this.#blocks.get(index)
    const written = isRecord(delta.toolUse) ? textOf(delta.toolUse.input) : undefined
    if (block?.type !== 'tool-call' || written === undefined || written === '')
      return toUnread(unreadOf(delta))
    return [{ type: 'tool-call-delta', index: block.index, arguments: written }]
  }

  #reason(index: number, { text, signature, redactedContent }: JsonRecord): readonly ChatEvent[] {
    const known = this.#blocks.get(index)
    const block =
      known?.type === 'reasoning'
        ? known
        : { type: 'reasoning' as const, signature: '', encrypted: [] }
    this.#blocks.set(index, block)
    if (typeof signature === 'string') block.signature += signature
    if (typeof redactedContent === 'string') block.encrypted.push(redactedContent)
    return typeof text === 'string' && text !== '' ? [{ type: 'reasoning-delta', text }] : []
  }

  #stopBlock(index: number): readonly ChatEvent[] {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    switch (block?.type) {
      case 'text':
        return [{ type: 'text-end' }]
      case 'tool-call':
        return [{ type: 'tool-call-end', index: block.index }]
      case 'reasoning': {
        const seal = encryptedSeal(block.encrypted) ?? signatureSeal(block.signature)
        return [{ type: 'reasoning-end', ...present({ seal }) }]
      }
      default:
        return []
    }
  }

  #stop({ stopReason, additionalModelResponseFields }: JsonRecord): readonly ChatEvent[] {
    const open = [...this.#blocks.keys()].flatMap((index) => this.#stopBlock(index))
    const stopSequence = stopSequenceOf(additionalModelResponseFields)
    this.#finish = {
      type: 'finish',
      reason: toFinishReason(stopReason),
      ...present({ stopSequence }),
    }
    return this.#hasUsage ? [...open, ...this.#complete()] : open
  }

  #complete(): readonly ChatEvent[] {
    if (this.#finish === undefined || this.#hasFailed || this.#isComplete) return []
    this.#isComplete = true
    return [this.#finish]
  }

  #fail(message: string, code?: string): ChatEvent {
    this.#hasFailed = true
    return { type: 'error', message, ...present({ code }) }
  }
}

/** Base64 pieces are decoded before they are joined. */
function encryptedSeal(pieces: readonly string[]): Seal | undefined {
  const [only] = pieces
  if (only === undefined) return undefined
  if (pieces.length === 1) return { type: 'encrypted', value: only }
  const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))
  return { type: 'encrypted', value: bytes.toString('base64') }
}

function indexOf(event: JsonRecord): number {
  return typeof event.contentBlockIndex === 'number' ? event.contentBlockIndex : 0
}
