import type { LoopTurns } from '../../core/loop-turns.ts'
import type { GroupOrder } from '../../core/usage.ts'
import { compareNames, toGroups } from './group-pairs.ts'
import type { PageGroups, RankedRow, ReadRows, UsageQuery } from './usage-query.ts'
import type { UsageSum } from './usage-sum.ts'

export interface GroupPage {
  readonly order: GroupOrder
  readonly limit: number
  readonly after?: GroupPlace | undefined
  /** The only groups that are listed and summed, of the interval `all`. Undefined: every group. */
  readonly isListed?: ((group: string) => boolean) | undefined
}

export interface GroupPlace {
  readonly value: number
  readonly group: string | null
}

export interface RankedPage extends PageGroups {
  readonly places: readonly GroupPlace[]
  readonly next: GroupPlace | undefined
}

export async function rankGroups(
  read: AsyncIterable<ReadRows<RankedRow>>,
  query: Pick<UsageQuery, 'groupBy' | 'thenBy'>,
  page: GroupPage,
): Promise<RankedPage> {
  const values = new Map<string | null, number>()
  for await (const { rows } of read)
    for (const row of rows)
      for (const group of toGroups(row, query))
        values.set(group, (values.get(group) ?? 0) + measureRow(row, page.order))
  return toPage(values, page)
}

export function rankSums(sums: readonly UsageSum[], page: GroupPage): RankedPage {
  const values = new Map<string | null, number>()
  for (const sum of sums)
    values.set(sum.group, (values.get(sum.group) ?? 0) + measureSum(sum, page.order))
  return toPage(values, page)
}

const SUMS_PER_TURN = 500

/**
 * Sorts by time, then by rank; the sum of the remaining groups comes last. Yields between steps.
 * @param sums ordered by time
 */
export async function sortByRank(
  sums: readonly UsageSum[],
  { places }: Pick<RankedPage, 'places'>,
  turns: LoopTurns,
): Promise<UsageSum[]> {
  const ranks = new Map(places.map(({ group }, index) => [group, index]))
  const rankOf = ({ group, isRest }: UsageSum) =>
    isRest ? ranks.size : (ranks.get(group) ?? ranks.size)
  const sorted: UsageSum[] = []
  for (let start = 0, sortedInTurn = 0; start < sums.length; ) {
    let end = start + 1
    while (sums[end]?.startsAt === sums[start]?.startsAt) end += 1
    const step = sums.slice(start, end).sort((left, right) => rankOf(left) - rankOf(right))
    for (const sum of step) sorted.push(sum)
    sortedInTurn += step.length
    start = end
    if (sortedInTurn < SUMS_PER_TURN) continue
    sortedInTurn = 0
    await turns.next()
  }
  return sorted
}

export function toPage(values: ReadonlyMap<string | null, number>, page: GroupPage): RankedPage {
  const ranked = [...values]
    .map(([group, value]): GroupPlace => ({ group, value }))
    .toSorted(comparePlaces)
  const { after, limit } = page
  const isLeft = (place: GroupPlace) => after === undefined || comparePlaces(after, place) < 0
  const left = ranked.filter(isLeft)
  const places = left.slice(0, limit)
  return {
    places,
    shown: new Set(places.map(({ group }) => group)),
    before: new Set(ranked.filter((place) => !isLeft(place)).map(({ group }) => group)),
    next: left.length > limit ? places.at(-1) : undefined,
  }
}

function comparePlaces(left: GroupPlace, right: GroupPlace): number {
  return right.value - left.value || compareNames(left.group, right.group)
}

export function measureRow(row: Omit<RankedRow, 'group'>, order: GroupOrder): number {
  switch (order) {
    case 'calls':
      return Number(row.calls)
    case 'errors':
      return Number(row.failed) - Number(row.refused)
    case 'tokens':
      return Number(row.input_tokens) + Number(row.output_tokens)
    case 'cost':
      return Number(row.cost_nano_usd)
    case 'name':
      return 0
  }
}

function measureSum(sum: UsageSum, order: GroupOrder): number {
  switch (order) {
    case 'calls':
      return sum.calls
    case 'errors':
      return sum.failed - sum.refused
    case 'tokens':
      return sum.inputTokens + sum.outputTokens
    case 'cost':
      return sum.costNanoUsd
    case 'name':
      return 0
  }
}
