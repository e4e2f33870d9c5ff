/**
 * Fill-in-the-middle by llama.cpp's `/infill`, whose server writes the model's tokens itself.
 * Pitfalls are in README.md.
 */
import type { Usage } from '../../core/usage.ts'
import type { ChatAnswer, ChatEvent, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { DEFAULT_MAX_TOKENS, type FimCodec, FimStream } from './fim-codec.ts'

export const infillUpstreamCodec: FimCodec = {
  form: 'fim',
  encodeRequest(request, { model }) {
    const {
      prompt,
      suffix,
      maxTokens = DEFAULT_MAX_TOKENS,
      temperature,
      topP,
      seed,
      stop,
      stream,
    } = request
    const settings = { temperature, top_p: topP, seed, stop: stop.length === 0 ? undefined : stop }
    return {
      body: {
        // For a server with several models; others ignore it.
        model,
        input_prefix: prompt,
        input_suffix: suffix,
        n_predict: maxTokens,
        ...(present(settings) as JsonRecord),
        ...(stream ? { stream: true } : {}),
      },
      ignored: request.unplaced,
    }
  },
  decodeAnswer(body): ChatAnswer {
    const text = textOf(body.content)
    if (text === undefined) {
      const error = isRecord(body.error) ? textOf(body.error.message) : undefined
      throw new UnreadableAnswerError(error ?? 'sent an answer without a completion')
    }
    return {
      content: [{ type: 'text', text }],
      finishReason: toFinishReason(body),
      usage: readInfillUsage(body),
      ...present({ model: textOf(body.model) }),
    }
  },
  createEventDecoder: () => new InfillDecoder(),
}

class InfillDecoder extends FimStream {
  #last: JsonRecord | undefined

  protected read(chunk: JsonRecord): readonly ChatEvent[] {
    const text = textOf(chunk.content) ?? ''
    const events = [
      ...this.begin(present({ model: textOf(chunk.model) })),
      ...(text === '' ? [] : [{ type: 'text-delta' as const, text }]),
    ]
    if (chunk.stop !== true) return events
    this.#last = chunk
    return [...events, ...this.finish(true)]
  }

  /** Only an explicit final event ends it. */
  protected close(): readonly ChatEvent[] | undefined {
    if (this.#last === undefined) return undefined
    const usage = readInfillUsage(this.#last)
    return [
      ...(usage === null ? [] : [{ type: 'usage' as const, usage }]),
      { type: 'finish', reason: toFinishReason(this.#last) },
    ]
  }
}

/** Older versions have a flag for each reason. */
function toFinishReason({ stop_type, stopped_limit, truncated }: JsonRecord): FinishReason {
  return stop_type === 'limit' || stopped_limit === true || truncated === true ? 'length' : 'stop'
}

/** `tokens_evaluated` is the whole prompt; `timings` shows how much was cached. */
function readInfillUsage({
  tokens_evaluated,
  tokens_predicted,
  timings,
}: JsonRecord): Usage | null {
  const timed = recordOf(timings)
  const cached = countOf(timed.cache_n) ?? 0
  const read = countOf(timed.prompt_n)
  const inputTokens = countOf(tokens_evaluated) ?? (read === undefined ? undefined : read + cached)
  const outputTokens = countOf(tokens_predicted) ?? countOf(timed.predicted_n)
  if (inputTokens === undefined || outputTokens === undefined) return null
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: Math.min(cached, inputTokens),
    reasoningTokens: 0,
  }
}

function countOf(value: JsonValue | undefined): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}
