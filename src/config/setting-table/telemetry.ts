import {
  choice,
  count,
  defineSetting,
  milliseconds,
  port,
  secret,
  share,
  text,
} from '../setting-type.ts'

/** OpenTelemetry's names; the first is the default. */
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

export type SamplerName = (typeof SAMPLERS)[number]

const HOUR_MS = 3_600_000

export const telemetrySettings = {
  GATEHOUSE_METRICS_PORT: defineSetting(port, {
    without: 'none',
    sentence: 'separate port for the metrics; 0: any free port',
    note: '[Metrics](operations/watch.md#metrics)',
  }),
  GATEHOUSE_METRICS_HOST: defineSetting(text, {
    default: '127.0.0.1',
    sentence: 'address for that port',
  }),
  GATEHOUSE_METRICS_TOKEN: defineSetting(
    {
      ...secret,
      form: {
        accepts: (token) => /^[\x21-\x7e]+$/.test(token),
        is: 'printable ASCII without spaces',
      },
    },
    {
      without: 'none',
      sentence:
        'bearer token for reading the metrics; without a separate port they are at /metrics',
    },
  ),
  GATEHOUSE_METRICS_TAGS: defineSetting(
    { type: 'list', of: 'names of tags' },
    {
      without: 'none',
      sentence: 'tags whose values become labels of metrics, such as team,repo',
      note: '[Metrics by tag](operations/watch.md#metrics-by-tag)',
    },
  ),
  GATEHOUSE_ACCESS_LOG: defineSetting(choice(['off', 'on']), {
    default: 'off',
    sentence: 'on: one line on standard output for each finished call',
    note: '[Access log](operations/watch.md#access-log)',
  }),
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export const openTelemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: defineSetting(text, {
    without: 'nothing is sent',
    sentence: 'the collector, for traces and metrics: http://collector:4318',
    note: '[OpenTelemetry](operations/watch.md#opentelemetry)',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: defineSetting(text, {
    without: 'that of both',
    sentence: 'the whole address for traces: http://collector:4318/v1/traces',
  }),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: defineSetting(text, {
    without: 'that of both',
    sentence: 'the whole address for metrics: http://collector:4318/v1/metrics',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: defineSetting(text, {
    without: 'http/json',
    sentence:
      'http/json or http/protobuf: JSON is sent, which receivers of either take; grpc is refused',
  }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: defineSetting(text, {
    without: 'that of both',
    sentence: 'the same for traces',
  }),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: defineSetting(text, {
    without: 'that of both',
    sentence: 'the same for metrics',
  }),
  OTEL_SERVICE_NAME: defineSetting(text, {
    default: 'gatehouse',
    sentence: 'name of the service',
  }),
  OTEL_TRACES_SAMPLER: defineSetting(choice(SAMPLERS), {
    default: 'parentbased_always_on',
    sentence: 'which calls are traced',
  }),
  OTEL_TRACES_SAMPLER_ARG: defineSetting(share, {
    default: 1,
    sentence: 'the share of calls that a sampler by ratio traces',
  }),
  OTEL_BSP_SCHEDULE_DELAY: defineSetting(milliseconds(1, HOUR_MS), {
    default: 5_000,
    sentence: 'pause between two batches of spans',
  }),
  OTEL_BSP_MAX_QUEUE_SIZE: defineSetting(count(1, 1_000_000), {
    default: 2_048,
    sentence: 'maximum number of waiting spans',
  }),
  OTEL_METRIC_EXPORT_INTERVAL: defineSetting(milliseconds(1, HOUR_MS), {
    default: 60_000,
    sentence: 'pause between two exports of metrics',
  }),
  OTEL_TRACES_EXPORTER: defineSetting(text, {
    without: 'otlp',
    sentence: 'none: traces are not sent',
  }),
  OTEL_METRICS_EXPORTER: defineSetting(text, {
    without: 'otlp',
    sentence: 'none: metrics are not sent',
  }),
  OTEL_SDK_DISABLED: defineSetting(text, {
    without: 'false',
    sentence: 'true: neither traces nor metrics are sent',
  }),
}
