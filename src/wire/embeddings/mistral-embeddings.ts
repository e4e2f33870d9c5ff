/**
 * Mistral's `/v1/embeddings`: OpenAI's form with another name for the size. Source:
 * https://docs.mistral.ai/api/
 */
import { isRecord, present } from '../read-json.ts'
import { type EmbeddingsCodec, readCount, readList, readVector } from './embeddings-codec.ts'

export const mistralEmbeddingsUpstreamCodec: EmbeddingsCodec = {
  form: 'embeddings',
  encodeRequest({ inputs, dimensions, user, extra }, model) {
    return {
      body: { model, input: inputs, ...present({ output_dimension: dimensions }) },
      // It refuses members that it does not know.
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
