/**
 * The operator's choice of what the gateway reports of its work, and where. Must not know how
 * reports are sent.
 */
import type { Secret } from './secret.ts'

export interface TelemetrySettings {
  /** Undefined: there is no `/metrics` anywhere. */
  readonly metrics: MetricsSettings | undefined
  /** One line for each finished call and control-plane request. */
  readonly hasAccessLog: boolean
  /** Undefined: nothing is exported. */
  readonly otlp: OtlpSettings | undefined
}

export interface MetricsSettings {
  /** Undefined: on the gateway's own listener. */
  readonly port: number | undefined
  readonly host: string
  /** Undefined only where the metrics have a port of their own. */
  readonly token: Secret | undefined
}

/**
 * The addresses, headers and timeouts themselves are read by OpenTelemetry's own exporters, from
 * their own variables.
 */
export interface OtlpSettings {
  readonly hasTraces: boolean
  readonly hasMetrics: boolean
  readonly serviceName: string
  readonly sampler: SamplerName
  /**
   * Share of new traces that is kept, from 0 to 1; counts for the samplers whose names end in
   * `traceidratio`.
   */
  readonly samplerRatio: number
  readonly spanDelayMs: number
  readonly spanQueueSize: number
  readonly metricIntervalMs: number
}

/** As OpenTelemetry names them; the first is its default. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

export type SamplerName = (typeof SAMPLERS)[number]
