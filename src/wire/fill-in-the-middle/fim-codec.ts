/**
 * Fill-in-the-middle for upstreams with another form: the codec, the request in the gateway's own
 * terms, and the frame of a streamed completion.
 */
import type { ChatAnswer, ChatEvent } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import type { EncodeTarget, StreamDecoder } from '../codec.ts'
import { FIM_SETTINGS } from '../mistral-chat/settings.ts'
import { type At, asText, isRecord, member, optionalText, present, textOf } from '../read-json.ts'
import { decodeSettings } from '../settings.ts'
import type { SseFrame } from '../sse.ts'
import { SseDecoder } from '../sse-streams.ts'

interface EncodedFim {
  readonly body: JsonRecord
  readonly ignored: readonly string[]
}

export interface FimCodec {
  readonly form: 'fim'
  /** @throws GatewayError `invalid_request` when the target cannot express the request at all */
  encodeRequest(request: FimRequest, target: Pick<EncodeTarget, 'model' | 'traits'>): EncodedFim
  decodeAnswer(answer: JsonRecord): ChatAnswer
  createEventDecoder(): StreamDecoder
}

export interface FimRequest {
  readonly prompt: string
  /** The code after the cursor; may be empty. */
  readonly suffix: string
  readonly stream: boolean
  readonly stop: readonly string[]
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly seed?: number
  readonly unplaced: readonly string[]
}

const UNPLACED = ['metadata', 'prompt_cache_key']

/**
 * Tokens when the caller sets no limit. Without a limit, one server writes 16 tokens and others
 * fill their context.
 */
export const DEFAULT_MAX_TOKENS = 512

export function decodeFimRequest(body: JsonRecord): FimRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const at = (name: string) => member(root, name)
  const { maxOutputTokens, stop = [], ...settings } = decodeSettings(root, FIM_SETTINGS)
  return {
    prompt: asText(at('prompt')),
    suffix: optionalText(at('suffix')) ?? '',
    stream: body.stream === true,
    stop,
    ...settings,
    ...present({ maxTokens: maxOutputTokens }),
    unplaced: UNPLACED.filter((name) => at(name).value !== undefined),
  }
}

export abstract class FimStream extends SseDecoder {
  #hasBegun = false

  protected abstract read(chunk: JsonRecord): readonly ChatEvent[]
  /**
   * @param isDone the upstream has sent its end marker
   * @returns the last events, or undefined when the answer is incomplete
   */
  protected abstract close(isDone: boolean): readonly ChatEvent[] | undefined

  override end(): readonly ChatEvent[] {
    const events = super.end()
    return this.state === 'open' ? [...events, ...this.finish(false)] : events
  }

  /** Called once, before the first event of the answer itself. */
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
    this.state = 'complete'
    return [...this.begin({}), ...last]
  }

  protected override decodeOther(frame: SseFrame): readonly ChatEvent[] {
    return frame.data?.trim() === '[DONE]' ? this.finish(true) : super.decodeOther(frame)
  }

  protected decode(chunk: JsonRecord): readonly ChatEvent[] {
    const failure = failureOf(chunk)
    return failure === undefined ? this.read(chunk) : this.fail(failure)
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
