/**
 * Puts the blocks of a streamed answer one behind the other: a call whose pieces alternate with
 * those of another call waits until that other one is complete. Clients of some dialects take a
 * block that begins for the end of the one before it. The reason for the end is made to fit the
 * blocks. Knows no dialect.
 */
import { type ChatEvent, toFittingReason } from './chat-answer.ts'
import type { Step } from './codec.ts'

type CallEvent = Extract<ChatEvent, { readonly type: `tool-call-${string}` }>

interface Block {
  /** The number of a call; undefined: a run of text and reasoning. */
  readonly call: number | undefined
  /** Not yet passed on. */
  waiting: ChatEvent[]
  /** The upstream ended it. */
  hasEnded: boolean
  readonly json: JsonProgress
}

export class BlockSerialiser implements Step<ChatEvent, ChatEvent> {
  /** The first one is being passed on; the others wait. */
  readonly #queue: Block[] = []
  #hasCalls = false
  #hasCutCall = false
  /** Of further choices, by their index. */
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
        // Nearly every event ends here: it belongs to the text that is being passed on.
        if (this.#queue.length === 0) return [event]
        this.#textBlock().waiting.push(event)
        return this.#advance()
    }
  }

  /** Ends what is open and passes on what waits. */
  end(): readonly ChatEvent[] {
    for (const block of this.#queue) block.hasEnded = true
    return this.#advance()
  }

  /** An answer that breaks off within a call, and not at its token limit, is not whole. */
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
    // A call that was complete says no more.
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
        // Text that is the last block passes without a block of its own from now on.
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

/** Whether the pieces of a JSON object are all there: its last brace has come. */
class JsonProgress {
  #depth = 0
  #isText = false
  #isEscaped = false
  isComplete = false

  /** Something is open that more pieces would close. */
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
