/**
 * Makes spans of ended calls: a span for the call, and below it a span for each attempt, by
 * OpenTelemetry's conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/), without prompts and answers.
 */
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  type IdGenerator,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
} from '@opentelemetry/sdk-trace'
import type { CallRecord } from '../core/call.ts'
import { DIALECTS, type DialectForm, type DialectId, formOfDialect } from '../core/dialects.ts'
import { toUsd } from '../core/money.ts'
import type {
  AttemptRecord,
  AttemptTrace,
  CallObserver,
  CallTrace,
  Refusal,
} from '../gateway/call-observer.ts'
import type { HeaderFields } from '../net/fields.ts'

export type ProviderNames = ReadonlyMap<string, string>

const OPERATIONS: Readonly<Record<DialectForm['id'], string>> = {
  chat: 'chat',
  fim: 'text_completion',
  embeddings: 'embeddings',
  count: 'count_tokens',
}

function operationOf(dialect: string): string {
  return Object.hasOwn(DIALECTS, dialect)
    ? OPERATIONS[formOfDialect(dialect as DialectId).id]
    : OPERATIONS.chat
}

export function modelOf(target: string): string {
  return target.slice(target.indexOf('/') + 1)
}

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

/** @param answer the upstream's facts of its answer */
function callAttributes(
  record: CallRecord,
  answer: AttemptRecord['answer'],
  names: ProviderNames,
): Attributes {
  const { target, firstByteMs, usage, cost, session } = record
  return {
    ...targetAttributes(record.dialect, target, names),
    ...answerAttributes(answer),
    ...(target === null || firstByteMs === null || answer?.model !== undefined
      ? {}
      : { 'gen_ai.response.model': modelOf(target) }),
    ...(session === undefined ? {} : { 'gen_ai.conversation.id': session }),
    ...(cost === undefined || cost.nanoUsd === null
      ? {}
      : {
          'gatehouse.cost.usd': toUsd(cost.nanoUsd),
          'gatehouse.cost.status': cost.status,
        }),
    ...(usage === null
      ? {}
      : {
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
          'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
          ...(usage.cacheWriteTokens === undefined
            ? {}
            : { 'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens }),
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

function answerAttributes(answer: AttemptRecord['answer']): Attributes {
  if (answer === undefined) return {}
  const { answerId, model, finishReasons } = answer
  return {
    ...(answerId === undefined ? {} : { 'gen_ai.response.id': shorten(answerId) }),
    ...(model === undefined ? {} : { 'gen_ai.response.model': shorten(model) }),
    ...(finishReasons === undefined
      ? {}
      : { 'gen_ai.response.finish_reasons': finishReasons.slice(0, 16).map(shorten) }),
  }
}

/** Upstreams decide the length of these texts. */
function shorten(text: string): string {
  return text.slice(0, 200)
}

/** One of the gateway's own kinds, because the conventions require few distinct values. */
export function errorAttributes({
  errorKind,
  outcome,
}: Pick<CallRecord, 'errorKind' | 'outcome'>): Attributes {
  if (outcome === 'succeeded') return {}
  return { 'error.type': errorKind ?? outcome }
}

interface CallTracerOptions {
  readonly tracer: Tracer
  readonly ids: PreparedIds
  readonly sampler: Sampler
  readonly providerNames: ProviderNames
}

export class CallTracer implements CallObserver {
  readonly #tracer: Tracer
  readonly #ids: PreparedIds
  readonly #sampler: Sampler
  readonly #names: ProviderNames

  constructor({ tracer, ids, sampler, providerNames }: CallTracerOptions) {
    this.#tracer = tracer
    this.#ids = ids
    this.#sampler = sampler
    this.#names = providerNames
  }

  begin(headers: HeaderFields): CallTrace {
    return new TracedCall(headers, this.#sampler)
  }

  finish(
    record: CallRecord,
    attempts: readonly AttemptRecord[],
    traced: CallTrace | undefined,
  ): void {
    if (!(traced instanceof TracedCall) || !traced.isSampled) return
    const endedAt = record.startedAt + record.durationMs
    const epochMs = epochOf(endedAt, performance.now())
    const span = this.#start(
      traced,
      `${operationOf(record.dialect)} ${record.gateId}`,
      record.startedAt,
    )
    const answered = attempts.findLast(({ answer }) => answer !== undefined)
    span.setAttributes(callAttributes(record, answered?.answer, this.#names))
    // A client that left is not an error.
    if (record.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
    const context = trace.setSpan(ROOT_CONTEXT, span)
    for (const attempt of attempts) {
      if (attempt.trace === undefined) continue
      const { target, begunAt, failedAt, status } = attempt
      this.#ids.spanId = attempt.trace.spanId
      const child = this.#tracer.startSpan(
        `${operationOf(record.dialect)} ${modelOf(target)}`,
        {
          kind: SpanKind.CLIENT,
          startTime: epochMs(begunAt),
          attributes: targetAttributes(record.dialect, target, this.#names),
        },
        context,
      )
      child.setAttributes(answerAttributes(attempt.answer))
      if (status !== null) child.setAttribute('http.response.status_code', status)
      if (failedAt !== null) {
        child.setAttribute('error.type', status === null ? 'no_answer' : String(status))
        child.setStatus({ code: SpanStatusCode.ERROR })
      }
      child.end(failedAt === null ? endedAt : epochMs(failedAt))
    }
    span.end(endedAt)
  }

  refuse(refusal: Refusal, traced: CallTrace | undefined): void {
    if (!(traced instanceof TracedCall) || !traced.isSampled) return
    const { dialect, kind, status, startedAt, durationMs } = refusal
    const span = this.#start(traced, operationOf(dialect), startedAt)
    span.setAttributes({
      'gen_ai.operation.name': operationOf(dialect),
      'http.response.status_code': status,
      'error.type': kind,
      'gatehouse.request_id': refusal.id,
      'gatehouse.dialect': dialect,
      'gatehouse.outcome': 'refused',
    })
    // The caller's own mistake is not a server error (semantic conventions for HTTP).
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(startedAt + durationMs)
  }

  #start(traced: TracedCall, name: string, startTime: number) {
    this.#ids.traceId = traced.traceId
    this.#ids.spanId = traced.spanId
    return this.#tracer.startSpan(name, { kind: SpanKind.SERVER, startTime }, traced.context)
  }
}

/**
 * Converts `performance.now()` times to epoch times, given one time on both clocks, because the
 * machine's clock may have been set.
 */
function epochOf(endedAt: number, endedOnScale: number): (at: number) => number {
  return (at) => endedAt + at - endedOnScale
}

const random = new RandomIdGenerator()

/**
 * Ids are created when a call arrives, because upstreams receive them; spans are created only when
 * a sampled call ends.
 */
export class TracedCall implements CallTrace {
  readonly traceId: string
  readonly spanId = random.generateSpanId()
  readonly isSampled: boolean
  readonly context: Context
  readonly #state: string | null

  constructor(headers: HeaderFields, sampler: Sampler) {
    const parent = parseParent(headers)
    this.traceId = parent?.traceId ?? random.generateTraceId()
    this.#state = parent === undefined ? null : headers.get('tracestate')
    this.context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = sampler.shouldSample(
      this.context,
      this.traceId,
      'call',
      SpanKind.SERVER,
      {},
      [],
    )
    this.isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED
  }

  beginAttempt(): AttemptTrace {
    const spanId = random.generateSpanId()
    const traceparent = `00-${this.traceId}-${spanId}-${this.isSampled ? '01' : '00'}`
    const headers =
      this.#state === null ? { traceparent } : { traceparent, tracestate: this.#state }
    return { spanId, headers }
  }
}

const PARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** @returns undefined when the caller sent no valid parent, so that a new trace begins */
function parseParent(headers: HeaderFields): SpanContext | undefined {
  const text = headers.get('traceparent')
  const match = text === null ? null : PARENT.exec(text.trim())
  if (match === null) return undefined
  const [, version, traceId, spanId, flags, more] = match
  // Only versions after 00 may have further fields.
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined))
    return undefined
  const traceFlags = Number.parseInt(flags ?? '0', 16) & TraceFlags.SAMPLED
  const state = headers.get('tracestate')
  return {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(state === null ? {} : { traceState: createTraceState(state) }),
  }
}

export class PreparedIds implements IdGenerator {
  traceId = ''
  spanId = ''

  generateTraceId(): string {
    return this.traceId
  }

  generateSpanId(): string {
    return this.spanId
  }
}
