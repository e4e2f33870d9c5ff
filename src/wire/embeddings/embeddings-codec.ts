/**
 * How a request for embeddings is translated to an upstream that has its own form for it. Knows no
 * provider.
 */
import type { JsonRecord } from '../chat-request.ts'

export interface EmbeddingsRequest {
  readonly inputs: readonly string[]
  /** How many numbers a vector shall have; undefined: as many as the model likes. */
  readonly dimensions: number | undefined
  readonly encoding: 'float' | 'base64'
  readonly user: string | undefined
  /** Members that OpenAI's form does not have, as they were: each target takes those it knows. */
  readonly extra: JsonRecord
}

export interface EncodedEmbeddings {
  readonly body: JsonRecord
  /** Members of the caller's body that this target cannot take. */
  readonly ignored: readonly string[]
}

export interface EmbeddingsAnswer {
  /** One for each input, in their order. */
  readonly vectors: readonly (readonly number[])[]
  /** Null when the upstream does not say. */
  readonly inputTokens: number | null
}

export interface EmbeddingsCodec {
  readonly form: 'embeddings'
  /** The most inputs that the upstream takes in one call; absent: it limits their tokens alone. */
  readonly maxInputs?: number
  encodeRequest(request: EmbeddingsRequest, model: string): EncodedEmbeddings
  /** @throws UnreadableAnswerError */
  decodeAnswer(answer: JsonRecord): EmbeddingsAnswer
}
