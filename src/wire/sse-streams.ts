/**
 * The steps that streams of server-sent events share. Taps pass whole events on unchanged and hold
 * the last event; decoders read each event as a JSON object.
 */
import { GatewayError } from '../core/errors.ts'
import type { ChatEvent } from './chat-answer.ts'
import type { JsonRecord } from './chat-request.ts'
import type { StreamDecoder } from './codec.ts'
import type { TapOutput, TapVerdict } from './dialect.ts'
import { toLatin1 } from './latin1.ts'
import { parseRecord, present } from './read-json.ts'
import { type SseFrame, SseFramer, SseText } from './sse.ts'

export const SECOND_ANSWER = 'The upstream started a second answer in the same stream.'

export abstract class SseDecoder implements StreamDecoder {
  readonly #framer = new SseFramer()
  /** Reading stops when the state is no longer `open`. */
  protected state: TapVerdict = 'open'

  protected abstract decode(event: JsonRecord, frame: SseFrame): readonly ChatEvent[]

  push(chunk: Uint8Array): readonly ChatEvent[] {
    return this.#framer.push(chunk).flatMap((frame) => this.#read(frame))
  }

  end(): readonly ChatEvent[] {
    return this.#framer.end().flatMap((frame) => this.#read(frame))
  }

  isComplete(): boolean {
    return this.state === 'complete'
  }

  #read(frame: SseFrame): readonly ChatEvent[] {
    if (this.state !== 'open') return []
    const event = parseRecord(frame.data)
    return event === undefined ? this.decodeOther(frame) : this.decode(event, frame)
  }

  /** An event that is not a JSON object breaks the stream, unless it is empty. */
  protected decodeOther({ data }: Pick<SseFrame, 'data' | 'event'>): readonly ChatEvent[] {
    if (data === undefined || data.trim() === '') return []
    return this.fail('The upstream sent an event that is not valid JSON.')
  }

  protected fail(message: string, code?: string): readonly ChatEvent[] {
    this.state = 'failed'
    return [{ type: 'error', message, ...present({ code }) }]
  }
}

export interface SeenFrame {
  /** Replaces the event's own text, one character per byte; empty: the event is hidden. */
  readonly text: string
  readonly isTerminal: boolean
}

export abstract class SseRelay {
  readonly #framer = new SseFramer()
  #isFirst = true
  #now = ''
  #held = ''
  /** A second answer has begun, so nothing more is shown or counted. */
  #isBroken = false
  verdict: TapVerdict = 'open'
  unreportedBytes = 0
  chunks = 0
  reportedError: string | null = null
  reportedKind: string | undefined

  protected abstract see(frame: SseText): SeenFrame

  abstract encodeFailure(error: GatewayError): Uint8Array

  push(chunk: Uint8Array, from = 0, to = chunk.length): TapOutput {
    if (!this.#framer.isBetweenFrames || to - from > LARGEST_TEXT)
      return this.#pushBytes(chunk.subarray(from, to))
    const text = toLatin1(chunk, from, to)
    // Nearly every chunk contains only whole events with plain line ends. Other chunks need the
    // framer.
    if (!text.endsWith(BLANK_LINE) || text.includes('\r'))
      return this.#pushBytes(chunk.subarray(from, to))
    for (let at = 0; at < text.length; ) {
      const end = text.startsWith('\n', at) ? at + 1 : text.indexOf(BLANK_LINE, at) + 2
      this.#relay(text.slice(at, end))
      at = end
    }
    return this.#take()
  }

  /**
   * A last event without its blank line was cut off. A client could take it as complete, so it is
   * not sent.
   */
  end(): TapOutput {
    for (const { raw } of this.#framer.end()) this.#relay(toLatin1(raw))
    // Some servers omit the line end of the end marker, so the marker counts without it.
    return toLatin1(this.#framer.pending).trim() === 'data: [DONE]'
      ? this.#pushBytes(TWO_LINE_ENDS)
      : this.#take()
  }

  #pushBytes(chunk: Uint8Array): TapOutput {
    for (const { raw } of this.#framer.push(chunk)) this.#relay(toLatin1(raw))
    return this.#take()
  }

  #relay(text: string): void {
    // Bytes that follow the last event wait with that event.
    if (this.#held !== '' || this.verdict === 'complete') {
      this.#held += text
      return
    }
    if (this.#isBroken) return
    this.chunks += 1
    const seen = this.see(new SseText(text, this.#isFirst))
    this.#isFirst = false
    if (seen.isTerminal) this.#held += seen.text
    else this.#now += seen.text
  }

  protected breakOff(): SeenFrame {
    const isReported = this.verdict === 'failed'
    const failure = new GatewayError('upstream_error', SECOND_ANSWER)
    const text = isReported ? '' : toLatin1(this.encodeFailure(failure))
    this.#isBroken = true
    this.verdict = 'failed'
    return { text, isTerminal: false }
  }

  #take(): TapOutput {
    const output = { now: this.#now, held: this.#held }
    this.#now = ''
    this.#held = ''
    return output
  }

  /** True if bytes of an unfinished event are waiting: a stream that closes now is incomplete. */
  protected hasHalfEvent(): boolean {
    return this.#framer.pending.some((byte) => byte !== NEWLINE && byte !== CARRIAGE_RETURN)
  }
}

/** Larger chunks go through the framer, which checks the size of events. */
const LARGEST_TEXT = 1024 * 1024
const BLANK_LINE = '\n\n'
const TWO_LINE_ENDS = Buffer.from(BLANK_LINE)
const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
