/** Decodes Anthropic's stream to the gateway's events. */

import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { isRecord, present, recordOf, recordsOf, textOf } from '../read-json.ts'
import { SECOND_ANSWER, SseDecoder } from '../sse-streams.ts'
import { toUnread } from '../unread.ts'
import { ProgramBlocks, readUsage } from '../usage.ts'
import { readMessagesCounts, toFinishReason, unreadOf } from './answer.ts'

type Block =
  | { readonly type: 'text' }
  | { readonly type: 'reasoning'; signature: string; encrypted: string | undefined }
  | {
      readonly type: 'tool-call'
      readonly index: number
      /** From the block's start; used if no piece follows. */
      input: JsonValue | undefined
    }

export class AnthropicStreamDecoder extends SseDecoder {
  readonly #blocks = new Map<number, Block>()
  /** Counts tool calls, because the upstream numbers blocks of all kinds. */
  #tools = 0
  #hasStarted = false
  #id: string | undefined
  #hasContent = false
  /** From the start of the message; a later event replaces it. */
  #stop: JsonRecord | undefined
  /**
   * The last value of each count: input comes at the start, output at the end, and some servers
   * repeat both.
   */
  #reported: Record<string, JsonValue> = {}
  usageSoFar: Usage | null = null
  readonly #authors = new ProgramBlocks()

  protected decode(event: JsonRecord): readonly ChatEvent[] {
    switch (event.type) {
      case 'message_start':
        return this.#start(recordOf(event.message))
      case 'content_block_start':
        return this.#startBlock(indexOf(event), recordOf(event.content_block))
      case 'content_block_delta':
        return this.#delta(indexOf(event), recordOf(event.delta))
      case 'content_block_stop':
        return this.#stopBlock(indexOf(event))
      case 'message_delta': {
        this.#note(event.usage)
        const delta = recordOf(event.delta)
        if (typeof delta.stop_reason !== 'string') return this.#usage()
        this.#stop = undefined
        return [...this.#stopBlocks(), ...this.#usage(), toFinish(delta)]
      }
      case 'message_stop': {
        this.state = 'complete'
        const stop = this.#stop
        if (stop === undefined) return this.#stopBlocks()
        return [...this.#stopBlocks(), ...this.#usage(), toFinish(stop)]
      }
      case 'error': {
        const { message, type } = recordOf(event.error)
        return this.fail(textOf(message) ?? 'no message', textOf(type))
      }
      default:
        return [] // `ping`, and unknown events of later versions.
    }
  }

  /** The same start may be repeated before any other event; the first start counts. */
  #start(message: JsonRecord): readonly ChatEvent[] {
    const id = textOf(message.id)
    if (this.#hasStarted && (this.#hasContent || id !== this.#id)) return this.fail(SECOND_ANSWER)
    this.#note(message.usage)
    if (this.#hasStarted) return []
    this.#hasStarted = true
    this.#id = id
    const start: ChatEvent = {
      type: 'start',
      ...present({ id, model: textOf(message.model) }),
    }
    if (typeof message.stop_reason === 'string') this.#stop = message
    const blocks = recordsOf(message.content)
    // Some servers send the whole message in its start.
    return [
      start,
      ...blocks.flatMap((block, index) => [
        ...this.#startBlock(index, block),
        ...this.#stopBlock(index),
      ]),
    ]
  }

  #startBlock(index: number, block: JsonRecord): readonly ChatEvent[] {
    this.#hasContent = true
    this.#authors.note(block)
    switch (block.type) {
      case 'text': {
        this.#blocks.set(index, { type: 'text' })
        const text = textOf(block.text) ?? ''
        return text === '' ? [] : [{ type: 'text-delta', text }]
      }
      case 'thinking': {
        this.#blocks.set(index, {
          type: 'reasoning',
          signature: textOf(block.signature) ?? '',
          encrypted: undefined,
        })
        const text = textOf(block.thinking) ?? ''
        return text === '' ? [] : [{ type: 'reasoning-delta', text }]
      }
      case 'redacted_thinking':
        this.#blocks.set(index, {
          type: 'reasoning',
          signature: '',
          encrypted: textOf(block.data) ?? '',
        })
        return []
      case 'tool_use': {
        const tool = this.#tools
        this.#tools += 1
        this.#blocks.set(index, { type: 'tool-call', index: tool, input: block.input })
        const start = { type: 'tool-call-start' as const, index: tool, id: textOf(block.id) ?? '' }
        return [{ ...start, name: textOf(block.name) ?? '' }]
      }
      default:
        return toUnread(unreadOf(block))
    }
  }

  #delta(index: number, delta: JsonRecord): readonly ChatEvent[] {
    const block = this.#blocks.get(index)
    switch (delta.type) {
      case 'text_delta':
        return [{ type: 'text-delta', text: textOf(delta.text) ?? '' }]
      case 'thinking_delta':
        return [{ type: 'reasoning-delta', text: textOf(delta.thinking) ?? '' }]
      case 'signature_delta':
        if (block?.type === 'reasoning') block.signature += textOf(delta.signature) ?? ''
        return []
      case 'input_json_delta': {
        const written = textOf(delta.partial_json) ?? ''
        if (block?.type !== 'tool-call' || written === '') return []
        block.input = undefined
        return [{ type: 'tool-call-delta', index: block.index, arguments: written }]
      }
      case 'citations_delta':
        return toUnread(['answer.content[].citations'])
      default:
        return []
    }
  }

  #stopBlock(index: number): readonly ChatEvent[] {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    switch (block?.type) {
      case 'text':
        return [{ type: 'text-end' }]
      case 'tool-call':
        return [...wholeInput(block), { type: 'tool-call-end', index: block.index }]
      case 'reasoning': {
        const { encrypted, signature } = block
        if (encrypted !== undefined)
          return [{ type: 'reasoning-end', seal: { type: 'encrypted', value: encrypted } }]
        if (signature === '') return [{ type: 'reasoning-end' }]
        return [{ type: 'reasoning-end', seal: { type: 'signature', value: signature } }]
      }
      default:
        return []
    }
  }

  /** Some servers end a message without ending its blocks. */
  #stopBlocks(): readonly ChatEvent[] {
    return [...this.#blocks.keys()].flatMap((index) => this.#stopBlock(index))
  }

  #note(usage: JsonValue | undefined): void {
    if (!isRecord(usage)) return
    for (const [name, value] of Object.entries(usage))
      if (value !== null) this.#reported[name] = value
    this.usageSoFar =
      readUsage(readMessagesCounts, this.#reported) ?? this.#authors.usageOf(this.#reported)
  }

  #usage(): readonly ChatEvent[] {
    const usage = this.usageSoFar
    return usage === null ? [] : [{ type: 'usage', usage }]
  }
}

function toFinish({ stop_reason, stop_sequence }: JsonRecord): ChatEvent {
  const stopSequence = textOf(stop_sequence)
  return { type: 'finish', reason: toFinishReason(stop_reason), ...present({ stopSequence }) }
}

/** Most servers send an empty object before the pieces, so an empty object counts as no input. */
function wholeInput({ index, input }: Extract<Block, { type: 'tool-call' }>): readonly ChatEvent[] {
  const text = isRecord(input) ? JSON.stringify(input) : (textOf(input) ?? '')
  return text === '' || text === '{}' ? [] : [{ type: 'tool-call-delta', index, arguments: text }]
}

function indexOf(event: JsonRecord): number {
  return typeof event.index === 'number' ? event.index : 0
}
