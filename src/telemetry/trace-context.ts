/**
 * W3C's trace context (https://www.w3.org/TR/trace-context/): where a call's trace comes from and
 * how it goes on.
 */

import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import {
  type IdGenerator,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
} from '@opentelemetry/sdk-trace'
import type { AttemptTrace, CallTrace } from '../gateway/call-observer.ts'
import type { HeaderFields } from '../http/fields.ts'

const random = new RandomIdGenerator()

/**
 * Ids are made when a call comes in, because upstreams receive them; spans only when it is over, of
 * what is sampled.
 */
export class TracedCall implements CallTrace {
  readonly traceId: string
  readonly spanId = random.generateSpanId()
  readonly isSampled: boolean
  /** Holds the caller's span, where it named one. */
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

/**
 * @returns undefined where the caller sent none, or none that is valid: then a trace begins here
 */
function parseParent(headers: HeaderFields): SpanContext | undefined {
  const text = headers.get('traceparent')
  const match = text === null ? null : PARENT.exec(text.trim())
  if (match === null) return undefined
  const [, version, traceId, spanId, flags, more] = match
  // Only later versions may say more than this one.
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

/** Gives a span the id that was made for it before. */
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
