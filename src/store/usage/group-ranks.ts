import { GatewayError } from '../../core/errors.ts'
import type { LoopTurns } from '../../core/loop-turns.ts'
import type { GroupOrder } from '../../core/usage.ts'
import { compareNames, toGroups } from './group-pairs.ts'
import type { PageGroups, RankedRow, ReadRows, UsageReading } from './usage-query.ts'
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

/** @throws GatewayError `invalid_request` (rejects) for more groups than `most` */
export async function rankGroups(
  read: AsyncIterable<ReadRows<RankedRow>>,
  { query, turns }: Pick<UsageReading, 'query' | 'turns'>,
  page: GroupPage,
  most = Number.POSITIVE_INFINITY,
): Promise<RankedPage> {
  const values = new Map<string | null, number>()
  for await (const { rows } of read) {
    for (const row of rows)
      for (const group of toGroups(row, query))
        values.set(group, (values.get(group) ?? 0) + measureRow(row, page.order))
    if (values.size > most) throw tooManyGroups(most)
  }
  return await toPage(values, page, turns)
}

export function tooManyGroups(most: number): GatewayError {
  const message =
    `has more than ${most.toLocaleString('en')} groups, counted in each step. Choose a ` +
    'shorter range or a longer interval, or filter the calls'
  return new GatewayError('invalid_request', `group_by: ${message}`, {
    param: 'group_by',
    details: [{ field: 'group_by', message }],
  })
}

export async function rankSums(
  sums: readonly UsageSum[],
  page: GroupPage,
  turns: LoopTurns,
): Promise<RankedPage> {
  const values = new Map<string | null, number>()
  for (const sum of sums)
    values.set(sum.group, (values.get(sum.group) ?? 0) + measureSum(sum, page.order))
  return await toPage(values, page, turns)
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

const GROUPS_PER_TURN = 1_000

/** Sorts only groups that the page may show, because sorting a million would block calls. */
export async function toPage(
  values: ReadonlyMap<string | null, number>,
  { after, limit }: GroupPage,
  turns: LoopTurns,
): Promise<RankedPage> {
  const before = new Set<string | null>()
  let greatest: GroupPlace[] = []
  let last: GroupPlace | undefined
  let seen = 0
  for (const [group, value] of values) {
    seen += 1
    if (seen % GROUPS_PER_TURN === 0) await turns.next()
    const place = { group, value }
    if (after !== undefined && comparePlaces(after, place) >= 0) {
      before.add(group)
      continue
    }
    if (last !== undefined && comparePlaces(last, place) < 0) continue
    greatest.push(place)
    if (greatest.length <= 2 * limit) continue
    greatest = firstOf(greatest, limit)
    last = greatest.at(-1)
  }
  const places = firstOf(greatest, limit)
  return {
    places,
    shown: new Set(places.map(({ group }) => group)),
    before,
    next: values.size - before.size > limit ? places.at(-1) : undefined,
  }
}

function firstOf(places: readonly GroupPlace[], count: number): GroupPlace[] {
  return places.toSorted(comparePlaces).slice(0, count)
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
