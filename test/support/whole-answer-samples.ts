/** One call in each dialect that has no streams, and what becomes of its answer. */
import type { Usage } from './control-plane.ts'

export interface WholeAnswerRow {
  readonly dialect: string
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly answer: string
  readonly seen?: unknown
  /** `estimated`: its upstreams report none. */
  readonly usage: Usage | null | 'estimated'
}

const EMBEDDINGS = '/v1/embeddings'
const fields = { input: ['a', 'b'] }
const usage: Usage = { inputTokens: 11, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
const entry = (index: number, embedding: readonly number[]) => ({
  object: 'embedding',
  index,
  embedding,
})
const data = [entry(0, [0.5, -1]), entry(1, [0.25, 2])]

export const WHOLE_ANSWERS: readonly WholeAnswerRow[] = [
  {
    dialect: 'openai-embeddings',
    path: EMBEDDINGS,
    fields,
    answer: `{ "object":"list","data":${JSON.stringify(data)},"model":"e-1","usage":{"prompt_tokens":11,"total_tokens":11},"x_big":12345678901234567890}`,
    usage,
  },
  {
    dialect: 'mistral-embeddings',
    path: EMBEDDINGS,
    fields,
    answer: JSON.stringify({
      data: data.toReversed(),
      usage: { prompt_tokens: 11, total_tokens: 11 },
    }),
    seen: { object: 'list', data, usage: { prompt_tokens: 11, total_tokens: 11 } },
    usage,
  },
  {
    dialect: 'gemini-embed-contents',
    path: EMBEDDINGS,
    fields,
    answer: JSON.stringify({ embeddings: [{ values: [0.5, -1] }, { values: [0.25, 2] }] }),
    seen: { object: 'list', data, usage: { prompt_tokens: 0, total_tokens: 0 } },
    usage: 'estimated',
  },
  {
    dialect: 'cohere-embed',
    path: EMBEDDINGS,
    fields,
    answer: JSON.stringify({
      embeddings: {
        float: [
          [0.5, -1],
          [0.25, 2],
        ],
      },
      meta: { billed_units: { input_tokens: 11 } },
    }),
    seen: { object: 'list', data, usage: { prompt_tokens: 11, total_tokens: 11 } },
    usage,
  },
  {
    dialect: 'anthropic-count-tokens',
    path: '/v1/messages/count_tokens',
    fields: { messages: [{ role: 'user', content: 'Hi' }] },
    answer: '{ "input_tokens": 9, "x_big": 12345678901234567890 }',
    usage: null,
  },
]
