/**
 * Reads the roll-ups: calls, tokens, costs and percentiles of an account over time. Whole days that are past are read from
 * the days' sums, everything else from the hours', and to both comes what waits to be added to them. Must not read single calls.
 */
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../core/ids.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import type { Schema } from './schema.ts'
import { readBacklog, type UsageBacklog } from './usage-backlog.ts'
import { rollUpDays } from './usage-days.ts'
import { COUNTERS, DAY_MS, HOUR_MS } from './usage-hours.ts'

export type UsageInterval = 'hour' | 'day' | 'month' | 'all'
export type UsageGroup = 'gate' | 'target' | 'key' | 'status' | 'credential'

export interface UsageQuery {
  /** Milliseconds since the Unix epoch, at the beginning of an hour; this hour included. */
  readonly fromMs: number
  /** At the beginning of an hour, which is left out. */
  readonly toMs: number
  readonly interval: UsageInterval
  readonly groupBy: UsageGroup | null
  readonly gateId?: string
  readonly target?: string
  readonly keyId?: string
}

export interface LatencyPercentiles {
  /** Milliseconds, within 2 % of the exact ones; null where there was nothing to measure. */
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface UsageSum {
  /** Where the hour, day or month (UTC) begins; the range's own beginning under `all`. */
  readonly startsAt: number
  /** The gate, target, key, class of status (`2xx`) or credential; null where nothing is told apart, or no upstream was asked. */
  readonly group: string | null
  /** It stands for all groups beyond the fifty with the most calls. */
  readonly isRest: boolean
  readonly calls: number
  readonly failed: number
  readonly cancelled: number
  readonly unreported: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  readonly cacheWriteTokens: number
  readonly costMicroUsd: number
  readonly costEstimated: number
  readonly costUnknown: number
  readonly duration: LatencyPercentiles
  readonly firstByte: LatencyPercentiles
}

interface Span {
  readonly table: 'usage_hours' | 'usage_days'
  readonly fromMs: number
  readonly toMs: number
}

type SummedRow = Readonly<Record<(typeof COUNTERS)[number], number>> & {
  readonly starts_at: number
  readonly group: string | number | null
  readonly durations: string | null
  readonly first_bytes: string | null
}

interface PlacedRow {
  readonly row: SummedRow
  readonly startsAt: number
  readonly group: string | null
  readonly isRest: boolean
}

/** An answer stays readable, and bounded, however many keys an account has. */
const MAX_GROUPS = 50

const GROUP_COLUMNS = {
  gate: 'gate_id',
  target: 'target',
  key: 'key_id',
  status: 'status_class',
  credential: 'credential',
} as const

export class UsageStore {
  readonly #database: Kysely<Schema>
  readonly #backlog: UsageBacklog

  constructor(database: Kysely<Schema>, backlog: UsageBacklog) {
    this.#database = database
    this.#backlog = backlog
  }

  /** In the order of time, then of the groups' names, the rest last; steps and groups without calls are left out. */
  async read(accountId: AccountId, query: UsageQuery): Promise<UsageSum[]> {
    // In one transaction: between two, a note could be added to hours that were read, or had been read, without it.
    const rows = await this.#database.transaction().execute(async (transaction) => {
      const found = await readNotes(transaction, accountId, query)
      for (const span of await planSpans(transaction, accountId, query)) {
        found.push(...(await readSpan(transaction, { accountId, query, span })))
      }
      return found
    })
    const placed = rows.map((row): PlacedRow => {
      const group = toGroup(row.group, query.groupBy)
      return { row, startsAt: toStart(row.starts_at, query), group, isRest: false }
    })
    return sumUp(gatherRest(placed))
  }

  /** Sums up the hours of every day that ended before this time and is not summed up yet. @returns how many days */
  async rollUpDays(nowMs: number): Promise<number> {
    await this.#backlog.settleAll()
    return await rollUpDays(this.#database, nowMs)
  }
}

/** Neighbouring days of the same kind are one span: one query each. */
async function planSpans(
  database: Kysely<Schema>,
  accountId: AccountId,
  { fromMs, toMs, interval }: UsageQuery,
): Promise<Span[]> {
  if (interval === 'hour') return [{ table: 'usage_hours', fromMs, toMs }]
  const rolled = await database
    .selectFrom('usage_rolled_days')
    .select('starts_at')
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs)
    .where('starts_at', '<=', toMs - DAY_MS)
    .orderBy('starts_at')
    .execute()
  const spans: Span[] = []
  let reached = fromMs
  for (const { starts_at: day } of rolled) {
    const last = spans.at(-1)
    if (reached < day) spans.push({ table: 'usage_hours', fromMs: reached, toMs: day })
    if (reached === day && last?.table === 'usage_days') spans.pop()
    const begin = reached === day && last?.table === 'usage_days' ? last.fromMs : day
    spans.push({ table: 'usage_days', fromMs: begin, toMs: day + DAY_MS })
    reached = day + DAY_MS
  }
  if (reached < toMs) spans.push({ table: 'usage_hours', fromMs: reached, toMs })
  return spans
}

/** Histograms come joined as one text for each group: a row for each hour would cost more to hand over than to read. */
async function readSpan(
  database: Kysely<Schema>,
  {
    accountId,
    query,
    span,
  }: { readonly accountId: AccountId; readonly query: UsageQuery; readonly span: Span },
): Promise<readonly SummedRow[]> {
  const { gateId, target, keyId, groupBy, interval } = query
  const group = groupBy === null ? sql`NULL` : sql.ref(GROUP_COLUMNS[groupBy])
  // Days and hours are told apart only where the answer tells them apart.
  const startsAt = interval === 'all' ? sql`MIN(starts_at)` : sql.ref('starts_at')
  const counters = COUNTERS.map((name) => sql`SUM(${sql.ref(name)}) AS ${sql.ref(name)}`)
  const groupings = [
    ...(interval === 'all' ? [] : [sql.ref('starts_at')]),
    ...(groupBy === null ? [] : [sql.ref(GROUP_COLUMNS[groupBy])]),
  ]
  const filters = [
    ...(gateId === undefined ? [] : [sql`AND gate_id = ${gateId}`]),
    ...(target === undefined ? [] : [sql`AND target = ${target}`]),
    ...(keyId === undefined ? [] : [sql`AND key_id = ${keyId}`]),
  ]
  const { rows } = await sql<SummedRow>`
    SELECT ${startsAt} AS starts_at, ${group} AS ${sql.ref('group')}, ${sql.join(counters)},
      STRING_AGG(NULLIF(durations, ''), ',') AS durations, STRING_AGG(NULLIF(first_bytes, ''), ',') AS first_bytes
    FROM ${sql.table(span.table)}
    WHERE account_id = ${accountId} AND starts_at >= ${span.fromMs} AND starts_at < ${span.toMs}
      ${sql.join(filters, sql` `)}
    ${groupings.length === 0 ? sql`HAVING COUNT(*) > 0` : sql`GROUP BY ${sql.join(groupings)}`}
  `.execute(database)
  return rows
}

/** Those of the account's notes that are asked for. */
async function readNotes(
  database: Kysely<Schema>,
  accountId: AccountId,
  { fromMs, toMs, groupBy, gateId, target, keyId }: UsageQuery,
): Promise<SummedRow[]> {
  const rows = await readBacklog(database, accountId)
  return rows
    .filter(
      (row) =>
        row.starts_at >= fromMs &&
        row.starts_at < toMs &&
        (gateId === undefined || row.gate_id === gateId) &&
        (target === undefined || row.target === target) &&
        (keyId === undefined || row.key_id === keyId),
    )
    .map((row) => ({ ...row, group: groupBy === null ? null : row[GROUP_COLUMNS[groupBy]] }))
}

function gatherRest(rows: readonly PlacedRow[]): readonly PlacedRow[] {
  const calls = new Map<string | null, number>()
  for (const { group, row } of rows) calls.set(group, (calls.get(group) ?? 0) + Number(row.calls))
  if (calls.size <= MAX_GROUPS) return rows
  const byCalls = [...calls].sort((left, right) => right[1] - left[1] || compare(left[0], right[0]))
  const shown = new Set(byCalls.slice(0, MAX_GROUPS).map(([group]) => group))
  return rows.map((placed) => (shown.has(placed.group) ? placed : { ...placed, group: null, isRest: true }))
}

function sumUp(rows: readonly PlacedRow[]): UsageSum[] {
  const sorted = rows.toSorted(
    (left, right) =>
      left.startsAt - right.startsAt ||
      Number(left.isRest) - Number(right.isRest) ||
      compare(left.group, right.group),
  )
  const sums: UsageSum[] = []
  // What belongs together lies together, so that one pair of histograms at a time is enough.
  let current: UsageAccumulator | undefined
  for (const placed of sorted) {
    if (current === undefined || !current.takes(placed)) {
      if (current !== undefined) sums.push(current.finish())
      current = new UsageAccumulator(placed)
    }
    current.add(placed.row)
  }
  if (current !== undefined) sums.push(current.finish())
  return sums
}

class UsageAccumulator {
  readonly #place: PlacedRow
  readonly #sums = COUNTERS.map(() => 0)
  readonly #durations = new LatencyHistogram()
  readonly #firstBytes = new LatencyHistogram()

  constructor(place: PlacedRow) {
    this.#place = place
  }

  takes({ startsAt, group, isRest }: PlacedRow): boolean {
    return startsAt === this.#place.startsAt && group === this.#place.group && isRest === this.#place.isRest
  }

  add(row: SummedRow): void {
    for (const [index, name] of COUNTERS.entries()) {
      this.#sums[index] = (this.#sums[index] ?? 0) + Number(row[name])
    }
    this.#durations.addEncoded(row.durations ?? '')
    this.#firstBytes.addEncoded(row.first_bytes ?? '')
  }

  finish(): UsageSum {
    const sum = (name: (typeof COUNTERS)[number]) => this.#sums[COUNTERS.indexOf(name)] ?? 0
    return {
      startsAt: this.#place.startsAt,
      group: this.#place.group,
      isRest: this.#place.isRest,
      calls: sum('calls'),
      failed: sum('failed'),
      cancelled: sum('cancelled'),
      unreported: sum('unreported'),
      inputTokens: sum('input_tokens'),
      outputTokens: sum('output_tokens'),
      cachedInputTokens: sum('cached_input_tokens'),
      reasoningTokens: sum('reasoning_tokens'),
      cacheWriteTokens: sum('cache_write_tokens'),
      costMicroUsd: sum('cost_micro_usd'),
      costEstimated: sum('cost_estimated'),
      costUnknown: sum('cost_unknown'),
      duration: toPercentiles(this.#durations),
      firstByte: toPercentiles(this.#firstBytes),
    }
  }
}

function toPercentiles(histogram: LatencyHistogram): LatencyPercentiles {
  return { p50: histogram.percentile(0.5), p95: histogram.percentile(0.95), p99: histogram.percentile(0.99) }
}

function toStart(startsAt: number, { interval, fromMs }: UsageQuery): number {
  switch (interval) {
    case 'all':
      return fromMs
    case 'hour':
      return Math.floor(startsAt / HOUR_MS) * HOUR_MS
    case 'day':
      return Math.floor(startsAt / DAY_MS) * DAY_MS
    case 'month': {
      const time = new Date(startsAt)
      return Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1)
    }
  }
}

function toGroup(value: string | number | null, groupBy: UsageGroup | null): string | null {
  if (value === null || value === '') return null
  return groupBy === 'status' ? `${value}xx` : String(value)
}

function compare(left: string | null, right: string | null): number {
  if (left === right) return 0
  return (left ?? '') < (right ?? '') ? -1 : 1
}
