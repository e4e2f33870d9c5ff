/** Cohere's embeddings: reading, refusing, answering. Knows no HTTP. */

import { countTokens } from '../count-tokens.ts'
import { type Answer, answerOnce, type Dialect, type Exchange } from '../dialect.ts'
import { embedText, toBase64 } from '../embed-text.ts'
import { isObject, objectsOf, textOfContent } from '../json.ts'
import { badField } from '../refusal.ts'
import { cohereVendor } from './cohere-vendor.ts'

export const cohereEmbeddings: Dialect = { vendor: cohereVendor, answer }

const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering', 'image']
const DIMENSIONS = [256, 512, 1024, 1536]
const MAX_TEXTS = 96

function answer({ body, seed }: Exchange): Answer {
  if (typeof body.input_type !== 'string' || !INPUT_TYPES.includes(body.input_type))
    throw badField(
      `invalid request: input_type must be one of ${INPUT_TYPES.join(', ')} for this model.`,
      'input_type',
    )
  const texts = readTexts(body.texts, body.inputs)
  const dimensions = body.output_dimension ?? 1536
  if (typeof dimensions !== 'number' || !DIMENSIONS.includes(dimensions))
    throw badField(
      `invalid request: output_dimension must be one of ${DIMENSIONS.join(', ')}.`,
      'output_dimension',
    )
  const vectors = texts.map((text) => embedText(text, dimensions))
  const embeddings: Record<string, unknown> = {}
  for (const type of readTypes(body.embedding_types)) embeddings[type] = vectors.map(ENCODERS[type])
  const input_tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
  return answerOnce({
    id: seed.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
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
