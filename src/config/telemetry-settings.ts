/**
 * Settings of metrics, traces and the access log from the environment: the gateway's own, and
 * OpenTelemetry's standard variables.
 */
import type { Secret } from '../core/secret.ts'
import { readGiven, readSetting } from './read-setting.ts'
import type { SamplerName } from './setting-table/telemetry.ts'
import { type Environment, SettingsError } from './setting-type.ts'

export interface TelemetrySettings {
  readonly metrics: MetricsSettings | undefined
  readonly hasAccessLog: boolean
  readonly otlp: OtlpSettings | undefined
}

interface MetricsSettings {
  readonly port: number | undefined
  readonly host: string
  /** Undefined only when the metrics have their own port. */
  readonly token: Secret | undefined
  /** Names of tags whose values become labels. */
  readonly tags: readonly string[]
}

/** OpenTelemetry's exporters read addresses, headers and timeouts from their own variables. */
export interface OtlpSettings {
  readonly hasTraces: boolean
  readonly hasMetrics: boolean
  readonly serviceName: string
  readonly sampler: SamplerName
  /**
   * Share of new traces to sample, from 0 to 1; applies to samplers with a name that ends in
   * `traceidratio`.
   */
  readonly samplerRatio: number
  readonly spanDelayMs: number
  readonly spanQueueSize: number
  readonly metricIntervalMs: number
}

export function readTelemetrySettings(environment: Environment): TelemetrySettings {
  return {
    metrics: readMetricsSettings(environment),
    hasAccessLog: readSetting(environment, 'GATEHOUSE_ACCESS_LOG') === 'on',
    otlp: readOtlpSettings(environment),
  }
}

function readMetricsSettings(environment: Environment): MetricsSettings | undefined {
  const token = readGiven(environment, 'GATEHOUSE_METRICS_TOKEN')
  const port = readGiven(environment, 'GATEHOUSE_METRICS_PORT')
  if (port === undefined && token === undefined) return undefined
  return {
    port,
    host: readSetting(environment, 'GATEHOUSE_METRICS_HOST'),
    token,
    tags: readGiven(environment, 'GATEHOUSE_METRICS_TAGS') ?? [],
  }
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function readOtlpSettings(environment: Environment): OtlpSettings | undefined {
  if (readGiven(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const hasTraces = isExported(environment, 'TRACES')
  const hasMetrics = isExported(environment, 'METRICS')
  if (!hasTraces && !hasMetrics) return undefined
  for (const signal of ['', ...(hasTraces ? ['TRACES_'] : []), ...(hasMetrics ? ['METRICS_'] : [])])
    checkHeaders(environment, `OTEL_EXPORTER_OTLP_${signal}HEADERS`)
  // An unknown sampler or an invalid ratio is an error, because the cost of traces depends on it.
  const sampler = readSetting(environment, 'OTEL_TRACES_SAMPLER')
  return {
    hasTraces,
    hasMetrics,
    serviceName: readSetting(environment, 'OTEL_SERVICE_NAME'),
    sampler,
    samplerRatio: readSetting(environment, 'OTEL_TRACES_SAMPLER_ARG'),
    spanDelayMs: readSetting(environment, 'OTEL_BSP_SCHEDULE_DELAY'),
    spanQueueSize: readSetting(environment, 'OTEL_BSP_MAX_QUEUE_SIZE'),
    metricIntervalMs: readSetting(environment, 'OTEL_METRIC_EXPORT_INTERVAL'),
  }
}

/**
 * The exporter ignores an invalid entry, and the receiver then refuses everything for lack of a
 * credential. No message repeats an entry, which may be that credential.
 */
function checkHeaders(environment: Environment, name: string): void {
  const entries = (environment[name] ?? '').split(',').map((entry) => entry.trim())
  const wrong = entries.findIndex((entry) => entry !== '' && !isHeader(entry))
  if (wrong === -1) return
  throw new SettingsError(
    `${name} must be name=value, separated by commas, with % , and ; in a value percent-encoded, ` +
      `but entry ${wrong + 1} of ${entries.length} is not and would not be sent.`,
  )
}

function isHeader(entry: string): boolean {
  const [pair = ''] = entry.split(';')
  const at = pair.indexOf('=')
  if (at < 1 || pair.slice(at + 1).trim() === '') return false
  try {
    return decodeURIComponent(pair) !== ''
  } catch {
    return false
  }
}

function isExported(environment: Environment, signal: 'TRACES' | 'METRICS'): boolean {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const
  const name = names.find((candidate) => readGiven(environment, candidate) !== undefined)
  if (name === undefined || readGiven(environment, `OTEL_${signal}_EXPORTER`) === 'none')
    return false
  const address = URL.parse(readGiven(environment, name) ?? '')
  // The message does not repeat the address, which may contain a password.
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:')
    throw new SettingsError(`${name} must be an address that begins with http:// or https://.`)
  const protocols = [
    `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`,
    'OTEL_EXPORTER_OTLP_PROTOCOL',
  ] as const
  for (const protocol of protocols) {
    // A receiver of OTLP over HTTP accepts JSON and protobuf at the same address; gRPC uses another
    // address.
    if (readGiven(environment, protocol) === 'grpc')
      throw new SettingsError(`${protocol} must be http/json or http/protobuf, but is 'grpc'.`)
  }
  return true
}
