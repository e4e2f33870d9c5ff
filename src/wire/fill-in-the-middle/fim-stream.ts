/**
 * The parts that streams of completions share: framing, the beginning, failures, the end. Knows
 * no server's members.
 */
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { garbledEvent, isRecord, parseRecord, textOf } from '../read-json.ts'
import { type SseFrame, SseFramer } from '../sse.ts'

export interface FrameReader {
  read(chunk: JsonRecord): readonly ChatEvent[]
  /**
   * @param isDone the upstream has said so
   * @returns the last events, or undefined when the answer is not whole
   */
  close(isDone: boolean): readonly ChatEvent[] | undefined
}

export abstract class FimStream implements FrameReader {
  readonly #framer = new SseFramer()
  #hasBegun = false
  #isOver = false
  #isComplete = false

  abstract read(chunk: JsonRecord): readonly ChatEvent[]
  abstract close(isDone: boolean): readonly ChatEvent[] | undefined

  push(bytes: Uint8Array): readonly ChatEvent[] {
    return this.#framer.push(bytes).flatMap((frame) => this.#decode(frame))
  }

  end(): readonly ChatEvent[] {
    const events = this.#framer.end().flatMap((frame) => this.#decode(frame))
    return this.#isOver ? events : [...events, ...this.finish(false)]
  }

  isComplete(): boolean {
    return this.#isComplete
  }

  /** Once, before the first event of the answer itself. */
  protected begin(
    head: Omit<Extract<ChatEvent, { readonly type: 'start' }>, 'type'>,
  ): readonly ChatEvent[] {
    if (this.#hasBegun) return []
    this.#hasBegun = true
    return [{ type: 'start', ...head }]
  }

  protected finish(isDone: boolean): readonly ChatEvent[] {
    const last = this.close(isDone)
    if (last === undefined) return []
    this.#isOver = true
    this.#isComplete = true
    return [...this.begin({}), ...last]
  }

  #decode({ data }: SseFrame): readonly ChatEvent[] {
    if (this.#isOver || data === undefined) return []
    if (data.trim() === '[DONE]') return this.finish(true)
    const chunk = parseRecord(data)
    if (chunk === undefined) {
      const garbled = garbledEvent(data)
      this.#isOver = garbled.length > 0
      return garbled
    }
    const failure = failureOf(chunk)
    if (failure === undefined) return this.read(chunk)
    this.#isOver = true
    return [{ type: 'error', message: failure }]
  }
}

function failureOf(chunk: JsonRecord): string | undefined {
  const { error } = chunk
  if (typeof error === 'string') return error
  if (isRecord(error)) return messageOf(error.message)
  return chunk.object === 'error' ? messageOf(chunk.message) : undefined
}

function messageOf(message: JsonValue | undefined): string {
  return textOf(message) ?? (isRecord(message) ? JSON.stringify(message) : 'no message')
}
