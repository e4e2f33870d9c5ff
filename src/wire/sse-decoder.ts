/**
 * The steps that the decoders of upstreams' event streams share: frames in, one JSON object each, and
 * the end or the failure of the stream. Knows no dialect's events.
 */
import type { ChatEvent } from './chat-answer.ts'
import type { JsonRecord } from './chat-request.ts'
import type { StreamDecoder } from './codec.ts'
import type { TapVerdict } from './dialect.ts'
import { parseRecord, present } from './read-json.ts'
import { type SseFrame, SseFramer } from './sse.ts'

export const SECOND_ANSWER = 'The upstream began a second answer in the same stream.'

export abstract class SseDecoder implements StreamDecoder {
  readonly #framer = new SseFramer()
  /** Once it is not `open`, nothing more is read. */
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

  /** An event that is no JSON object breaks the stream, unless it is empty. */
  protected decodeOther({ data }: Pick<SseFrame, 'data' | 'event'>): readonly ChatEvent[] {
    if (data === undefined || data.trim() === '') return []
    return this.fail('The upstream sent an event that is not valid JSON.')
  }

  protected fail(message: string, code?: string): readonly ChatEvent[] {
    this.state = 'failed'
    return [{ type: 'error', message, ...present({ code }) }]
  }
}
