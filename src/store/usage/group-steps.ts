/** Sums rows without histograms by step and group. */
import type { LoopTurns } from '../../core/loop-turns.ts'
import { toGroups } from './group-pairs.ts'
import {
  type GroupPage,
  measureRow,
  type RankedPage,
  rankGroups,
  tooManyGroups,
  toPage,
} from './group-ranks.ts'
import type { SummedPage } from './range-totals.ts'
import { REST } from './ranked-groups.ts'
import { NO_CALLER_USAGE } from './usage-columns.ts'
import {
  type ReadRows,
  type SUMMED,
  type SummedRow,
  toStart,
  type UsageReading,
} from './usage-query.ts'
import { dayTableOf } from './usage-sources.ts'
import { toSum, type UsageSum } from './usage-sum.ts'

export type Counts = Record<(typeof SUMMED)[number], number>

const ROWS_PER_TURN = 500
/** Sums of a group in a step that a query may hold: about 400 MB. */
const MOST_SUMS = 500_000

/**
 * In one pass, which needs memory for each group of each step, where the groups are read from the
 * calls: reading calls twice takes longer. Sums by day, and too many groups for the memory, rank the
 * groups first.
 * @throws GatewayError `invalid_request` (rejects) for too many groups
 */
export async function sumGroups(
  read: (reading: UsageReading) => AsyncIterable<ReadRows<SummedRow>>,
  reading: UsageReading,
  page: GroupPage,
): Promise<SummedPage> {
  const { query, mostSums = MOST_SUMS } = reading
  const isOfDays = dayTableOf(query) !== undefined
  if (query.interval === 'all' || !isOfDays) {
    const summed = await sumInOnePass(read(reading), reading, { page })
    if (summed !== undefined) return summed
    if (page.isListed !== undefined) throw tooManyGroups(mostSums)
  }
  const whole = { ...reading, query: { ...query, interval: 'all' } } as const
  const ranked = await rankGroups(read(whole), reading, page, isOfDays ? undefined : mostSums)
  const some = { ...reading, groups: ranked }
  const summed = await sumInOnePass(read(some), reading, { page, ranked })
  if (summed === undefined) throw tooManyGroups(mostSums)
  return summed
}

/** @returns undefined for too many sums */
async function sumInOnePass(
  read: AsyncIterable<ReadRows<SummedRow>>,
  { query, turns, hasTotals = false, mostSums = MOST_SUMS }: UsageReading,
  { page, ranked }: { readonly page: GroupPage; readonly ranked?: RankedPage },
): Promise<SummedPage | undefined> {
  const { isListed } = page
  const steps = new Map<number, Map<string | null, Counts>>()
  const total = noCounts()
  let held = 0
  for await (const { rows } of read)
    for (let start = 0; start < rows.length; start += ROWS_PER_TURN) {
      if (start > 0) await turns.next()
      for (const row of rows.slice(start, start + ROWS_PER_TURN)) {
        if (hasTotals) addCounts(total, row)
        const startsAt = toStart(row.starts_at, query)
        const groups = steps.get(startsAt) ?? new Map<string | null, Counts>()
        steps.set(startsAt, groups)
        for (const group of toGroups(row, query)) {
          if (isListed !== undefined && (group === null || !isListed(group))) continue
          if (ranked?.before.has(group) === true) continue
          const before = groups.size
          add(groups, ranked === undefined || ranked.shown.has(group) ? group : REST, row)
          held += groups.size - before
        }
        if (held > mostSums) return undefined
      }
    }
  const { places, shown, before, next } =
    ranked ?? (await toPage(await measure(steps.values(), page, turns), page, turns))
  const sums: UsageSum[] = []
  const totals = new Map<string | null, Counts>()
  for (const [startsAt, groups] of [...steps].sort(([one], [other]) => one - other)) {
    for (const { group } of places) {
      const counts = groups.get(group)
      if (counts === undefined) continue
      sums.push(toSum({ startsAt, group, isRest: false }, counts))
      add(totals, group, counts)
    }
    const rest = noCounts()
    let hasRest = false
    let seen = 0
    for (const [group, counts] of groups) {
      seen += 1
      if (seen % ROWS_PER_TURN === 0) await turns.next()
      if (shown.has(group) || before.has(group)) continue
      hasRest = true
      addCounts(rest, counts)
    }
    if (hasRest) {
      sums.push(toSum({ startsAt, group: null, isRest: true }, rest))
      add(totals, REST, rest)
    }
    await turns.next()
  }
  const startsAt = query.fromMs
  const groups = [...places.map(({ group }) => group), REST].flatMap((key) => {
    const counts = query.interval === 'all' ? undefined : totals.get(key)
    const isRest = key === REST
    return counts === undefined
      ? []
      : [toSum({ startsAt, group: isRest ? null : key, isRest }, counts)]
  })
  const ofAll = toSum({ startsAt, group: null, isRest: false }, total)
  return { sums, next, totals: { groups, total: total.calls > 0 ? ofAll : undefined } }
}

async function measure(
  steps: Iterable<ReadonlyMap<string | null, Counts>>,
  { order }: GroupPage,
  turns: LoopTurns,
): Promise<ReadonlyMap<string | null, number>> {
  const ranks = new Map<string | null, number>()
  let seen = 0
  for (const groups of steps)
    for (const [group, counts] of groups) {
      seen += 1
      if (seen % ROWS_PER_TURN === 0) await turns.next()
      ranks.set(group, (ranks.get(group) ?? 0) + measureRow(counts, order))
    }
  return ranks
}

function add<Group>(groups: Map<Group, Counts>, group: Group, row: Readonly<Counts>): void {
  const counts = groups.get(group)
  if (counts === undefined) groups.set(group, addCounts(noCounts(), row))
  else addCounts(counts, row)
}

export function noCounts(): Counts {
  return { ...NO_CALLER_USAGE, unpriced: 0 }
}

/**
 * For a difference of the account's sums and those of users, tags or sessions: these did not count
 * refused calls at first, so that the difference may have too many.
 */
export function boundRefused(counts: Counts): Counts {
  return { ...counts, refused: Math.min(counts.refused, counts.failed) }
}

/**
 * Written out, because a loop over the names takes five times as long.
 * @returns the same counts, changed
 */
export function addCounts(counts: Counts, row: Readonly<Counts>, sign: 1 | -1 = 1): Counts {
  counts.calls += sign * row.calls
  counts.failed += sign * row.failed
  counts.cancelled += sign * row.cancelled
  counts.unreported += sign * row.unreported
  counts.input_tokens += sign * row.input_tokens
  counts.output_tokens += sign * row.output_tokens
  counts.cached_input_tokens += sign * row.cached_input_tokens
  counts.reasoning_tokens += sign * row.reasoning_tokens
  counts.cache_write_tokens += sign * row.cache_write_tokens
  counts.cost_nano_usd += sign * row.cost_nano_usd
  counts.cost_estimated += sign * row.cost_estimated
  counts.cost_unknown += sign * row.cost_unknown
  counts.refused += sign * row.refused
  counts.unpriced += sign * row.unpriced
  return counts
}
