/**
 * The two metrics that OpenTelemetry's conventions for generative AI name. Must not know where they
 * go.
 */
import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import type { CallRecord } from '../core/call.ts'
import type { CallObserver } from '../gateway/call-observer.ts'
import {
  errorAttributes,
  modelOf,
  type ProviderNames,
  targetAttributes,
} from './genai-attributes.ts'

// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ gives the bounds.
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
]

export class CallMeter implements CallObserver {
  readonly #durations: Histogram
  readonly #tokens: Histogram
  readonly #names: ProviderNames

  constructor(meter: Meter, providerNames: ProviderNames) {
    this.#names = providerNames
    this.#durations = meter.createHistogram('gen_ai.client.operation.duration', {
      unit: 's',
      description: 'Time from the arrival of a call to the end of its answer.',
      advice: { explicitBucketBoundaries: SECONDS },
    })
    this.#tokens = meter.createHistogram('gen_ai.client.token.usage', {
      unit: '{token}',
      description: 'Tokens of a call as the provider reported them.',
      advice: { explicitBucketBoundaries: TOKENS },
    })
  }

  begin(): undefined {}

  finish(record: CallRecord): void {
    const { target, usage, dialect } = record
    // A call that asked no provider is no operation of one.
    if (target === null) return
    const attributes: Attributes = targetAttributes(dialect, target, this.#names)
    if (record.firstByteMs !== null) attributes['gen_ai.response.model'] = modelOf(target)
    this.#durations.record(record.durationMs / 1000, { ...attributes, ...errorAttributes(record) })
    if (usage === null) return
    this.#addTokens(usage.inputTokens, { ...attributes, 'gen_ai.token.type': 'input' })
    this.#addTokens(usage.outputTokens, { ...attributes, 'gen_ai.token.type': 'output' })
  }

  refuse(): void {}

  #addTokens(reported: number, attributes: Attributes): void {
    if (Number.isSafeInteger(reported) && reported >= 0) this.#tokens.record(reported, attributes)
  }
}
