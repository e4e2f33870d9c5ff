/**
 * Fills prom-client's registry when somebody asks, and at no other time. Costly to load: import it
 * when it is first needed.
 */
import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client'
import { SECONDS, type SecondsHistogram } from './histogram.ts'
import { METRICS, type Metric, type MetricName } from './metric-list.ts'
import type { ReadMetric, Sample } from './read-metrics.ts'

export interface Exposition {
  render(): Promise<string>
}

export function createExposition(readers: Record<MetricName, ReadMetric>): Exposition {
  const registry = new Registry()
  for (const [name, metric] of Object.entries(METRICS))
    register(registry, name, metric, readers[name as MetricName])
  return { render: () => registry.metrics() }
}

function register(
  registry: Registry,
  name: string,
  { type, labels, help }: Metric,
  read: ReadMetric,
): void {
  const configuration = { name, help: `${help}.`, labelNames: [...labels], registers: [registry] }
  switch (type) {
    case 'counter': {
      const counter: Counter = new Counter({
        ...configuration,
        collect: () => fill(counter, labels, read),
      })
      return
    }
    case 'gauge': {
      const gauge: Gauge = new Gauge({ ...configuration, collect: () => fill(gauge, labels, read) })
      return
    }
    case 'histogram':
      new CountedHistogram(configuration, read)
  }
}

/** A counter is set, too: it begins anew at each scrape and gets the whole sum. */
function fill(metric: Counter | Gauge, names: readonly string[], read: ReadMetric): void {
  metric.reset()
  // Without labels, reset leaves a zero, and what follows adds to it.
  for (const { labels, value } of read()) {
    if (typeof value === 'number') metric.inc(toLabels(names, labels), value)
  }
}

/**
 * prom-client's own takes one observation at a time; this one takes how many fell into each bucket.
 */
class CountedHistogram extends Histogram {
  readonly #configuration: {
    readonly name: string
    readonly help: string
    readonly labelNames: readonly string[]
  }
  readonly #read: ReadMetric

  constructor(
    configuration: { name: string; help: string; labelNames: string[]; registers: Registry[] },
    read: ReadMetric,
  ) {
    super({ ...configuration, buckets: [...SECONDS] })
    this.#configuration = configuration
    this.#read = read
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help, labelNames } = this.#configuration
    const values = [...this.#read()].flatMap((sample) => toBuckets(name, labelNames, sample))
    // The same as in the package's own get(); its type is an enum that exists at compile time only.
    const described: unknown = { name, help, type: 'histogram', values, aggregator: 'sum' }
    return described as MetricObjectWithValues<MetricValueWithName<string>>
  }

  /** The registry calls this one where it exists. */
  getForPromString() {
    return this.get()
  }
}

function toBuckets(name: string, names: readonly string[], { labels, value }: Sample) {
  if (typeof value === 'number') return []
  const own = toLabels(names, labels)
  return [
    ...toCumulative(value).map(([le, count]) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...own },
      value: count,
    })),
    { metricName: `${name}_sum`, labels: own, value: value.sum },
    { metricName: `${name}_count`, labels: own, value: value.count },
  ]
}

function toCumulative({
  counts,
  count,
}: SecondsHistogram): readonly (readonly [le: string, count: number])[] {
  let below = 0
  const bounded = SECONDS.map((bound, index) => {
    below += counts[index] ?? 0
    return [String(bound), below] as const
  })
  return [...bounded, ['+Inf', count]]
}

function toLabels(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}
