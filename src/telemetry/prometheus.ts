/**
 * Writes the metrics in Prometheus' text format:
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
import { SECONDS, type SecondsHistogram } from './histogram.ts'
import { METRICS, type MetricName } from './metric-list.ts'
import type { ReadMetric, Sample } from './read-metrics.ts'

export function renderMetrics(readers: Record<MetricName, ReadMetric>): string {
  const metrics = Object.entries(METRICS).map(([name, { type, labels, help }]) => {
    const samples = readers[name as MetricName]()
    const series = type === 'histogram' ? toBuckets : toSeries
    return [
      `# HELP ${name} ${escapeText(help)}.`,
      `# TYPE ${name} ${type}`,
      ...series(name, labels, samples),
    ].join('\n')
  })
  return `${metrics.join('\n\n')}\n`
}

/** Samples with the same labels are one series, and a metric without labels is never absent. */
function toSeries(name: string, names: readonly string[], samples: Iterable<Sample>): string[] {
  const sums = new Map(names.length === 0 ? [['', 0]] : [])
  for (const { labels, value } of samples) {
    if (typeof value !== 'number') continue
    const own = toLabels(names, labels)
    sums.set(own, (sums.get(own) ?? 0) + value)
  }
  return [...sums].map(([own, sum]) => toLine(name, own, sum))
}

function toBuckets(name: string, names: readonly string[], samples: Iterable<Sample>): string[] {
  return [...samples].flatMap(({ labels, value }) => {
    if (typeof value === 'number') return []
    const own = toLabels(names, labels)
    const counts = toCumulative(value).map(([bound, count]) =>
      toLine(`${name}_bucket`, own === '' ? `le="${bound}"` : `le="${bound}",${own}`, count),
    )
    return [
      ...counts,
      toLine(`${name}_sum`, own, value.sum),
      toLine(`${name}_count`, own, value.count),
    ]
  })
}

function toCumulative({
  counts,
  count,
}: SecondsHistogram): readonly (readonly [bound: string, count: number])[] {
  let below = 0
  const bounded = SECONDS.map((bound, index) => {
    below += counts[index] ?? 0
    return [String(bound), below] as const
  })
  return [...bounded, ['+Inf', count]]
}

function toLine(name: string, labels: string, value: number): string {
  const figure = value === Number.POSITIVE_INFINITY ? '+Inf' : value
  return `${name}${labels === '' ? '' : `{${labels}}`} ${figure}`
}

function toLabels(names: readonly string[], values: readonly string[]): string {
  return names
    .map((name, index) => `${name}="${escapeText(values[index] ?? '').replaceAll('"', '\\"')}"`)
    .join(',')
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
