/**
 * Gemini's `batchEmbedContents` and `embedContent`: reading, refusing, answering. Knows no HTTP.
 */
import { answerOnce, type Dialect } from '../dialect.ts'
import { embedText } from '../embed-text.ts'
import { isObject, type JsonObject, objectsOf, textOfContent } from '../json.ts'
import { badField } from '../refusal.ts'
import { geminiVendor } from './gemini-vendor.ts'

const DEFAULT_DIMENSIONS = 768
const MAX_REQUESTS = 100

export const geminiBatchEmbeddings: Dialect = {
  vendor: geminiVendor,
  answer({ body }) {
    const requests = objectsOf(body.requests)
    if (requests.length === 0)
      throw badField(
        '* BatchEmbedContentsRequest.requests: requests is not specified\n',
        'requests',
      )
    if (requests.length > MAX_REQUESTS)
      throw badField(
        `* BatchEmbedContentsRequest.requests: at most ${MAX_REQUESTS} ` +
          'requests can be in one batch\n',
        'requests',
      )
    return answerOnce({
      embeddings: requests.map((request, at) => embed(request, `requests[${at}].`)),
    })
  },
}

export const geminiEmbedding: Dialect = {
  vendor: geminiVendor,
  answer: ({ body }) => answerOnce({ embedding: embed(body, '') }),
}

function embed(request: JsonObject, at: string) {
  const text = isObject(request.content) ? textOfContent(request.content.parts) : ''
  if (text === '')
    throw badField(
      `* EmbedContentRequest.${at}content: content is empty or has no text\n`,
      'content',
    )
  const asked = request.outputDimensionality ?? request.output_dimensionality
  const dimensions =
    typeof asked === 'number' && asked >= 1 ? Math.min(asked, 3072) : DEFAULT_DIMENSIONS
  return { values: [...embedText(text, dimensions)] }
}
