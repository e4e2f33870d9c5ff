/**
 * OpenAI's embeddings endpoint, and the codecs for upstreams with another form (Cohere, Gemini,
 * Mistral).
 */
import type { Usage } from '../../core/usage.ts'
import type { JsonRecord, JsonValue } from '../chat-request.ts'
import { UnreadableAnswerError } from '../codec.ts'
import { type AcceptedRequest, noStream, type RelayedDialect } from '../dialect.ts'
import { OPENAI_HEADERS } from '../header-lists.ts'
import { editJson, type JsonObject } from '../json-splice.ts'
import {
  type At,
  asList,
  asText,
  invalidAt,
  isRecord,
  member,
  optionalNumber,
  optionalText,
  present,
  recordOf,
} from '../read-json.ts'
import { checkFieldTypes, editModel, readGate, requireField } from '../request-fields.ts'
import { withReportedCost } from '../usage.ts'

export interface EmbeddingsRequest {
  readonly inputs: readonly string[]
  readonly dimensions: number | undefined
  readonly encoding: 'float' | 'base64'
  readonly user: string | undefined
  /** Members that OpenAI's form lacks, unchanged. Each target takes the members that it knows. */
  readonly extra: JsonRecord
}

interface EncodedEmbeddings {
  readonly body: JsonRecord
  readonly ignored: readonly string[]
}

interface EmbeddingsAnswer {
  readonly vectors: readonly (readonly number[])[]
  readonly inputTokens: number | null
}

export interface EmbeddingsCodec {
  readonly form: 'embeddings'
  /** The maximum number of inputs per call; undefined: the upstream limits only tokens. */
  readonly maxInputs?: number
  encodeRequest(request: EmbeddingsRequest, model: string): EncodedEmbeddings
  decodeAnswer(answer: JsonRecord): EmbeddingsAnswer
}

function readVector(value: JsonValue | undefined): readonly number[] {
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    !value.every((entry) => typeof entry === 'number')
  )
    throw new UnreadableAnswerError('sent an embedding that is not a list of numbers')
  return value
}

function readList(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new UnreadableAnswerError('sent an answer without embeddings')
  return value
}

function readCount(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const READ = new Set(['gate_id', 'model', 'input', 'dimensions', 'encoding_format', 'user'])

/** @throws GatewayError `invalid_request` naming the path of the error */
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

/** Tokens are specific to a provider, so only text is accepted. */
function decodeInputs(input: At): string[] {
  if (typeof input.value === 'string') return [input.value]
  const entries = asList(input)
  if (entries.length === 0) throw invalidAt(input, 'must not be empty.')
  for (const entry of entries) {
    if (typeof entry.value === 'number' || Array.isArray(entry.value))
      throw invalidAt(
        entry,
        'contains tokens, which the target of this gate does not accept: send text.',
      )
  }
  return entries.map(asText)
}

export function encodeEmbeddingsAnswer(
  answer: EmbeddingsAnswer,
  request: EmbeddingsRequest,
  target: string,
): JsonRecord {
  if (answer.vectors.length !== request.inputs.length)
    throw new UnreadableAnswerError(
      `sent ${answer.vectors.length} embeddings for ${request.inputs.length} inputs`,
    )
  // Clients read the member without a check, so unreported counts as 0.
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

/** OpenAI's base64 contains little-endian 32-bit floats; its SDKs request base64 by default. */
function encodeVector(vector: readonly number[], encoding: 'float' | 'base64'): JsonValue {
  if (encoding === 'float') return vector
  const bytes = Buffer.alloc(vector.length * 4)
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4)
  })
  return bytes.toString('base64')
}

/** `/v2/embed`: https://docs.cohere.com/reference/embed */
export const cohereEmbeddingsUpstreamCodec: EmbeddingsCodec = {
  form: 'embeddings',
  maxInputs: 96,

  encodeRequest({ inputs, dimensions, user, extra }, model) {
    // Cohere requires the vectors' purpose, which OpenAI's form lacks. Documents are more frequent
    // than queries.
    const { input_type: inputType = 'search_document', truncate, ...unknown } = extra
    return {
      body: {
        model,
        texts: inputs,
        input_type: inputType,
        embedding_types: ['float'],
        ...present({ output_dimension: dimensions, truncate }),
      },
      ignored: [...(user === undefined ? [] : ['user']), ...Object.keys(unknown)],
    }
  },

  decodeAnswer(answer) {
    const { embeddings, meta } = answer
    const billed = isRecord(meta) && isRecord(meta.billed_units) ? meta.billed_units : {}
    return {
      vectors: readList(isRecord(embeddings) ? embeddings.float : undefined).map((entry) =>
        readVector(entry),
      ),
      inputTokens: readCount(billed.input_tokens),
    }
  },
}

/** `batchEmbedContents`: https://ai.google.dev/api/embeddings */
export const geminiEmbeddingsUpstreamCodec: EmbeddingsCodec = {
  form: 'embeddings',
  maxInputs: 100,

  encodeRequest({ inputs, dimensions, user, extra }, model) {
    const { task_type: taskType, ...unknown } = extra
    const shared = present({ outputDimensionality: dimensions, taskType })
    return {
      body: {
        requests: inputs.map((text) => ({
          model: `models/${model}`,
          content: { parts: [{ text }] },
          ...shared,
        })),
      },
      ignored: [...(user === undefined ? [] : ['user']), ...Object.keys(unknown)],
    }
  },

  decodeAnswer(answer) {
    const usage = recordOf(answer.usageMetadata)
    return {
      vectors: readList(answer.embeddings).map((entry) =>
        readVector(isRecord(entry) ? entry.values : undefined),
      ),
      inputTokens: readCount(usage.promptTokenCount),
    }
  },
}

/** OpenAI's form with another name for the size: https://docs.mistral.ai/api/ */
export const mistralEmbeddingsUpstreamCodec: EmbeddingsCodec = {
  form: 'embeddings',
  encodeRequest({ inputs, dimensions, user, extra }, model) {
    return {
      body: { model, input: inputs, ...present({ output_dimension: dimensions }) },
      // Mistral refuses unknown members.
      ignored: [...(user === undefined ? [] : ['user']), ...Object.keys(extra)],
    }
  },

  decodeAnswer(answer) {
    const entries = readList(answer.data).filter(isRecord)
    const indexOf = (entry: (typeof entries)[number]) => readCount(entry.index) ?? 0
    return {
      vectors: entries
        .toSorted((a, b) => indexOf(a) - indexOf(b))
        .map((entry) => readVector(entry.embedding)),
      inputTokens: isRecord(answer.usage) ? readCount(answer.usage.prompt_tokens) : null,
    }
  },
}

export const openaiEmbeddings: RelayedDialect = {
  id: 'openai-embeddings',
  envelope: 'nested',
  headers: OPENAI_HEADERS,
  accept,
  rewrite: ({ body }, target) => ({
    body: editJson(body, editModel(body, target.model)),
    hidesUsage: false,
  }),
  isAnswer: ({ data }) => Array.isArray(data),
  readUsage: (answer) => readEmbeddingsUsage(answer.usage),
  createTap: noStream,
}

const FIELD_TYPES = {
  input: ['string', 'array'],
  encoding_format: ['string'],
  dimensions: ['number'],
  user: ['string'],
} as const

function accept(body: JsonObject): AcceptedRequest {
  checkFieldTypes(body, FIELD_TYPES)
  const gate = readGate(body)
  requireField(body, 'input')
  return { body, gateId: gate.gateId, stream: false, ignored: gate.ignored }
}

/** Some providers report only `total_tokens`; embeddings use only input. */
function readEmbeddingsUsage(reported: unknown): Usage | null {
  if (!isRecord(reported)) return null
  const inputTokens = reported.prompt_tokens ?? reported.total_tokens
  if (typeof inputTokens !== 'number' || !Number.isSafeInteger(inputTokens) || inputTokens < 0)
    return null
  const usage = { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
  return withReportedCost(usage, reported)
}
