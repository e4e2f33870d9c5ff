/**
 * Embeddings in OpenAI's form for upstreams that have another: the codec of each, and the steps that
 * they share. Pure. Knows no provider.
 */
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import {
  type At,
  asList,
  asText,
  invalidAt,
  member,
  optionalNumber,
  optionalText,
} from '../read-json.ts'

export interface EmbeddingsRequest {
  readonly inputs: readonly string[]
  /** How many numbers a vector shall have; undefined: as many as the model likes. */
  readonly dimensions: number | undefined
  readonly encoding: 'float' | 'base64'
  readonly user: string | undefined
  /** Members that OpenAI's form does not have, as they were: each target takes those it knows. */
  readonly extra: JsonRecord
}

interface EncodedEmbeddings {
  readonly body: JsonRecord
  /** Members of the caller's body that this target cannot take. */
  readonly ignored: readonly string[]
}

interface EmbeddingsAnswer {
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

/** @throws UnreadableAnswerError when it is no list of numbers */
export function readVector(value: JsonValue | undefined): readonly number[] {
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    !value.every((entry) => typeof entry === 'number')
  )
    throw new UnreadableAnswerError('sent an embedding that is not a list of numbers')
  return value
}

/** @throws UnreadableAnswerError when there is no list of entries */
export function readList(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new UnreadableAnswerError('sent an answer without embeddings')
  return value
}

export function readCount(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const READ = new Set(['gate_id', 'model', 'input', 'dimensions', 'encoding_format', 'user'])

/** @throws GatewayError `invalid_request` naming the path of what is wrong */
export function decodeEmbeddingsRequest(body: JsonRecord): EmbeddingsRequest {
  const root: At<JsonRecord> = { value: body, path: '' }
  const format = member(root, 'encoding_format')
  const encoding = optionalText(format) ?? 'float'
  if (encoding !== 'float' && encoding !== 'base64')
    throw invalidAt(format, "must be 'float' or 'base64'.")
  const unknown = Object.entries(body).filter(([name, value]) => !READ.has(name) && value !== null)
  return {
    inputs: decodeInputs(member(root, 'input')),
    dimensions: optionalNumber(member(root, 'dimensions')),
    encoding,
    user: optionalText(member(root, 'user')),
    extra: Object.fromEntries(unknown),
  }
}

/** Tokens are one vendor's own numbers: only text means the same everywhere. */
function decodeInputs(input: At): string[] {
  if (typeof input.value === 'string') return [input.value]
  const entries = asList(input)
  if (entries.length === 0) throw invalidAt(input, 'must not be empty.')
  for (const entry of entries) {
    if (typeof entry.value === 'number' || Array.isArray(entry.value))
      throw invalidAt(
        entry,
        'holds tokens, which the target of this gate does not take: send text.',
      )
  }
  return entries.map(asText)
}

/** @throws UnreadableAnswerError when there is not one vector for each input */
export function encodeEmbeddingsAnswer(
  answer: EmbeddingsAnswer,
  request: EmbeddingsRequest,
  target: string,
): JsonRecord {
  if (answer.vectors.length !== request.inputs.length)
    throw new UnreadableAnswerError(
      `sent ${answer.vectors.length} embeddings for ${request.inputs.length} inputs`,
    )
  // Clients read the member without asking: an upstream that reports none counts as 0.
  const inputTokens = answer.inputTokens ?? 0
  return {
    object: 'list',
    data: answer.vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encodeVector(vector, request.encoding),
    })),
    model: target,
    usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
  }
}

/**
 * OpenAI's base64 is of 32-bit floats, least byte first; its SDKs ask for it unless told otherwise.
 */
function encodeVector(vector: readonly number[], encoding: 'float' | 'base64'): JsonValue {
  if (encoding === 'float') return vector
  const bytes = Buffer.alloc(vector.length * 4)
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4)
  })
  return bytes.toString('base64')
}
