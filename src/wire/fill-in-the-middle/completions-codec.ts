/**
 * Fill-in-the-middle by OpenAI's older completions (with a suffix member, or with the model's own
 * tokens in the prompt) and by llama.cpp's `/infill`. Pitfalls are in README.md.
 */
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import type { ChatAnswer, ChatEvent, FinishReason } from '../chat-answer.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { type FimTemplate, UnreadableAnswerError } from '../codec.ts'
import { toFinishReason } from '../openai-chat/upstream-answer.ts'
import { readChatCounts } from '../openai-chat/usage.ts'
import { isRecord, present, recordOf, textOf } from '../read-json.ts'
import { readUsage } from '../usage.ts'
import { DEFAULT_MAX_TOKENS, type FimCodec, type FimRequest, FimStream } from './fim-codec.ts'

interface Gap {
  readonly prompt: string
  readonly suffix: string
}

/**
 * Servers interpret such tokens anywhere in the prompt, so a text with a token would silently
 * change the request.
 * @throws GatewayError `invalid_request` naming the member that contains a token
 */
export function writeFimPrompt(template: FimTemplate, gap: Gap): string {
  const markers = markersOf(template)
  for (const member of ['prompt', 'suffix'] as const) {
    const found = markers.find((marker) => gap[member].includes(marker))
    if (found !== undefined) throw containsMarker(member, found)
  }
  const before = template.prefix + gap.prompt
  const after = template.suffix + gap.suffix
  return (template.order === 'prefix-first' ? before + after : after + before) + template.middle
}

function stopsOf(template: FimTemplate): readonly string[] {
  return [...template.stop, ...markersOf(template)]
}

function markersOf({ prefix, suffix, middle }: FimTemplate): readonly string[] {
  return [prefix, suffix, middle].map((marker) => marker.trim()).filter((marker) => marker !== '')
}

function containsMarker(member: keyof Gap, marker: string) {
  return invalidRequest(
    `'${member}' contains ${marker}, which separates the code before and after the cursor for the model of this target. ` +
      'Use a target whose server separates the two itself (/infill, /fim/completions).',
    member,
    'unsupported_content',
  )
}

export const completionsSuffixUpstreamCodec: FimCodec = {
  form: 'fim',
  encodeRequest: (request, { model }) => ({
    // Some servers treat an empty suffix as none and then answer the prompt like a chat message.
    body: encode(
      request,
      { model, prompt: request.prompt, suffix: request.suffix || '\n' },
      request.stop,
    ),
    ignored: request.unplaced,
  }),
  decodeAnswer,
  createEventDecoder: () => new CompletionsDecoder(),
}

export const completionsTemplateUpstreamCodec: FimCodec = {
  form: 'fim',
  encodeRequest(request, { model, traits }) {
    const { fimTemplate } = traits
    if (fimTemplate === undefined)
      throw new GatewayError(
        'internal_error',
        `No fill-in-the-middle template is known for ${model}.`,
      )
    const stop = [...new Set([...request.stop, ...stopsOf(fimTemplate)])]
    const prompt = writeFimPrompt(fimTemplate, request)
    // Stop tokens have no effect when special tokens are removed from the text.
    const body = encode(request, { model, prompt, skip_special_tokens: false }, stop)
    return { body, ignored: request.unplaced }
  },
  decodeAnswer,
  createEventDecoder: () => new CompletionsDecoder(),
}

function encode(request: FimRequest, members: JsonRecord, stop: readonly string[]): JsonRecord {
  const { maxTokens = DEFAULT_MAX_TOKENS, stream } = request
  return {
    ...members,
    max_tokens: maxTokens,
    ...encodeSampling(request, stop),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function encodeSampling(
  { temperature, topP, seed }: FimRequest,
  stop: readonly string[],
): JsonRecord {
  const stops = stop.length === 0 ? undefined : stop
  return present({ temperature, top_p: topP, seed, stop: stops }) as JsonRecord
}

function noCompletion({ error }: JsonRecord): UnreadableAnswerError {
  const message = textOf(recordOf(error).message)
  return new UnreadableAnswerError(message ?? 'sent an answer without a completion')
}

function decodeAnswer(body: JsonRecord): ChatAnswer {
  const [choice] = Array.isArray(body.choices) ? body.choices : []
  const text = isRecord(choice) ? textOf(choice.text) : undefined
  if (!isRecord(choice) || text === undefined) throw noCompletion(body)
  return {
    content: [{ type: 'text', text }],
    finishReason: toFinishReason(textOf(choice.finish_reason) ?? 'stop'),
    usage: readUsage(readChatCounts, body.usage, body.service_tier),
    ...headOf(body),
  }
}

class CompletionsDecoder extends FimStream {
  #finishReason: string | undefined
  #usage: Usage | null = null

  protected read(chunk: JsonRecord): readonly ChatEvent[] {
    this.#usage = readUsage(readChatCounts, chunk.usage, chunk.service_tier) ?? this.#usage
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
   * Some servers close without `[DONE]`, so a finish reason also completes the answer. Usage may
   * follow the finish reason.
   */
  protected close(isDone: boolean): readonly ChatEvent[] | undefined {
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

export const infillUpstreamCodec: FimCodec = {
  form: 'fim',
  encodeRequest(request, { model }) {
    const { prompt, suffix, maxTokens = DEFAULT_MAX_TOKENS, stop, stream } = request
    return {
      body: {
        model,
        input_prefix: prompt,
        input_suffix: suffix,
        n_predict: maxTokens,
        ...encodeSampling(request, stop),
        ...(stream ? { stream: true } : {}),
      },
      ignored: request.unplaced,
    }
  },
  decodeAnswer(body): ChatAnswer {
    const text = textOf(body.content)
    if (text === undefined) throw noCompletion(body)
    return {
      content: [{ type: 'text', text }],
      finishReason: infillFinishReason(body),
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

  /** Only an explicit final event completes the answer. */
  protected close(): readonly ChatEvent[] | undefined {
    if (this.#last === undefined) return undefined
    const usage = readInfillUsage(this.#last)
    return [
      ...(usage === null ? [] : [{ type: 'usage' as const, usage }]),
      { type: 'finish', reason: infillFinishReason(this.#last) },
    ]
  }
}

/** Older versions of the server have a flag for each finish reason. */
function infillFinishReason({ stop_type, stopped_limit, truncated }: JsonRecord): FinishReason {
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
