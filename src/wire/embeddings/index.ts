/**
 * OpenAI's embeddings endpoint, for relay and translation. Must not know which providers use it.
 */
import type { Usage } from '../../core/usage.ts'
import { type AcceptedRequest, noStream, type RelayedDialect } from '../dialect.ts'
import { OPENAI_HEADERS } from '../header-lists.ts'
import { editJson, type JsonObject } from '../json-splice.ts'
import { isRecord } from '../read-json.ts'
import { checkFieldTypes, editModel, readGate, requireField } from '../request-fields.ts'
import { withReportedCost } from '../usage.ts'

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

/** Some report only `total_tokens`; embeddings use only input. */
function readEmbeddingsUsage(reported: unknown): Usage | null {
  if (!isRecord(reported)) return null
  const inputTokens = reported.prompt_tokens ?? reported.total_tokens
  if (typeof inputTokens !== 'number' || !Number.isSafeInteger(inputTokens) || inputTokens < 0)
    return null
  const usage = { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
  return withReportedCost(usage, reported)
}
