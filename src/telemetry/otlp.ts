/**
 * Exports traces and metrics over OTLP/HTTP with OpenTelemetry's own packages, in batches outside
 * of calls. Slow to load, so import this file only when an endpoint is configured.
 */

import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { OtlpSettings } from '../config/telemetry-settings.ts'
import type { CallRecord } from '../core/call.ts'
import type { AttemptRecord, CallObserver } from '../gateway/call-observer.ts'
import {
  CallTracer,
  errorAttributes,
  modelOf,
  PreparedIds,
  type ProviderNames,
  targetAttributes,
} from './call-tracer.ts'
import type { Log } from './log.ts'

/** Time for the last batch: a silent collector must not delay a shutdown. */
const FAREWELL_MS = 3_000
const MAX_BATCH = 512
const SCOPE = 'gatehouse'

export interface OtlpOptions {
  readonly log: Log
  readonly version: string
  readonly providerNames: ProviderNames
}

export interface Otlp {
  readonly observers: readonly CallObserver[]
  close(): Promise<void>
}

export function startOtlp(settings: OtlpSettings, options: OtlpOptions): Otlp {
  const { version, providerNames } = options
  const report = createExportFailureReport(options.log)
  const resource = toResource(settings.serviceName, version)
  const observers: CallObserver[] = []
  const providers: { shutdown(): Promise<void> }[] = []
  if (settings.hasTraces) {
    const ids = new PreparedIds()
    const provider = createTracerProvider(settings, { resource, ids, report })
    const tracer = provider.getTracer(SCOPE, version)
    observers.push(new CallTracer({ tracer, ids, sampler: toSampler(settings), providerNames }))
    providers.push(provider)
  }
  if (settings.hasMetrics) {
    const provider = createMeterProvider(settings, { resource, report })
    observers.push(new CallMeter(provider.getMeter(SCOPE, version), providerNames))
    providers.push(provider)
  }
  return {
    observers,
    async close() {
      const ended = providers.map((provider) => provider.shutdown().catch(() => undefined))
      await Promise.race([Promise.all(ended), Bun.sleep(FAREWELL_MS)])
    },
  }
}

/** The operator's service attributes (OTEL_RESOURCE_ATTRIBUTES) override the gateway's. */
function toResource(serviceName: string, version: string): Resource {
  const own = resourceFromAttributes({ 'service.name': 'gatehouse', 'service.version': version })
  const told = detectResources({ detectors: [envDetector] })
  const resource = defaultResource().merge(own).merge(told)
  return serviceName === 'gatehouse'
    ? resource
    : resource.merge(resourceFromAttributes({ 'service.name': serviceName }))
}

interface TracerParts {
  readonly resource: Resource
  readonly ids: PreparedIds
  readonly report: ReportExportFailure
}

function createTracerProvider(
  settings: OtlpSettings,
  { resource, ids, report }: TracerParts,
): TracerProvider {
  const processor = new BatchSpanProcessor({
    exporter: watch(new OTLPTraceExporter(), (error) => report('traces', error)),
    maxQueueSize: settings.spanQueueSize,
    maxExportBatchSize: Math.min(MAX_BATCH, settings.spanQueueSize),
    scheduledDelayMillis: settings.spanDelayMs,
  })
  // Sampling was decided when the call arrived, because upstreams received the decision.
  return new TracerProvider({
    resource,
    idGenerator: ids,
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
  })
}

function createMeterProvider(
  settings: OtlpSettings,
  { resource, report }: Pick<TracerParts, 'resource' | 'report'>,
): MeterProvider {
  const reader = new PeriodicExportingMetricReader({
    exporter: watch(new OTLPMetricExporter(), (error) => report('metrics', error)),
    exportIntervalMillis: settings.metricIntervalMs,
    exportTimeoutMillis: Math.min(30_000, settings.metricIntervalMs),
  })
  return new MeterProvider({ resource, readers: [reader] })
}

function toSampler({ sampler, samplerRatio }: OtlpSettings): Sampler {
  const root = toRootSampler(sampler, samplerRatio)
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function toRootSampler(name: OtlpSettings['sampler'], ratio: number): Sampler {
  if (name.endsWith('traceidratio')) return new TraceIdRatioBasedSampler(ratio)
  return name.endsWith('always_off') ? new AlwaysOffSampler() : new AlwaysOnSampler()
}

interface Exporter<Items> {
  export(
    items: Items,
    done: (result: { readonly code: number; readonly error?: Error }) => void,
  ): void
}

/** Reports the exporter's failures without changing anything else. */
function watch<Items, E extends Exporter<Items>>(
  exporter: E & Exporter<Items>,
  onFailure: (error: Error | undefined) => void,
): E {
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) onFailure(result.error)
      done(result)
    })
  return exporter
}

// Failed exports are logged at most once a minute, so that an unavailable collector does not fill
// the log.

const QUIET_MS = 60_000

type ReportExportFailure = (signal: 'traces' | 'metrics', error: Error | undefined) => void

export function createExportFailureReport(
  log: Log,
  now: () => number = () => performance.now(),
): ReportExportFailure {
  let quietUntil = Number.NEGATIVE_INFINITY
  let failures = 0
  return (signal, error) => {
    failures += 1
    if (now() < quietUntil) return
    // Only the message: an HTTP client's error may contain the headers that it sent.
    log.warn(
      { signal, failures, reason: error?.message ?? 'unknown' },
      'telemetry could not be exported',
    )
    quietUntil = now() + QUIET_MS
    failures = 0
  }
}

// Bounds by https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/.
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const FIRST_CHUNK_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]
const CHUNK_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
]

export class CallMeter implements CallObserver {
  readonly #durations: Histogram
  readonly #tokens: Histogram
  readonly #firstChunks: Histogram
  readonly #chunks: Histogram
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
    this.#firstChunks = meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', {
      unit: 's',
      description: 'Time from the arrival of a streaming call to the first chunk from upstream.',
      advice: { explicitBucketBoundaries: FIRST_CHUNK_SECONDS },
    })
    this.#chunks = meter.createHistogram('gen_ai.client.operation.time_per_output_chunk', {
      unit: 's',
      description: 'Mean time between the chunks of a streamed answer, once per call.',
      advice: { explicitBucketBoundaries: CHUNK_SECONDS },
    })
  }

  begin(): undefined {}

  finish(record: CallRecord, attempts: readonly AttemptRecord[]): void {
    const { target, usage, dialect } = record
    // A call that asked no provider is not an operation.
    if (target === null) return
    const attributes: Attributes = targetAttributes(dialect, target, this.#names)
    if (record.firstByteMs !== null) attributes['gen_ai.response.model'] = modelOf(target)
    this.#durations.record(record.durationMs / 1000, { ...attributes, ...errorAttributes(record) })
    this.#addChunks(record, attempts, attributes)
    if (usage === null) return
    this.#addTokens(usage.inputTokens, { ...attributes, 'gen_ai.token.type': 'input' })
    this.#addTokens(usage.outputTokens, { ...attributes, 'gen_ai.token.type': 'output' })
  }

  refuse(): void {}

  #addChunks(
    { stream, firstByteMs, durationMs }: CallRecord,
    attempts: readonly AttemptRecord[],
    attributes: Attributes,
  ): void {
    if (!stream || firstByteMs === null) return
    this.#firstChunks.record(firstByteMs / 1000, attributes)
    const chunks = attempts.findLast(({ answer }) => answer !== undefined)?.answer?.chunks ?? 0
    if (chunks > 1)
      this.#chunks.record((durationMs - firstByteMs) / 1000 / (chunks - 1), attributes)
  }

  #addTokens(reported: number, attributes: Attributes): void {
    if (Number.isSafeInteger(reported) && reported >= 0) this.#tokens.record(reported, attributes)
  }
}
