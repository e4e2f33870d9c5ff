/** A stream of OpenAI's older completions in the gateway's own events. */
import type { Usage } from '../../core/usage.ts'
import type { ChatEvent } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import type { StreamDecoder } from '../codec.ts'
import { toFinishReason } from '../openai-chat/decode-upstream-answer.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { readUsage } from '../usage.ts'
import { FimStream, type FrameReader } from './fim-stream.ts'

export class CompletionsDecoder extends FimStream implements StreamDecoder, FrameReader {
  #finishReason: string | undefined
  #usage: Usage | null = null

  read(chunk: JsonRecord): readonly ChatEvent[] {
    this.#usage = readUsage('openai-chat', chunk.usage) ?? this.#usage
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
    if (!isRecord(choice)) return []
    this.#finishReason = textOf(choice.finish_reason) ?? this.#finishReason
    const text = textOf(choice.text) ?? ''
    return [
      ...this.begin(headOf(chunk)),
      ...(text === '' ? [] : [{ type: 'text-delta' as const, text }]),
    ]
  }

  /**
   * Some close without `[DONE]`; a finish reason says that nothing is missing. Usage may follow it.
   */
  close(isDone: boolean): readonly ChatEvent[] | undefined {
    if (!isDone && this.#finishReason === undefined) return undefined
    return [
      ...(this.#usage === null ? [] : [{ type: 'usage' as const, usage: this.#usage }]),
      { type: 'finish', reason: toFinishReason(this.#finishReason ?? 'stop') },
    ]
  }
}

function headOf(chunk: JsonRecord) {
  const createdAt = typeof chunk.created === 'number' ? chunk.created : undefined
  return present({ id: textOf(chunk.id), model: textOf(chunk.model), createdAt })
}
