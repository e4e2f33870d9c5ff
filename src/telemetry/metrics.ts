/** Reads each metric's figures, and answers `/metrics` for callers who may read them. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { BUDGET_ACTIONS } from '../core/budget.ts'
import { callsUnderWay } from '../core/calls-under-way.ts'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { createCallId } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Secret } from '../core/secret.ts'
import { FRESHNESS_STATUSES, SHARING_MODES } from '../core/shared-stores.ts'
import { refuse } from '../gateway/refuse.ts'
import {
  type CallCounters,
  type Count,
  SECONDS,
  type SecondsHistogram,
  type Times,
  type TokenCounts,
} from './call-counters.ts'
import { METRICS, type MetricName } from './metric-list.ts'

export interface MetricSources {
  journal(): {
    readonly writable: boolean
    readonly unshippedBytes: number
    readonly segments: number
    readonly backlog: number
    readonly dropped: number
    readonly damagedLines: number
    readonly newerSegments: number
    readonly olderSegments: number
  }
  /** Undefined when this node shares nothing. */
  readonly redis?:
    | (() => {
        readonly isReady: boolean
        readonly other: string | undefined
        readonly mode: string
        readonly nodes: number
        readonly failures: number
        readonly questions: number
      })
    | undefined
  /** Undefined when no other process can change this process's data. */
  readonly node?:
    | (() => {
        readonly status: string
        readonly leaseMs: number
        readonly contactAgeMs: number
        readonly appliedSeq: number
        readonly behind: number
        readonly refreshes: number
        readonly confirmations: { readonly count: number; readonly seconds: number }
      })
    | undefined
  connections(): ReadonlyMap<
    string,
    {
      readonly opened: number
      readonly reused: number
      readonly failed: number
      readonly open: number
      readonly idle: number
    }
  >
  /** Undefined when the system does not report file descriptors. */
  readonly handles?: { readonly most: number; count(): number } | undefined
  installation(): { readonly isRight: boolean; readonly setBacks: number }
  /** Undefined when another process counts reloads. */
  readonly reloads?: { readonly refused: number } | undefined
  shipperLag(): number
  /**
   * `provider/model` of each open breaker; a target repeats for each account with an open breaker.
   */
  openBreakers(): Iterable<string>
}

export interface Sample {
  /** In the order of the metric's own list. */
  readonly labels: readonly string[]
  readonly value: number | SecondsHistogram
}

export type ReadMetric = () => Iterable<Sample>

interface MetricsInput {
  readonly counters: CallCounters
  readonly lag: EventLoopLag
  readonly sources: MetricSources
  readonly version: string
}

export function readMetrics(input: MetricsInput): Record<MetricName, ReadMetric> {
  const { counters, lag, sources, version } = input
  return {
    gatehouse_calls_total: () => toCounts(counters.calls.values()),
    gatehouse_gate_calls_total: () => toCounts(counters.gateCalls.values()),
    gatehouse_call_duration_seconds: () => toTimes(counters.durations.values()),
    gatehouse_first_byte_seconds: () => toTimes(counters.firstBytes.values()),
    gatehouse_tokens_total: () => toTokens(counters.tokens.values()),
    gatehouse_tag_calls_total: () => toCounts(counters.tagCalls.values()),
    gatehouse_tag_tokens_total: () => toTokens(counters.tagTokens.values()),
    gatehouse_tag_cost_usd_total: () => toCosts(counters.tagCosts.values()),
    gatehouse_attempts_total: () => toCounts(counters.attempts.values()),
    gatehouse_upstream_refused_members_total: () => toCounts(counters.refusedMembers.values()),
    gatehouse_fallbacks_total: () => toCounts(counters.fallbacks.values()),
    gatehouse_limits_refused_total: () =>
      ['rate_limited', 'quota_exceeded'].map((kind) => ({
        labels: [kind],
        value: counters.limitsRefused.get(kind) ?? 0,
      })),
    gatehouse_budget_actions_total: () =>
      BUDGET_ACTIONS.map((action) => ({
        labels: [action],
        value: counters.budgetActions.get(action) ?? 0,
      })),
    gatehouse_refused_before_upstream_total: () => toCounts(counters.refused.values()),
    gatehouse_calls_in_flight: () => one(callsUnderWay.count),
    gatehouse_breakers_open: () => toBreakers(sources.openBreakers()),
    gatehouse_upstream_connections: () => toConnections(sources, ['open', 'idle']),
    gatehouse_upstream_connections_total: () =>
      toConnections(sources, ['opened', 'reused', 'failed']),
    gatehouse_handles: () => toHandles(sources),
    gatehouse_journal_writable: () => one(sources.journal().writable ? 1 : 0),
    gatehouse_journal_unshipped_bytes: () => one(sources.journal().unshippedBytes),
    gatehouse_journal_segments: () => one(sources.journal().segments),
    gatehouse_journal_backlog_records: () => one(sources.journal().backlog),
    gatehouse_journal_dropped_records_total: () => one(sources.journal().dropped),
    gatehouse_journal_damaged_lines_total: () => one(sources.journal().damagedLines),
    gatehouse_journal_newer_segments: () => one(sources.journal().newerSegments),
    gatehouse_journal_older_segments: () => one(sources.journal().olderSegments),
    gatehouse_shipper_lag_seconds: () => one(sources.shipperLag()),
    gatehouse_config_reloads_refused_total: () =>
      sources.reloads === undefined ? [] : one(sources.reloads.refused),
    gatehouse_redis_up: () => toRedis(sources, ({ isReady }) => (isReady ? 1 : 0)),
    gatehouse_redis_nodes: () => toRedis(sources, ({ nodes }) => nodes),
    gatehouse_redis_questions_total: () => toRedis(sources, ({ questions }) => questions),
    gatehouse_redis_failures_total: () => toRedis(sources, ({ failures }) => failures),
    gatehouse_limits_mode: () => {
      const mode = sources.redis?.().mode
      return mode === undefined
        ? []
        : SHARING_MODES.map((name) => ({ labels: [name], value: name === mode ? 1 : 0 }))
    },
    gatehouse_redis_right: () => toRedis(sources, ({ other }) => (other === undefined ? 1 : 0)),
    gatehouse_store_right: () => one(sources.installation().isRight ? 1 : 0),
    gatehouse_store_set_back_total: () => one(sources.installation().setBacks),
    gatehouse_store_status: () => {
      const status = sources.node?.().status
      return status === undefined
        ? []
        : FRESHNESS_STATUSES.map((name) => ({ labels: [name], value: name === status ? 1 : 0 }))
    },
    gatehouse_store_lease_seconds: () => toNode(sources, ({ leaseMs }) => leaseMs / 1000),
    gatehouse_store_contact_age_seconds: () =>
      toNode(sources, ({ contactAgeMs }) => contactAgeMs / 1000),
    gatehouse_changes_applied: () => toNode(sources, ({ appliedSeq }) => appliedSeq),
    gatehouse_changes_behind: () => toNode(sources, ({ behind }) => behind),
    gatehouse_refreshes_total: () => toNode(sources, ({ refreshes }) => refreshes),
    gatehouse_confirmations_total: () =>
      toNode(sources, ({ confirmations }) => confirmations.count),
    gatehouse_confirmation_seconds_total: () =>
      toNode(sources, ({ confirmations }) => confirmations.seconds),
    gatehouse_event_loop_lag_seconds: () => one(lag.longestMs() / 1000),
    gatehouse_resident_memory_bytes: () => one(process.memoryUsage.rss()),
    gatehouse_heap_bytes: toHeap,
    gatehouse_uptime_seconds: () => one(performance.now() / 1000),
    gatehouse_build_info: () => [{ labels: [version, `bun ${Bun.version}`], value: 1 }],
  }
}

function toConnections(
  { connections }: MetricSources,
  kinds: readonly ('open' | 'idle' | 'opened' | 'reused' | 'failed')[],
): readonly Sample[] {
  return [...connections()].flatMap(([provider, counts]) =>
    kinds.map((kind) => ({ labels: [provider, kind], value: counts[kind] })),
  )
}

function toHandles({ handles }: MetricSources): readonly Sample[] {
  if (handles === undefined) return []
  return [
    { labels: ['open'], value: handles.count() },
    { labels: ['most'], value: handles.most },
  ]
}

function toHeap(): readonly Sample[] {
  const { heapUsed, heapTotal } = process.memoryUsage()
  return [
    { labels: ['used'], value: heapUsed },
    // Uncollected garbage may count as used without occupying more memory.
    { labels: ['total'], value: Math.max(heapTotal, heapUsed) },
  ]
}

function toNode(
  { node }: MetricSources,
  read: (state: ReturnType<NonNullable<MetricSources['node']>>) => number,
): readonly Sample[] {
  return node === undefined ? [] : one(read(node()))
}

function toRedis(
  { redis }: MetricSources,
  read: (state: ReturnType<NonNullable<MetricSources['redis']>>) => number,
): readonly Sample[] {
  return redis === undefined ? [] : one(read(redis()))
}

function one(value: number): readonly Sample[] {
  return [{ labels: [], value }]
}

function* toCounts(series: Iterable<Count>): Iterable<Sample> {
  for (const { labels, count } of series) yield { labels, value: count }
}

function* toTimes(series: Iterable<Times>): Iterable<Sample> {
  for (const { labels, seconds } of series) yield { labels, value: seconds }
}

function* toCosts(series: Iterable<Count>): Iterable<Sample> {
  for (const { labels, count } of series) yield { labels, value: toUsd(count) }
}

function* toTokens(series: Iterable<TokenCounts>): Iterable<Sample> {
  for (const { labels, used } of series) {
    yield { labels: [...labels, 'input'], value: used.input }
    yield { labels: [...labels, 'output'], value: used.output }
    yield { labels: [...labels, 'cached_input'], value: used.cached }
    yield { labels: [...labels, 'reasoning'], value: used.reasoning }
  }
}

const MAX_BREAKERS = 2_000

function toBreakers(targets: Iterable<string>): readonly Sample[] {
  const open = new Map<string, number>()
  for (const target of targets) {
    const name = open.has(target) || open.size < MAX_BREAKERS ? target : 'other'
    open.set(name, (open.get(name) ?? 0) + 1)
  }
  return [...open].map(([target, value]) => ({ labels: [target], value }))
}

const INTERVAL_MS = 500
const REMEMBERED = 120

/** The event loop's delay, measured twice a second and kept for a minute. */
export class EventLoopLag {
  readonly #lags = new Float64Array(REMEMBERED)
  readonly #endLooking: () => void
  #index = 0
  #expectedAt = performance.now() + INTERVAL_MS

  constructor() {
    this.#endLooking = systemClock.every(INTERVAL_MS, () => this.#look())
  }

  longestMs(): number {
    return Math.max(...this.#lags)
  }

  stop(): void {
    this.#endLooking()
  }

  #look(): void {
    const now = performance.now()
    this.#lags[this.#index] = Math.max(0, now - this.#expectedAt)
    this.#index = (this.#index + 1) % REMEMBERED
    this.#expectedAt = now + INTERVAL_MS
  }
}

/**
 * Writes the metrics in Prometheus' text format:
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
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

/** Samples with the same labels are one series. A metric without labels is always present. */
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

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createMetricsEndpoint(
  token: Secret | undefined,
  render: () => Promise<string>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (new URL(request.url).pathname !== '/metrics')
      return refuseReader('not_found', 'The metrics are at /metrics.')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuseReader('method_not_allowed', 'This address takes GET, HEAD.', {
        allow: 'GET, HEAD',
      })
    if (token !== undefined && !isToken(request.headers.get('authorization'), token))
      return refuseReader(
        'unauthorized',
        'The metrics need their own token (GATEHOUSE_METRICS_TOKEN).',
        {
          'www-authenticate': 'Bearer',
        },
      )
    return new Response(await render(), {
      headers: { 'content-type': CONTENT_TYPE, 'cache-control': 'no-store' },
    })
  }
}

/** The main port's answer at /metrics when the metrics have their own port. */
export function tellMetricsPort(): Promise<Response> {
  return Promise.resolve(
    refuseReader('not_found', 'The metrics are on a separate port (GATEHOUSE_METRICS_PORT).'),
  )
}

function refuseReader(
  kind: 'not_found' | 'method_not_allowed' | 'unauthorized',
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return refuse(new GatewayError(kind, message, { headers }), 'flat', {
    'x-request-id': createCallId(),
  })
}

/** Compares hashes, so that the duration reveals nothing about the token. */
function isToken(header: string | null, token: Secret): boolean {
  const presented = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  return presented !== undefined && timingSafeEqual(hash(presented), hash(token.reveal()))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
