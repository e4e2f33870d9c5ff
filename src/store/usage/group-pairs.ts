/** The groups of a row. With two dimensions a group is a pair, written as one text. */
import type { UsageGroup } from '../../core/usage.ts'
import type { SummedRow, UsageQuery } from './usage-query.ts'

/** No name of a group contains it. */
const SEPARATOR = '\t'

export type GroupPair = readonly [first: string | null, second: string | null]

/** Calls with several tags count in each. */
export function toGroups(
  { group, second = null }: Pick<SummedRow, 'group' | 'second'>,
  { groupBy, thenBy }: Pick<UsageQuery, 'groupBy' | 'thenBy'>,
): readonly (string | null)[] {
  const firsts = toNames(group, groupBy)
  if (thenBy === undefined) return firsts
  const seconds = toNames(second, thenBy)
  return firsts.flatMap((first) =>
    seconds.map((other) => `${first ?? ''}${SEPARATOR}${other ?? ''}`),
  )
}

export function toPair(group: string): GroupPair {
  const [first = '', second = ''] = group.split(SEPARATOR)
  return [first === '' ? null : first, second === '' ? null : second]
}

function toNames(
  value: string | number | null,
  kind: UsageGroup | null,
): readonly (string | null)[] {
  if (value === null || value === '') return [null]
  if (kind === 'tag') return [...new Set(String(value).split(' '))]
  return [toName(String(value), kind)]
}

function toName(value: string, kind: UsageGroup | null): string {
  if (kind === 'status') return `${value}xx`
  if (kind !== 'model' && kind !== 'provider') return value
  // A model's name may hold further slashes.
  const end = value.indexOf('/')
  if (end === -1) return value
  return kind === 'provider' ? value.slice(0, end) : value.slice(end + 1)
}

export function compareNames(left: string | null, right: string | null): number {
  if (left === right) return 0
  return (left ?? '') < (right ?? '') ? -1 : 1
}
