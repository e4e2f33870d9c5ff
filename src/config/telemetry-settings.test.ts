import { describe, expect, test } from 'bun:test'
import { readSettings } from './settings.ts'
import { readTelemetrySettings } from './telemetry-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

test('everything is off by default', () => {
  expect(readTelemetrySettings({})).toEqual({
    metrics: undefined,
    hasAccessLog: false,
    otlp: undefined,
  })
  expect(
    readTelemetrySettings({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }).otlp,
  ).toBeUndefined()
})

test('a token alone puts the metrics on the main port, a port puts them on that', () => {
  expect(readTelemetrySettings({ GATEHOUSE_METRICS_TOKEN: 't' }).metrics).toMatchObject({
    port: undefined,
  })
  expect(readTelemetrySettings({ GATEHOUSE_METRICS_PORT: '0' }).metrics).toEqual({
    port: 0,
    host: '127.0.0.1',
    token: undefined,
    tags: [],
  })
})

test('tags become labels only where they are named', () => {
  const environment = { GATEHOUSE_METRICS_PORT: '0', GATEHOUSE_METRICS_TAGS: 'team, repo' }
  expect(readTelemetrySettings(environment).metrics?.tags).toEqual(['team', 'repo'])
})

describe('OTLP', () => {
  test.each([
    [
      ENDPOINT,
      { hasTraces: true, hasMetrics: true, sampler: 'parentbased_always_on', samplerRatio: 1 },
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/v1/traces' },
      { hasTraces: true, hasMetrics: false },
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
      { hasTraces: false, hasMetrics: true },
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '.25' },
      { sampler: 'traceidratio', samplerRatio: 0.25 },
    ],
  ])('%p', (environment, expected) => {
    expect(readTelemetrySettings(environment).otlp).toMatchObject(expected)
  })

  test.each([
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  ])('switched off by %p', (environment) => {
    expect(readTelemetrySettings(environment).otlp).toBeUndefined()
  })
})

describe('headers of OTLP', () => {
  const read = (name: string, given: string) =>
    readTelemetrySettings({ ...ENDPOINT, [name]: given })

  test.each(['canary', 'a=1,canary', '=canary', 'canary=', 'a=%canary'])(
    'that the exporter would leave out are refused by name and not repeated: %p',
    (given) => {
      for (const signal of ['', 'TRACES_', 'METRICS_']) {
        const name = `OTEL_EXPORTER_OTLP_${signal}HEADERS`
        expect(() => read(name, given)).toThrow(
          expect.objectContaining({
            message: expect.stringMatching(new RegExp(`^(?!.*canary)${name} must be name=value`)),
          }),
        )
      }
    },
  )

  test.each(['', 'a=1', ' a = 1 , b=2 ,', 'authorization=Basic%20Zm9v==', 'a=1;b'])(
    'that it sends are taken: %p',
    (given) => {
      expect(read('OTEL_EXPORTER_OTLP_HEADERS', given).otlp).toBeDefined()
    },
  )
})

describe('refused, naming the variable', () => {
  test.each([
    [{ GATEHOUSE_METRICS_PORT: '70000' }, 'GATEHOUSE_METRICS_PORT'],
    [{ GATEHOUSE_METRICS_TOKEN: 'two words' }, 'GATEHOUSE_METRICS_TOKEN'],
    [{ GATEHOUSE_ACCESS_LOG: 'yes' }, 'GATEHOUSE_ACCESS_LOG'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    [{ ...ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: 'soon' }, 'OTEL_BSP_SCHEDULE_DELAY'],
  ])('%p', (environment, name) => {
    expect(() => readSettings(environment)).toThrow(name)
  })

  test('and never repeating a possible secret', () => {
    const attempt = (environment: Record<string, string>) => () =>
      readTelemetrySettings(environment)
    expect(attempt({ GATEHOUSE_METRICS_TOKEN: 'hush hush' })).toThrow(/^(?!.*hush)/)
    expect(attempt({ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://user:hush@c' })).toThrow(/^(?!.*hush)/)
  })
})
