/** Cohere's `/v2/embed`. Source: https://docs.cohere.com/reference/embed */
import { isRecord, present } from '../read-json.ts'
import { type EmbeddingsCodec, readCount, readList, readVector } from './embeddings-codec.ts'

export const cohereEmbeddingsUpstreamCodec: EmbeddingsCodec = {
  form: 'embeddings',
  maxInputs: 96,

  encodeRequest({ inputs, dimensions, user, extra }, model) {
    // The purpose of the vectors is required there and unknown to OpenAI's form: what is stored
    // outnumbers what is asked.
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
