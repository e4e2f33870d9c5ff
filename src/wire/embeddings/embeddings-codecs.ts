/** Lists the forms of embeddings that calls can be translated to. Knows no provider. */
import type { DialectId } from '../dialect.ts'
import { cohereEmbeddingsCodec } from './cohere-embeddings.ts'
import type { EmbeddingsCodec } from './embeddings-codec.ts'
import { geminiEmbeddingsCodec } from './gemini-embeddings.ts'
import { mistralEmbeddingsCodec } from './mistral-embeddings.ts'

export const EMBEDDINGS_CODECS: Partial<Record<DialectId, EmbeddingsCodec>> = {
  'cohere-embed': cohereEmbeddingsCodec,
  'gemini-embed-contents': geminiEmbeddingsCodec,
  'mistral-embeddings': mistralEmbeddingsCodec,
}
