/**
 * A call in the words of OpenTelemetry's conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/). Figures and names only: the conventions
 * know attributes for prompts and answers too, and none of those is here.
 */
import type { Attributes } from '@opentelemetry/api'
import type { CallRecord } from '../core/call.ts'
import { DIALECTS, type DialectForm, type DialectId, formOfDialect } from '../core/dialects.ts'

/** Provider id → its name in the conventions. */
export type ProviderNames = ReadonlyMap<string, string>

const OPERATIONS: Readonly<Record<DialectForm['id'], string>> = {
  chat: 'chat',
  fim: 'text_completion',
  embeddings: 'embeddings',
  count: 'count_tokens',
}

/** @param dialect of the caller */
export function operationOf(dialect: string): string {
  return Object.hasOwn(DIALECTS, dialect)
    ? OPERATIONS[formOfDialect(dialect as DialectId).id]
    : OPERATIONS.chat
}

/** @param target `provider/model` */
export function modelOf(target: string): string {
  return target.slice(target.indexOf('/') + 1)
}

/** The operation, its provider and its model. */
export function targetAttributes(
  dialect: string,
  target: string | null,
  names: ProviderNames,
): Attributes {
  const operation = { 'gen_ai.operation.name': operationOf(dialect) }
  if (target === null) return operation
  const providerId = target.slice(0, target.indexOf('/'))
  return {
    ...operation,
    'gen_ai.provider.name': names.get(providerId) ?? providerId,
    'gen_ai.request.model': modelOf(target),
  }
}

/** Of a whole call. Unknown values are left out. */
export function callAttributes(record: CallRecord, names: ProviderNames): Attributes {
  const { target, firstByteMs, usage } = record
  return {
    ...targetAttributes(record.dialect, target, names),
    ...(target === null || firstByteMs === null
      ? {}
      : { 'gen_ai.response.model': modelOf(target) }),
    ...(usage === null
      ? {}
      : {
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
          'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
        }),
    ...(firstByteMs === null || !record.stream
      ? {}
      : { 'gen_ai.response.time_to_first_chunk': firstByteMs / 1000 }),
    'http.response.status_code': record.status,
    'gatehouse.request_id': record.id,
    'gatehouse.gate': record.gateId,
    'gatehouse.dialect': record.dialect,
    'gen_ai.request.stream': record.stream,
    'gatehouse.outcome': record.outcome,
    'gatehouse.attempts': record.attempts,
    ...errorAttributes(record),
  }
}

/** Low in cardinality, as the conventions want it: one of our kinds. */
export function errorAttributes({
  errorKind,
  outcome,
}: Pick<CallRecord, 'errorKind' | 'outcome'>): Attributes {
  if (outcome === 'succeeded') return {}
  return { 'error.type': errorKind ?? outcome }
}
