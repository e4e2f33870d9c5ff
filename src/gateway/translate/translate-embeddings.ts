/** Translates an embeddings request for a target with another form, and the answer back. */
import { invalidRequest } from '../../core/errors.ts'
import type { Usage } from '../../core/usage.ts'
import { UnreadableAnswerError } from '../../wire/codec.ts'
import { type AcceptedRequest, noStream } from '../../wire/dialect.ts'
import {
  decodeEmbeddingsRequest,
  type EmbeddingsCodec,
  encodeEmbeddingsAnswer,
} from '../../wire/embeddings/index.ts'
import { unusableAnswer } from '../attempt/failures.ts'
import type { Target } from '../plan/compile-target.ts'
import { refuseIgnored, type TranslatedRequest } from './translate.ts'

export interface EmbeddingsTranslation {
  readonly accepted: AcceptedRequest
  readonly target: Target
  readonly codec: EmbeddingsCodec
  /** Set by `x-gatehouse-strict`: no member may be ignored. */
  readonly isStrict: boolean
}

export function translateEmbeddings(translation: EmbeddingsTranslation): TranslatedRequest {
  const { accepted, target, codec, isStrict } = translation
  const request = decodeEmbeddingsRequest(JSON.parse(decoder.decode(accepted.body.bytes)))
  assertTakesInputs(translation, request.inputs.length)
  const { body, ignored } = codec.encodeRequest(request, target.model)
  if (isStrict) refuseIgnored(target, ignored)
  return {
    body: Buffer.from(JSON.stringify(body)),
    ignored,
    createTap: noStream,
    convert(answer) {
      try {
        const decoded = codec.decodeAnswer(answer)
        return {
          json: encodeEmbeddingsAnswer(decoded, request, target.name),
          usage: toUsage(decoded.inputTokens),
        }
      } catch (thrown) {
        if (thrown instanceof UnreadableAnswerError)
          throw unusableAnswer(target.name, thrown.message)
        throw thrown
      }
    },
  }
}

/**
 * The provider's limit is checked first, because the provider's refusal may not name the reason.
 */
function assertTakesInputs({ codec, target }: EmbeddingsTranslation, count: number): void {
  const { maxInputs = count } = codec
  if (count <= maxInputs) return
  throw invalidRequest(
    `The target ${target.name} takes at most ${maxInputs} inputs per call, and this call has ${count}. Send them in several calls.`,
    'input',
  )
}

function toUsage(inputTokens: number | null): Usage | null {
  return inputTokens === null
    ? null
    : { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
}

const decoder = new TextDecoder()
