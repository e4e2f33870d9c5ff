import type { AnswerOf } from '../../api/ask.ts'
import { formatCount, formatDuration, formatShare, formatUsd } from '../../format/figures.ts'
import { nameOfGroup } from '../../format/group-name.ts'
import { readErrorRate, readErrors, TOKENS } from '../../format/usage-measures.ts'
import { type GroupName, toPair } from './choices.ts'

export type Sum = AnswerOf<'GET /v1/analytics'>['data'][number]

export interface Column {
  readonly id: string
  readonly label: string
  readonly read: (sum: Sum) => number | null
  readonly format: (value: number | null) => string
}

function column(
  id: string,
  label: string,
  read: Column['read'],
  format: Column['format'] = formatCount,
): Column {
  return { id, label, read, format }
}

const LATENCIES: readonly Column[] = [
  column('p50', 'p50', (sum) => sum.durationMs.p50, formatDuration),
  column('p95', 'p95', (sum) => sum.durationMs.p95, formatDuration),
  column('p99', 'p99', (sum) => sum.durationMs.p99, formatDuration),
  column('first50', 'First token p50', (sum) => sum.firstByteMs.p50, formatDuration),
  column('first95', 'First token p95', (sum) => sum.firstByteMs.p95, formatDuration),
]

export const COLUMNS: readonly Column[] = [
  column('calls', 'Calls', (sum) => sum.calls),
  column('errors', 'Errors', (sum) => readErrors(sum).errors),
  column('errorRate', 'Error rate', readErrorRate, formatShare),
  column('input', 'Tokens in', (sum) => sum.tokens.input),
  column('cached', 'Cached in', (sum) => sum.tokens.cachedInput),
  column('output', 'Tokens out', (sum) => sum.tokens.output),
  column('reasoning', 'Reasoning out', (sum) => sum.tokens.reasoning),
  column('cost', 'Cost', (sum) => sum.cost.usd, formatUsd),
  ...LATENCIES,
]

/** Sums by caller have no latencies, and their columns would be empty. */
export function columnsOf(sums: readonly Sum[]): readonly Column[] {
  const hasLatencies = sums.some((sum) => LATENCIES.some(({ read }) => read(sum) !== null))
  return hasLatencies ? COLUMNS : COLUMNS.filter((column) => !LATENCIES.includes(column))
}

const TOKENS_SORT = 'tokens'

export function sortSums(
  sums: readonly Sum[],
  { sort, isAscending }: { readonly sort: string; readonly isAscending: boolean },
  name: (sum: Sum) => string,
): readonly Sum[] {
  const read = sort === TOKENS_SORT ? TOKENS.read : COLUMNS.find(({ id }) => id === sort)?.read
  return sums.toSorted((left, right) => {
    if (left.isRest || right.isRest) return Number(left.isRest) - Number(right.isRest)
    if (read === undefined) return name(left).localeCompare(name(right)) * (isAscending ? 1 : -1)
    const [a, b] = [read(left), read(right)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return isAscending ? a - b : b - a
  })
}

const STATUS_NAMES: Readonly<Record<string, string>> = {
  '2xx': '2xx succeeded',
  '4xx': "4xx refused, or the caller's fault",
  '5xx': '5xx failed upstream or here',
}

const CREDENTIAL_NAMES: Readonly<Record<string, string>> = {
  own: 'Own provider key or model',
  platform: "The platform's credential",
}

const NOTHING: Readonly<Record<GroupName, string>> = {
  gate: 'No gate',
  target: 'No target was asked',
  key: 'No key',
  status: 'No status',
  credential: 'No target was asked',
  user: 'No person is known',
  session: 'No session',
  agent: 'Main agent',
  tag: 'No tag',
  model: 'No target was asked',
  provider: 'No target was asked',
}

export type NameGroup = (sum: Pick<Sum, 'group' | 'isRest'>) => string

export function toGroupNames(
  by: GroupName,
  sums: readonly Pick<Sum, 'group' | 'name'>[],
): NameGroup {
  const names = new Map(sums.map(({ group, name }) => [group, name]))
  return ({ group, isRest }) => {
    if (isRest) return 'All others'
    if (group === null) return NOTHING[by]
    if (by === 'status') return STATUS_NAMES[group] ?? group
    if (by === 'credential') return CREDENTIAL_NAMES[group] ?? group
    return nameOfGroup({ group, name: names.get(group) }, by)
  }
}

/** For sums whose groups are pairs. */
export function toPairNames(
  [by, then]: readonly [by: GroupName, then: GroupName],
  sums: readonly Sum[],
): NameGroup {
  const first = toGroupNames(by, sums)
  const second = toGroupNames(
    then,
    sums.map(({ thenGroup, thenName }) => ({ group: thenGroup, name: thenName })),
  )
  const names = new Map(
    sums.map((sum) => [
      toPair(sum),
      `${first(sum)} · ${second({ group: sum.thenGroup, isRest: false })}`,
    ]),
  )
  return ({ group, isRest }) => (isRest ? 'All others' : (names.get(group ?? '') ?? ''))
}
