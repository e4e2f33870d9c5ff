/** The embeddings of OpenAI, Cohere and Gemini. */
import { cohereVendor, toUuid } from './cohere/cohere-dialect.ts'
import { countTokens, embedText, toBase64 } from './count-tokens.ts'
import {
  type Answer,
  answerOnce,
  badField,
  type Dialect,
  type Exchange,
  missingField,
  modelInAnswer,
} from './dialect.ts'
import { geminiVendor } from './gemini/gemini-dialect.ts'
import { isObject, type JsonObject, objectsOf, textOfContent } from './json.ts'
import { checkFields, type FieldTable, openaiVendor } from './openai/openai-vendor.ts'

export const openaiEmbeddings: Dialect = { vendor: openaiVendor, answer: answerOpenai }

const OPENAI_FIELDS: FieldTable = {
  dimensions: { least: 1, most: 3072, whole: true },
  encoding_format: 'string',
  input: 'any',
  model: 'string',
  user: 'string',
}
const MAX_INPUTS = 2048
const OPENAI_DIMENSIONS = 1536

function answerOpenai({ body, model }: Exchange): Answer {
  if (model.base !== 'echo-lenient') checkFields(body, OPENAI_FIELDS)
  const inputs = readInputs(body.input)
  const format = body.encoding_format ?? 'float'
  if (format !== 'float' && format !== 'base64') {
    throw badField(
      `Invalid value: '${String(format)}'. Supported values are: 'float' and 'base64'.`,
      'encoding_format',
      'invalid_value',
    )
  }
  const dimensions = typeof body.dimensions === 'number' ? body.dimensions : OPENAI_DIMENSIONS
  const data = inputs.map(({ text }, index) => {
    const vector = embedText(text, dimensions)
    return {
      object: 'embedding',
      index,
      embedding: format === 'base64' ? toBase64(vector) : [...vector],
    }
  })
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return answerOnce({ object: 'list', data, model: modelInAnswer(model), usage })
}

interface Input {
  readonly text: string
  readonly tokens: number
}

function readInputs(input: unknown): Input[] {
  if (input === undefined || input === null) throw missingField('input')
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  if (inputs.length === 0 || inputs.length > MAX_INPUTS)
    throw badField(
      `Invalid 'input': expected 1 to ${MAX_INPUTS} inputs, but got ${inputs.length}.`,
      'input',
    )
  return inputs.map((each, index) => {
    if (typeof each === 'string' && each !== '') return { text: each, tokens: countTokens(each) }
    if (Array.isArray(each) && each.length > 0 && each.every((token) => Number.isInteger(token)))
      return { text: each.join(' '), tokens: each.length }
    const at = Array.isArray(input) ? `input[${index}]` : 'input'
    throw badField(
      `Invalid '${at}': expected a text or tokens, neither of them empty.`,
      'input',
      'invalid_type',
    )
  })
}

export const cohereEmbeddings: Dialect = { vendor: cohereVendor, answer: answerCohere }

const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering', 'image']
const COHERE_DIMENSIONS = [256, 512, 1024, 1536]
const MAX_TEXTS = 96

function answerCohere(exchange: Exchange): Answer {
  const { body } = exchange
  if (typeof body.input_type !== 'string' || !INPUT_TYPES.includes(body.input_type))
    throw badField(
      `invalid request: input_type must be one of ${INPUT_TYPES.join(', ')} for this model.`,
      'input_type',
    )
  const texts = readTexts(body.texts, body.inputs)
  const dimensions = body.output_dimension ?? 1536
  if (typeof dimensions !== 'number' || !COHERE_DIMENSIONS.includes(dimensions))
    throw badField(
      `invalid request: output_dimension must be one of ${COHERE_DIMENSIONS.join(', ')}.`,
      'output_dimension',
    )
  const vectors = texts.map((text) => embedText(text, dimensions))
  const embeddings: Record<string, unknown> = {}
  for (const type of readTypes(body.embedding_types)) embeddings[type] = vectors.map(ENCODERS[type])
  const input_tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
  return answerOnce({
    id: toUuid(exchange.seed),
    embeddings,
    texts,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens } },
    response_type: 'embeddings_by_type',
  })
}

const ENCODERS = {
  float: (vector: Float32Array): unknown => [...vector],
  base64: toBase64,
  int8: (vector: Float32Array): unknown => Array.from(vector, (value) => Math.round(value * 127)),
  uint8: (vector: Float32Array): unknown =>
    Array.from(vector, (value) => Math.round(value * 127) + 128),
}

function readTypes(types: unknown): (keyof typeof ENCODERS)[] {
  if (types === undefined || types === null) return ['float']
  const asked: readonly unknown[] = Array.isArray(types) ? types : []
  return asked.map((type) => {
    if (type === 'float' || type === 'base64' || type === 'int8' || type === 'uint8') return type
    throw badField(
      `invalid request: embedding_types must be of ${Object.keys(ENCODERS).join(', ')}.`,
      'embedding_types',
    )
  })
}

function readTexts(texts: unknown, inputs: unknown): string[] {
  const written: readonly unknown[] = Array.isArray(texts)
    ? texts
    : objectsOf(inputs).map((input) => (isObject(input) ? textOfContent(input.content) : undefined))
  const read = written.filter((text) => typeof text === 'string')
  if (read.length === 0 || read.length < written.length)
    throw badField('invalid request: valid texts must be provided.', 'texts')
  if (read.length > MAX_TEXTS)
    throw badField(`invalid request: at most ${MAX_TEXTS} texts can be given.`, 'texts')
  return read
}

const GEMINI_DIMENSIONS = 768
const MAX_BATCH = 100

export const geminiBatchEmbeddings: Dialect = {
  vendor: geminiVendor,
  answer({ body }) {
    const requests = objectsOf(body.requests)
    if (requests.length === 0)
      throw badField(
        '* BatchEmbedContentsRequest.requests: requests is not specified\n',
        'requests',
      )
    if (requests.length > MAX_BATCH)
      throw badField(
        `* BatchEmbedContentsRequest.requests: at most ${MAX_BATCH} ` +
          'requests can be in one batch\n',
        'requests',
      )
    return answerOnce({
      embeddings: requests.map((request, at) => embedContent(request, `requests[${at}].`)),
    })
  },
}

export const geminiEmbedding: Dialect = {
  vendor: geminiVendor,
  answer: ({ body }) => answerOnce({ embedding: embedContent(body, '') }),
}

function embedContent(request: JsonObject, at: string) {
  const text = isObject(request.content) ? textOfContent(request.content.parts) : ''
  if (text === '')
    throw badField(
      `* EmbedContentRequest.${at}content: content is empty or has no text\n`,
      'content',
    )
  const asked = request.outputDimensionality ?? request.output_dimensionality
  const dimensions =
    typeof asked === 'number' && asked >= 1 ? Math.min(asked, 3072) : GEMINI_DIMENSIONS
  return { values: [...embedText(text, dimensions)] }
}
