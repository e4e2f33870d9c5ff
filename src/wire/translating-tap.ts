/**
 * Translates a stream of the upstream's bytes to the caller's dialect, and holds back the end of
 * the answer for the ledger.
 */
import { GatewayError } from '../core/errors.ts'
import type { Usage } from '../core/usage.ts'
import { type ChatEvent, toFittingReason } from './chat-answer.ts'
import type { EventEncoder, Step, StreamDecoder } from './codec.ts'
import { sealedTextBytes } from './delta-bytes.ts'
import type { StreamTap, TapOutput, TapVerdict } from './dialect.ts'
import { utf8ToLatin1 } from './latin1.ts'
import { LostComments } from './unread.ts'

const NOTHING = new Uint8Array(0)

export class TranslatingTap implements StreamTap {
  readonly #decoder: StreamDecoder
  readonly #encoder: EventEncoder
  readonly #blocks = new BlockSerialiser()
  readonly #lost: LostComments
  verdict: TapVerdict = 'open'
  #reported: Usage | null = null
  #soFar: Usage | null = null
  unreportedBytes = 0
  isEmpty = true
  reportedError: string | null = null
  reportedKind: string | undefined
  model: string | undefined
  answerId: string | undefined
  finishReasons: readonly string[] | undefined
  chunks = 0
  #hasShown = false

  constructor(decoder: StreamDecoder, encoder: EventEncoder, showsImages = false) {
    this.#decoder = decoder
    this.#encoder = encoder
    this.#lost = new LostComments(showsImages)
  }

  get usage(): Usage | null {
    return this.#reported ?? this.#soFar
  }

  push(chunk: Uint8Array, from = 0, to = chunk.length): TapOutput {
    const isAll = from === 0 && to === chunk.length
    return this.#relay(this.#decoder.push(isAll ? chunk : chunk.subarray(from, to)))
  }

  end(): TapOutput {
    return this.#relay(this.#decoder.end())
  }

  /**
   * The end of the answer is sent only after the upstream reports completion, so a stream without
   * that report was cut off.
   */
  isWholeAtEnd(): boolean {
    return false
  }

  encodeFailure(error: GatewayError): Uint8Array {
    return this.verdict === 'failed' ? NOTHING : Buffer.from(this.#encoder.encodeFailure(error))
  }

  #relay(events: readonly ChatEvent[]): TapOutput {
    let comments = ''
    let text = ''
    for (const event of events) {
      if (this.verdict !== 'open') break
      const lost = this.#lost.read(event)
      if (lost !== undefined) {
        // A lost part does not reach the client, but an image still counts as an answer.
        if (event.type === 'image') this.isEmpty = false
        comments += lost
        continue
      }
      if (event.type !== 'finish') this.isEmpty = false
      if (event.type === 'start') {
        this.model ??= event.model
        this.answerId ??= event.id
      } else if (event.type === 'finish') this.finishReasons = [event.reason]
      else if (event.type !== 'usage') this.chunks += 1
      if (event.type === 'usage') {
        this.#reported = event.usage
        // An unchanged report does not cover the text written since the report, so that text stays
        // unreported.
        if (event.usage !== this.#soFar) this.unreportedBytes = 0
      } else this.unreportedBytes += textBytesOf(event)
      text += event.type === 'error' ? this.#fail(event) : this.#encode(event)
    }
    const { usageSoFar = null } = this.#decoder
    if (usageSoFar !== this.#soFar) {
      this.#soFar = usageSoFar
      this.unreportedBytes = 0
    }
    if (text !== '') this.#hasShown = true
    const now = utf8ToLatin1(comments + text)
    if (this.verdict !== 'open' || !this.#decoder.isComplete()) return { now, held: '' }
    this.verdict = 'complete'
    return { now, held: utf8ToLatin1(this.#encoder.end()) }
  }

  #encode(event: ChatEvent): string {
    let text = ''
    for (const each of this.#blocks.push(event))
      text += each.type === 'error' ? this.#fail(each) : this.#encoder.push(each)
    return text
  }

  /**
   * Before anything was sent, an HTTP status can report the failure; afterwards the stream has to.
   */
  #fail({ message, code }: Extract<ChatEvent, { type: 'error' }>): string {
    this.verdict = 'failed'
    if (!this.#hasShown) {
      this.reportedError = message
      this.reportedKind = code
      return ''
    }
    return this.#encoder.encodeFailure(new GatewayError('upstream_error', message))
  }
}

function textBytesOf(event: ChatEvent): number {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
      return Buffer.byteLength(event.text)
    case 'reasoning-end':
      return event.seal?.type === 'encrypted' ? sealedTextBytes(event.seal.value.length) : 0
    case 'tool-call-start':
      return Buffer.byteLength(event.name)
    case 'tool-call-delta':
      return Buffer.byteLength(event.arguments)
    default:
      return 0
  }
}

type CallEvent = Extract<ChatEvent, { readonly type: `tool-call-${string}` }>

interface Block {
  /** The number of a call; undefined: text and reasoning. */
  readonly call: number | undefined
  waiting: ChatEvent[]
  hasEnded: boolean
  readonly json: JsonProgress
}

export class BlockSerialiser implements Step<ChatEvent, ChatEvent> {
  /** The first block is being passed on; the other blocks wait. */
  readonly #queue: Block[] = []
  #hasCalls = false
  #hasCutCall = false
  readonly #choices = new Map<number, BlockSerialiser>()

  push(event: ChatEvent): readonly ChatEvent[] {
    switch (event.type) {
      case 'start':
      case 'usage':
      case 'error':
      case 'unread':
        return [event]
      case 'choice':
        return this.#pushChoice(event.index, event.event)
      case 'finish':
        return this.#finish(event)
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'tool-call-end':
        this.#add(event)
        return this.#advance()
      default:
        // Nearly every event belongs to the text that is being passed on, so it returns here.
        if (this.#queue.length === 0) return [event]
        this.#textBlock().waiting.push(event)
        return this.#advance()
    }
  }

  end(): readonly ChatEvent[] {
    for (const block of this.#queue) block.hasEnded = true
    return this.#advance()
  }

  /** An answer that breaks off within a call, without reaching its token limit, is incomplete. */
  #finish(event: Extract<ChatEvent, { readonly type: 'finish' }>): readonly ChatEvent[] {
    const rest = this.end()
    if (this.#hasCutCall && (event.reason === 'stop' || event.reason === 'tool_calls'))
      return [
        ...rest,
        { type: 'error', message: 'The upstream ended its answer within a tool call.' },
      ]
    return [...rest, { ...event, reason: toFittingReason(event.reason, this.#hasCalls) }]
  }

  #pushChoice(index: number, event: ChatEvent): readonly ChatEvent[] {
    const serialiser = this.#choices.get(index) ?? new BlockSerialiser()
    this.#choices.set(index, serialiser)
    return serialiser.push(event).map((each) => ({ type: 'choice', index, event: each }))
  }

  #add(event: CallEvent): void {
    if (event.type === 'tool-call-start') {
      this.#hasCalls = true
      this.#queue.push(createBlock(event.index, event))
      return
    }
    const block = this.#queue.find(({ call }) => call === event.index)
    // A call without a queue entry was complete already, so the event is ignored.
    if (block === undefined) return
    if (event.type === 'tool-call-end') block.hasEnded = true
    else {
      block.json.read(event.arguments)
      block.waiting.push(event)
    }
  }

  #textBlock(): Block {
    const last = this.#queue.at(-1)
    if (last !== undefined && last.call === undefined) return last
    const block = createBlock(undefined)
    this.#queue.push(block)
    return block
  }

  #advance(): readonly ChatEvent[] {
    const events: ChatEvent[] = []
    for (;;) {
      const [block] = this.#queue
      if (block === undefined) return events
      events.push(...block.waiting)
      block.waiting = []
      const isLast = this.#queue.length === 1
      if (block.call === undefined) {
        // Text in the last block needs no queue entry from now on.
        this.#queue.shift()
        continue
      }
      if (!block.hasEnded && (isLast || !block.json.isComplete)) return events
      this.#queue.shift()
      this.#hasCutCall ||= block.json.isCut
      events.push({ type: 'tool-call-end', index: block.call })
    }
  }
}

function createBlock(call: number | undefined, ...waiting: ChatEvent[]): Block {
  return { call, waiting, hasEnded: false, json: new JsonProgress() }
}

/** Checks whether all pieces of a JSON object have arrived, up to its last brace. */
class JsonProgress {
  #depth = 0
  #isText = false
  #isEscaped = false
  isComplete = false

  /** An open string, list or object is incomplete. */
  get isCut(): boolean {
    return this.#depth > 0 || this.#isText
  }

  read(piece: string): void {
    for (const character of piece) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isText) {
        if (character === '\\') this.#isEscaped = true
        else if (character === '"') this.#isText = false
      } else if (character === '"') this.#isText = true
      else if (character === '{' || character === '[') this.#depth += 1
      else if (character === '}' || character === ']') {
        this.#depth -= 1
        this.isComplete = this.#depth === 0
      }
    }
  }
}
