/** The reader's choices in the analytics, stored in the address, so that a view can be shared. */
import { HASHED_KINDS } from '../../../src/contract/words.ts'
import type { NamedGroupBy } from '../../format/group-name.ts'
import { parseRangeChoice, type RangeChoice } from '../../format/time-range.ts'
import { CALLS, COST, ERRORS, type Measure, TOKENS } from '../../format/usage-measures.ts'

export const NAMED_GROUPS: readonly NamedGroupBy[] = ['gate', 'target', 'key', ...HASHED_KINDS]

export const GROUPS = [
  ['gate', 'Gate'],
  ['target', 'Target'],
  ['key', 'Key'],
  ['status', 'Status'],
  ['credential', 'Credential'],
  ['user', 'Person'],
  ['session', 'Session'],
  ['agent', 'Agent'],
  ['tag', 'Tag'],
  ['model', 'Model'],
  ['provider', 'Provider'],
] as const

export type GroupName = (typeof GROUPS)[number][0]

/** The measures that can be drawn: only figures that add up can be stacked. */
export const DRAWN = {
  calls: CALLS,
  errors: ERRORS,
  tokens: TOKENS,
  cost: COST,
} as const satisfies Readonly<Record<string, Measure>>
export type DrawnName = keyof typeof DRAWN

export interface Choices {
  readonly range: RangeChoice
  readonly by: GroupName
  /** The second dimension: a row for each pair. */
  readonly thenBy: GroupName | undefined
  /** Words of the names of people or tags. */
  readonly find: string | undefined
  readonly show: DrawnName
  readonly filters: Readonly<Partial<Record<NamedGroupBy, string>>>
  readonly sort: string
  readonly isAscending: boolean
}

type Search = Readonly<Record<string, unknown>>

export function parseChoices(search: Search): Choices {
  const show = isDrawn(search.show) ? search.show : 'calls'
  const filters = Object.fromEntries(
    NAMED_GROUPS.flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )
  const by = GROUPS.find(([name]) => name === search.by)?.[0] ?? 'gate'
  const thenBy = GROUPS.find(([name]) => name === search.thenBy && name !== by)?.[0]
  const canFind = isSearchable({ by, thenBy }) && typeof search.find === 'string'
  return {
    range: parseRangeChoice(search),
    by,
    thenBy,
    find: canFind && search.find !== '' ? String(search.find) : undefined,
    show,
    filters,
    sort: typeof search.sort === 'string' ? search.sort : show,
    isAscending: search.order === 'asc',
  }
}

/** The server searches the names of single groups of these kinds. */
export function isSearchable({ by, thenBy }: Pick<Choices, 'by' | 'thenBy'>): boolean {
  return (by === 'user' || by === 'tag') && thenBy === undefined
}

/** The server's ranking of groups, so that the first page matches the table's order. */
export function orderOf({ by, sort, show, isAscending }: Choices): DrawnName | 'name' {
  // The server orders keys by their ids.
  if (sort === 'name') return isAscending && by !== 'key' ? 'name' : show
  return isDrawn(sort) && !isAscending ? sort : show
}

/** Omits defaults, so that addresses stay short. */
export function toSearch(choices: Choices): Record<string, string> {
  return {
    ...choices.range,
    ...(choices.by === 'gate' ? {} : { by: choices.by }),
    ...(choices.thenBy === undefined || choices.thenBy === choices.by
      ? {}
      : { thenBy: choices.thenBy }),
    ...(choices.find !== undefined && isSearchable(choices) ? { find: choices.find } : {}),
    ...(choices.show === 'calls' ? {} : { show: choices.show }),
    ...(choices.sort === choices.show ? {} : { sort: choices.sort }),
    ...(choices.isAscending ? { order: 'asc' } : {}),
    ...choices.filters,
  }
}

function isDrawn(value: unknown): value is DrawnName {
  return typeof value === 'string' && Object.hasOwn(DRAWN, value)
}

const FILTER_OF: Readonly<Partial<Record<GroupName, string>>> = {
  gate: 'gate',
  target: 'target',
  key: 'key',
  status: 'status',
  user: 'user',
  session: 'session',
  agent: 'agent',
  tag: 'tag',
}

export function toLogFilters(
  { by, thenBy, show, filters }: Pick<Choices, 'by' | 'thenBy' | 'show' | 'filters'>,
  group: string | null | undefined,
): Readonly<Record<string, string | undefined>> {
  const [first, second] = thenBy === undefined ? [group] : fromPair(group)
  return {
    ...filters,
    ...toFilter(by, first),
    ...(thenBy === undefined ? {} : toFilter(thenBy, second)),
    ...(show === 'errors' ? { outcome: 'failed' } : {}),
  }
}

function toFilter(
  by: GroupName,
  group: string | null | undefined,
): Readonly<Record<string, string>> {
  const filter = FILTER_OF[by]
  return filter === undefined || typeof group !== 'string' || group === ''
    ? {}
    : { [filter]: group }
}

interface PairOfGroups {
  readonly group: string | null
  readonly thenGroup: string | null
}

/** A pair of groups as one text, so that charts and tables treat it like a group. */
export function toPair({ group, thenGroup }: PairOfGroups): string {
  return `${group ?? ''}\t${thenGroup ?? ''}`
}

function fromPair(pair: string | null | undefined): readonly (string | undefined)[] {
  return pair?.split('\t') ?? []
}
