/**
 * Fill-in-the-middle by OpenAI's older completions: with a member for the suffix, or with the
 * model's own tokens in the prompt. Its traps are in README.md.
 */
import { GatewayError } from '../../core/errors.ts'
import type { ChatAnswer } from '../chat-answer.ts'
import type { JsonRecord } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { toFinishReason } from '../openai-chat/decode-upstream-answer.ts'
import { isRecord, present, textOf } from '../read-json.ts'
import { readUsage } from '../usage.ts'
import { CompletionsDecoder } from './decode-completions-events.ts'
import type { FimCodec } from './fim-codec.ts'
import { DEFAULT_MAX_TOKENS, type FimRequest } from './fim-request.ts'
import { stopsOf, writeFimPrompt } from './fim-template.ts'

export const completionsSuffixCodec: FimCodec = {
  encodeRequest: (request, { model }) => ({
    // An empty suffix is none to some servers, which then answer the prompt as they would answer a
    // person.
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

export const completionsTemplateCodec: FimCodec = {
  encodeRequest(request, { model, traits }) {
    const { fimTemplate } = traits
    if (fimTemplate === undefined)
      throw new GatewayError(
        'internal_error',
        `No fill-in-the-middle template is known for ${model}.`,
      )
    const stop = [...new Set([...request.stop, ...stopsOf(fimTemplate)])]
    const prompt = writeFimPrompt(fimTemplate, request)
    // Where such tokens are taken out of the text, nothing stops at them.
    const body = encode(request, { model, prompt, skip_special_tokens: false }, stop)
    return { body, ignored: request.unplaced }
  },
  decodeAnswer,
  createEventDecoder: () => new CompletionsDecoder(),
}

function encode(request: FimRequest, members: JsonRecord, stop: readonly string[]): JsonRecord {
  const { maxTokens = DEFAULT_MAX_TOKENS, temperature, topP, seed, stream } = request
  return {
    ...members,
    max_tokens: maxTokens,
    ...(present({
      temperature,
      top_p: topP,
      seed,
      stop: stop.length === 0 ? undefined : stop,
    }) as JsonRecord),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function decodeAnswer(body: JsonRecord): ChatAnswer {
  const [choice] = Array.isArray(body.choices) ? body.choices : []
  const text = isRecord(choice) ? textOf(choice.text) : undefined
  if (!isRecord(choice) || text === undefined) {
    const error = isRecord(body.error) ? textOf(body.error.message) : undefined
    throw new UnreadableAnswerError(error ?? 'sent an answer without a completion')
  }
  return {
    content: [{ type: 'text', text }],
    finishReason: toFinishReason(textOf(choice.finish_reason) ?? 'stop'),
    usage: readUsage('openai-chat', body.usage),
    ...present({
      id: textOf(body.id),
      model: textOf(body.model),
      createdAt: typeof body.created === 'number' ? body.created : undefined,
    }),
  }
}
