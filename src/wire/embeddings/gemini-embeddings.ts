/** Gemini's `batchEmbedContents`. Source: https://ai.google.dev/api/embeddings */
import { isRecord, present } from '../read-json.ts'
import { type EmbeddingsCodec, readCount, readList, readVector } from './embeddings-codec.ts'

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
    const usage = isRecord(answer.usageMetadata) ? answer.usageMetadata : {}
    return {
      vectors: readList(answer.embeddings).map((entry) =>
        readVector(isRecord(entry) ? entry.values : undefined),
      ),
      inputTokens: readCount(usage.promptTokenCount),
    }
  },
}
