/** Sums a page of groups, from whichever tables answer the query. */
import type { Kysely } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { readRest } from './caller-day-rows.ts'
import { type GroupPage, type RankedPage, rankGroups, rankSums, sortByRank } from './group-ranks.ts'
import { sumGroups } from './group-steps.ts'
import type { SummedPage } from './range-totals.ts'
import { sumSessions } from './session-sums.ts'
import { StepSums } from './step-sums.ts'
import {
  planSpans,
  type ReadRows,
  type Slice,
  type SummedRow,
  type UsageQuery,
  type UsageReading,
} from './usage-query.ts'
import { readUsageRows } from './usage-rows.ts'
import { dayTableOf, isOfCallers, isOfWholeSessions } from './usage-sources.ts'
import type { UsageSum } from './usage-sum.ts'

export async function sumPage(
  moment: Kysely<Schema>,
  reading: UsageReading,
  page: GroupPage,
): Promise<SummedPage> {
  const { query, hasTotals = false } = reading
  if (!isOfCallers(query)) return await sumFromHours(moment, reading, page)
  const { thenBy: _second, ...ofAll } = { ...query, groupBy: null }
  const isFiltered = isOfCallers(ofAll)
  const days = isFiltered ? undefined : daysOfCallers(query)
  // Hours of callers are read from the calls, but days rank them.
  const interval = days === undefined || query.interval === 'hour' ? 'all' : query.interval
  const ofSteps = { ...reading, query: { ...ofAll, interval } }
  const account =
    isFiltered || (days === undefined && !hasTotals)
      ? undefined
      : await sumAccount(moment, ofSteps, days)
  const rest = account && days && (await readRest(moment, ofSteps, days, account.days))
  const summed = isOfWholeSessions(query)
    ? await sumSessions(moment, reading, {
        page,
        all: readUsageRows(moment, {
          ...reading,
          query: { ...ofAll, interval: 'all' },
          columns: 'counters',
        }),
      })
    : await sumGroups(
        (of) => readUsageRows(moment, { ...of, ...(rest && { rest }) }),
        reading,
        page,
      )
  if (!hasTotals || account === undefined) return summed
  return { ...summed, totals: { groups: [], ...summed.totals, total: account.total } }
}

function daysOfCallers(query: UsageQuery) {
  const table = dayTableOf(query)
  const days = planSpans({ ...query, interval: 'all' }).find((span) => span.table === 'usage_days')
  return table && days && { table, fromMs: days.fromMs, toMs: days.toMs }
}

/**
 * The account's total with percentiles, which sums by user and tag do not have, and the rows of
 * whole days. Without totals, only these rows are read.
 */
async function sumAccount(
  moment: Kysely<Schema>,
  reading: UsageReading,
  span: Slice | undefined,
): Promise<{ readonly total: UsageSum | undefined; readonly days: readonly SummedRow[] }> {
  const { query, hasTotals = false } = reading
  const days: SummedRow[] = []
  const of: UsageReading = hasTotals
    ? reading
    : {
        ...reading,
        query: { ...query, fromMs: span?.fromMs ?? query.fromMs, toMs: span?.toMs ?? query.toMs },
        columns: 'counters',
      }
  const sums = new StepSums({ ...of, hasTotals: true, hasPercentilesOfSteps: false }, 1)
  for await (const { rows, reachedMs } of readUsageRows(moment, of)) {
    await sums.add(rows, reachedMs)
    for (const row of rows)
      if (span !== undefined && row.starts_at >= span.fromMs && row.starts_at < span.toMs)
        days.push({ ...row, durations: null, first_bytes: null })
  }
  await sums.finish()
  return { total: sums.totals?.finish().total, days }
}

/** With percentiles, unless the reading excludes them. */
async function sumFromHours(
  moment: Kysely<Schema>,
  reading: UsageReading,
  page: GroupPage,
): Promise<SummedPage> {
  const { query } = reading
  // A server sums all groups in one statement. SQLite is faster when it ranks them first.
  const isWithoutSteps = query.interval === 'all' && query.groupBy !== null
  if (isWithoutSteps && reading.columns === 'counters' && !isSqlite(moment))
    return await sumGroups((of) => readUsageRows(moment, of), reading, page)
  if (page.after === undefined) {
    const all = new StepSums(reading, page.limit)
    const sums = await sumSteps(readUsageRows(moment, reading), all)
    if (sums !== undefined)
      return await inOrder({ sums, next: undefined, totals: all.totals?.finish() }, reading, {
        ranked: await rankSums(sums, page, reading.turns),
      })
  }
  const ofRanks = { ...reading, query: { ...query, interval: 'all' }, columns: 'ranks' } as const
  const ranked = await rankGroups(readUsageRows(moment, ofRanks), reading, page)
  const some = new StepSums(reading, ranked)
  const rows = readUsageRows(moment, { ...reading, groups: ranked })
  const sums = (await sumSteps(rows, some)) ?? []
  return await inOrder({ sums, next: ranked.next, totals: some.totals?.finish() }, reading, {
    ranked,
  })
}

async function inOrder(
  { sums, next, totals }: SummedPage,
  { turns }: Pick<UsageReading, 'turns'>,
  { ranked }: { readonly ranked: RankedPage },
): Promise<SummedPage> {
  return {
    sums: await sortByRank(sums, ranked, turns),
    next,
    totals: totals && { ...totals, groups: await sortByRank(totals.groups, ranked, turns) },
  }
}

async function sumSteps(
  read: AsyncIterable<ReadRows<SummedRow>>,
  sums: StepSums,
): Promise<UsageSum[] | undefined> {
  for await (const { rows, reachedMs } of read) {
    await sums.add(rows, reachedMs)
    if (sums.hasTooMany) return undefined
  }
  return await sums.finish()
}
