/** An OTLP collector over HTTP that keeps what it receives as JSON. */
import { pollUntil } from './poll-until.ts'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code: number }
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface ReceivedPoint {
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly count: number
  readonly sum: number
}

export interface OtlpReceiver {
  readonly url: string
  text(): string
  headers(): readonly Headers[]
  spans(): readonly ReceivedSpan[]
  points(): readonly ReceivedPoint[]
  resource(): Readonly<Record<string, unknown>>
  waitForSpans(count: number): Promise<readonly ReceivedSpan[]>
  stop(): Promise<void>
}

interface Pair {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

export function startOtlpReceiver(): OtlpReceiver {
  const bodies: { readonly path: string; readonly text: string }[] = []
  const headers: Headers[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      headers.push(request.headers)
      bodies.push({ path: new URL(request.url).pathname, text: await request.text() })
      return Response.json({})
    },
  })
  const parsed = (path: string) =>
    bodies.filter((body) => body.path === path).map(({ text }) => JSON.parse(text))
  const spans = (): readonly ReceivedSpan[] =>
    parsed('/v1/traces').flatMap((body) =>
      body.resourceSpans.flatMap(
        (resource: { scopeSpans: { spans: (ReceivedSpan & { attributes: Pair[] })[] }[] }) =>
          resource.scopeSpans.flatMap((scope) =>
            scope.spans.map((span) => ({ ...span, attributes: toRecord(span.attributes) })),
          ),
      ),
    )
  return {
    url: `http://127.0.0.1:${server.port}`,
    text: () => bodies.map(({ text }) => text).join('\n'),
    headers: () => headers,
    spans,
    points: () => {
      const newest = parsed('/v1/metrics').at(-1)
      if (newest === undefined) return []
      const metrics = newest.resourceMetrics[0].scopeMetrics[0]?.metrics ?? []
      return metrics.flatMap(
        (metric: {
          name: string
          histogram: { dataPoints: { attributes: Pair[]; count: number; sum: number }[] }
        }) =>
          metric.histogram.dataPoints.map(({ attributes, count, sum }) => ({
            name: metric.name,
            attributes: toRecord(attributes),
            count,
            sum,
          })),
      )
    },
    resource: () => toRecord(parsed('/v1/traces')[0]?.resourceSpans[0].resource.attributes ?? []),
    waitForSpans: async (count) => {
      await pollUntil(`${count} spans`, () => (spans().length >= count ? true : undefined))
      return spans()
    },
    stop: () => server.stop(true),
  }
}

function toRecord(pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]))
}

function toValue(value: Pair['value']): unknown {
  const list = value.arrayValue as { readonly values: readonly Pair['value'][] } | undefined
  return list === undefined ? Object.values(value)[0] : list.values.map(toValue)
}
