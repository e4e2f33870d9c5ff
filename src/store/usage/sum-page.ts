/** Sums a page of groups, from whichever tables answer the query. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import { type GroupPage, type RankedPage, rankGroups, rankSums, sortByRank } from './group-ranks.ts'
import { sumGroups } from './group-steps.ts'
import type { SummedPage } from './range-totals.ts'
import { sumSessions } from './session-sums.ts'
import { StepSums } from './step-sums.ts'
import type { ReadRows, SummedRow, UsageQuery, UsageReading } from './usage-query.ts'
import { readUsageRows } from './usage-rows.ts'
import { isOfCallers, isOfWholeSessions } from './usage-sources.ts'
import type { UsageSum } from './usage-sum.ts'

export async function sumPage(
  moment: Kysely<Schema>,
  reading: UsageReading,
  page: GroupPage,
): Promise<SummedPage> {
  const { query } = reading
  if (!isOfCallers(query)) return await sumFromHours(moment, reading, page)
  const all: UsageQuery = { ...query, interval: 'all', groupBy: null }
  const summed = isOfWholeSessions(query)
    ? await sumSessions(moment, reading, {
        page,
        all: readUsageRows(moment, { ...reading, query: all, columns: 'counters' }),
      })
    : await sumGroups((of) => readUsageRows(moment, of), reading, page)
  if (reading.hasTotals !== true) return summed
  const { thenBy: _second, ...ofAll } = all
  if (isOfCallers(ofAll)) return summed
  // Sums by user and tag have no percentiles, and do not tell refused calls from other failures.
  const whole = await sumFromHours(moment, { ...reading, query: ofAll }, page)
  return { ...summed, totals: { groups: [], ...summed.totals, total: whole.sums[0] } }
}

/** With percentiles, unless the reading excludes them. */
async function sumFromHours(
  moment: Kysely<Schema>,
  reading: UsageReading,
  page: GroupPage,
): Promise<SummedPage> {
  const { query } = reading
  if (page.after === undefined) {
    const all = new StepSums(reading, page.limit)
    const sums = await sumSteps(readUsageRows(moment, reading), all)
    if (sums !== undefined)
      return await inOrder({ sums, next: undefined, totals: all.totals?.finish() }, reading, {
        ranked: rankSums(sums, page),
      })
  }
  const ofRanks = { ...reading, query: { ...query, interval: 'all' }, columns: 'ranks' } as const
  const ranked = await rankGroups(readUsageRows(moment, ofRanks), query, page)
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
