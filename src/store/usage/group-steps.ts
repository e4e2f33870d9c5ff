/**
 * Sums rows without histograms by step and group in one pass, which needs memory for each group of
 * each step. Reading users and sessions twice, as other groups are, would take too long.
 */
import type { LoopTurns } from '../../core/loop-turns.ts'
import { type GroupPage, type GroupPlace, measureRow, toPage } from './group-ranks.ts'
import { toGroups, toSum, type UsageSum } from './step-sums.ts'
import { type ReadRows, SUMMED, type SummedRow, toStart, type UsageQuery } from './usage-query.ts'

type Counts = Record<(typeof SUMMED)[number], number>

const ROWS_PER_TURN = 500

export async function sumInOnePass(
  read: AsyncIterable<ReadRows<SummedRow>>,
  { query, page, turns }: { query: UsageQuery; page: GroupPage; turns: LoopTurns },
): Promise<{ readonly sums: UsageSum[]; readonly next: GroupPlace | undefined }> {
  const steps = new Map<number, Map<string | null, Counts>>()
  const ranks = new Map<string | null, number>()
  for await (const { rows } of read)
    for (let start = 0; start < rows.length; start += ROWS_PER_TURN) {
      if (start > 0) await turns.next()
      for (const row of rows.slice(start, start + ROWS_PER_TURN)) {
        const startsAt = toStart(row.starts_at, query)
        const groups = steps.get(startsAt) ?? new Map<string | null, Counts>()
        steps.set(startsAt, groups)
        for (const group of toGroups(row.group, query.groupBy)) {
          ranks.set(group, (ranks.get(group) ?? 0) + measureRow(row, page.order))
          add(groups, group, row)
        }
      }
    }
  const { places, shown, before, next } = toPage(ranks, page)
  const sums: UsageSum[] = []
  for (const [startsAt, groups] of [...steps].sort(([one], [other]) => one - other)) {
    for (const { group } of places) {
      const counts = groups.get(group)
      if (counts !== undefined) sums.push(toSum({ startsAt, group, isRest: false }, counts))
    }
    const rest = new Map<null, Counts>()
    for (const [group, counts] of groups)
      if (!shown.has(group) && !before.has(group)) add(rest, null, counts)
    const counts = rest.get(null)
    if (counts !== undefined) sums.push(toSum({ startsAt, group: null, isRest: true }, counts))
    await turns.next()
  }
  return { sums, next }
}

function add<Group>(groups: Map<Group, Counts>, group: Group, row: Readonly<Counts>): void {
  const known = groups.get(group)
  const counts = known ?? ({} as Counts)
  for (const name of SUMMED) counts[name] = (known?.[name] ?? 0) + Number(row[name])
  if (known === undefined) groups.set(group, counts)
}
