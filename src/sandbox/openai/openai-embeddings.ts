/** OpenAI's embeddings: reading, refusing, answering. Knows no HTTP. */
import { countTokens } from '../count-tokens.ts'
import { type Answer, answerOnce, type Dialect, type Exchange, modelInAnswer } from '../dialect.ts'
import { embedText, toBase64 } from '../embed-text.ts'
import { badField, missingField } from '../refusal.ts'
import { checkFields, type FieldTable, openaiVendor } from './openai-vendor.ts'

export const openaiEmbeddings: Dialect = { vendor: openaiVendor, answer }

const FIELDS: FieldTable = {
  dimensions: { least: 1, most: 3072, whole: true },
  encoding_format: 'string',
  input: 'any',
  model: 'string',
  user: 'string',
}
const MAX_INPUTS = 2048
const DEFAULT_DIMENSIONS = 1536

function answer({ body, model }: Exchange): Answer {
  if (model.base !== 'echo-lenient') checkFields(body, FIELDS)
  const inputs = readInputs(body.input)
  const format = body.encoding_format ?? 'float'
  if (format !== 'float' && format !== 'base64') {
    throw badField(
      `Invalid value: '${String(format)}'. Supported values are: 'float' and 'base64'.`,
      'encoding_format',
      'invalid_value',
    )
  }
  const dimensions = typeof body.dimensions === 'number' ? body.dimensions : DEFAULT_DIMENSIONS
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

/** A text, several, the tokens of one, or those of several. @throws Refusal 400. */
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
