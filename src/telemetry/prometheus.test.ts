/** The text that Prometheus reads. */
import { expect, test } from 'bun:test'
import { SecondsHistogram } from './call-counters.ts'
import { METRICS, type MetricName } from './metric-list.ts'
import { type ReadMetric, renderMetrics, type Sample } from './metrics.ts'

/** @returns the lines of one metric without its HELP */
function render(name: MetricName, samples: readonly Sample[]): readonly string[] {
  const names = Object.keys(METRICS) as MetricName[]
  const readers = Object.fromEntries(names.map((one) => [one, () => (one === name ? samples : [])]))
  const text = renderMetrics(readers as unknown as Record<MetricName, ReadMetric>)
  const block = text.split('\n\n').find((part) => part.startsWith(`# HELP ${name} `))
  return (block ?? '').trimEnd().split('\n').slice(1)
}

test('every metric has its help, its type and a line between it and the next', () => {
  const empty = Object.fromEntries(Object.keys(METRICS).map((name) => [name, () => []]))
  const text = renderMetrics(empty as unknown as Record<MetricName, ReadMetric>)
  expect(text.split('\n\n').length).toBe(Object.keys(METRICS).length)
  expect(text).toStartWith(
    '# HELP gatehouse_calls_total Ended calls, by the target that was asked last.\n# TYPE gatehouse_calls_total counter\n\n',
  )
  expect(text).toEndWith('\n')
})

test('samples with the same labels are one series', () => {
  const samples = [
    { labels: ['a'], value: 1 },
    { labels: ['b'], value: 2 },
    { labels: ['a'], value: 0.5 },
  ]
  expect(render('gatehouse_fallbacks_total', samples)).toEqual([
    '# TYPE gatehouse_fallbacks_total counter',
    'gatehouse_fallbacks_total{gate="a"} 1.5',
    'gatehouse_fallbacks_total{gate="b"} 2',
  ])
})

test('quotes, backslashes and line breaks in labels are escaped', () => {
  const [, line] = render('gatehouse_fallbacks_total', [{ labels: ['a"\\\n'], value: 1 }])
  expect(line).toBe(String.raw`gatehouse_fallbacks_total{gate="a\"\\\n"} 1`)
})

test('a metric without labels is 0 where nothing is known, one with labels is empty', () => {
  expect(render('gatehouse_redis_up', []).at(-1)).toBe('gatehouse_redis_up 0')
  expect(render('gatehouse_limits_mode', [])).toEqual(['# TYPE gatehouse_limits_mode gauge'])
})

test('what has no end is spelled as Prometheus does', () => {
  const samples = [{ labels: [], value: Number.POSITIVE_INFINITY }]
  expect(render('gatehouse_redis_up', samples).at(-1)).toBe('gatehouse_redis_up +Inf')
})

test('the buckets of a histogram add up', () => {
  const value = new SecondsHistogram()
  for (const ms of [3, 20, 70, 700_000]) value.addMs(ms)
  const lines = render('gatehouse_first_byte_seconds', [{ labels: ['a/b'], value }])
  expect(lines.slice(0, 5)).toEqual([
    '# TYPE gatehouse_first_byte_seconds histogram',
    'gatehouse_first_byte_seconds_bucket{le="0.01",target="a/b"} 1',
    'gatehouse_first_byte_seconds_bucket{le="0.025",target="a/b"} 2',
    'gatehouse_first_byte_seconds_bucket{le="0.05",target="a/b"} 2',
    'gatehouse_first_byte_seconds_bucket{le="0.1",target="a/b"} 3',
  ])
  expect(lines.slice(-4)).toEqual([
    'gatehouse_first_byte_seconds_bucket{le="600",target="a/b"} 3',
    'gatehouse_first_byte_seconds_bucket{le="+Inf",target="a/b"} 4',
    'gatehouse_first_byte_seconds_sum{target="a/b"} 700.093',
    'gatehouse_first_byte_seconds_count{target="a/b"} 4',
  ])
})
