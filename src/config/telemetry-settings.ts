/** Settings of metrics, traces and the access log from the environment: ours, and OpenTelemetry's standard variables. */
import { Secret } from '../core/secret.ts'
import {
  type MetricsSettings,
  type OtlpSettings,
  SAMPLERS,
  type SamplerName,
  type TelemetrySettings,
} from '../core/telemetry-settings.ts'
import { type Environment, SettingsError } from './environment.ts'

export const TELEMETRY_VARIABLES = {
  GATEHOUSE_METRICS_PORT: 'port of their own for the metrics; 0 takes any free one',
  GATEHOUSE_METRICS_HOST: 'address for that port (127.0.0.1)',
  GATEHOUSE_METRICS_TOKEN:
    'bearer token of whoever may read the metrics; without a port they are at /metrics',
  GATEHOUSE_ACCESS_LOG: 'on: one line on standard output for each finished call (off)',
} as const

/** @throws SettingsError naming the variable that is wrong; a token or a header is never repeated */
export function readTelemetrySettings(environment: Environment): TelemetrySettings {
  return {
    metrics: readMetricsSettings(environment),
    hasAccessLog: readChoice(environment, 'GATEHOUSE_ACCESS_LOG', ['off', 'on'] as const) === 'on',
    otlp: readOtlpSettings(environment),
  }
}

function readMetricsSettings(environment: Environment): MetricsSettings | undefined {
  const text = environment.GATEHOUSE_METRICS_PORT || undefined
  const token = environment.GATEHOUSE_METRICS_TOKEN || undefined
  if (text === undefined && token === undefined) return undefined
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new SettingsError('GATEHOUSE_METRICS_TOKEN must be printable ASCII without spaces.')
  return {
    port:
      text === undefined
        ? undefined
        : readInteger(environment, 'GATEHOUSE_METRICS_PORT', 0, 0, 65_535),
    host: environment.GATEHOUSE_METRICS_HOST || '127.0.0.1',
    token: token === undefined ? undefined : new Secret(token),
  }
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function readOtlpSettings(environment: Environment): OtlpSettings | undefined {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  const hasTraces = isExported(environment, 'TRACES')
  const hasMetrics = isExported(environment, 'METRICS')
  if (!hasTraces && !hasMetrics) return undefined
  // An unknown sampler, or what is no share, is an error here and not a silent default: the bill for traces depends on it.
  const sampler: SamplerName = readChoice(environment, 'OTEL_TRACES_SAMPLER', SAMPLERS)
  return {
    hasTraces,
    hasMetrics,
    serviceName: environment.OTEL_SERVICE_NAME || 'gatehouse',
    sampler,
    samplerRatio: readShare(environment, 'OTEL_TRACES_SAMPLER_ARG'),
    spanDelayMs: readInteger(environment, 'OTEL_BSP_SCHEDULE_DELAY', 5_000, 1, 3_600_000),
    spanQueueSize: readInteger(environment, 'OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1, 1_000_000),
    metricIntervalMs: readInteger(environment, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000, 1, 3_600_000),
  }
}

function isExported(environment: Environment, signal: 'TRACES' | 'METRICS'): boolean {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT']
  const name = names.find((candidate) => environment[candidate])
  if (name === undefined || environment[`OTEL_${signal}_EXPORTER`] === 'none') return false
  const address = URL.parse(environment[name] ?? '')
  // An address may carry a password.
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:')
    throw new SettingsError(`${name} must be an address that begins with http:// or https://.`)
  for (const protocol of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const value = environment[protocol]
    // A receiver of OTLP over HTTP takes JSON and protobuf at one address; gRPC has another.
    if (value === 'grpc')
      throw new SettingsError(`${protocol} must be http/json or http/protobuf, but is 'grpc'.`)
  }
  return true
}

function readInteger(
  environment: Environment,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new SettingsError(
      `${name} must be a whole number from ${min} to ${max}, but is '${text}'.`,
    )
  return value
}

function readShare(environment: Environment, name: string): number {
  const text = environment[name]
  if (text === undefined || text === '') return 1
  const value = Number(text)
  if (!/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) || value > 1)
    throw new SettingsError(`${name} must be a number from 0 to 1, but is '${text}'.`)
  return value
}

/** The first is the default. */
function readChoice<T extends string>(
  environment: Environment,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const text = environment[name]
  if (text === undefined || text === '') return choices[0]
  const choice = choices.find((candidate) => candidate === text)
  if (choice === undefined)
    throw new SettingsError(`${name} must be one of ${choices.join(', ')}, but is '${text}'.`)
  return choice
}
