/** Decides which tables answer a usage query, and which queries no table can answer. */
import type { Kysely } from 'kysely'
import { HASHED_KINDS } from '../../core/attribution.ts'
import type { Schema } from '../schema.ts'
import { findDeletedBefore } from './old-hours.ts'
import { type CallerDayTableName, DAY_MS, type SourceTable } from './usage-columns.ts'
import { planSpans, type UsageQuery } from './usage-query.ts'

export interface SourceSpan {
  readonly table: SourceTable
  readonly fromMs: number
  readonly toMs: number
}

/** No table holds what was asked about the time before `beforeMs`. */
export class UsageDeletedError extends Error {
  override readonly name = 'UsageDeletedError'
  readonly beforeMs: number
  /**
   * `hours`: the sums by the hour are deleted. `calls`: the calls that the query needs are deleted.
   * `users`: the sums by user are deleted.
   */
  readonly what: 'hours' | 'calls' | 'users'

  constructor(what: UsageDeletedError['what'], beforeMs: number) {
    super(`The ${what} before ${new Date(beforeMs).toISOString()} are deleted.`)
    this.what = what
    this.beforeMs = beforeMs
  }
}

export function sourcesOf(query: UsageQuery): readonly SourceSpan[] {
  if (!isOfCallers(query)) return planSpans(query)
  const days = dayTableOf(query)
  if (days === undefined) return [{ table: 'calls', fromMs: query.fromMs, toMs: query.toMs }]
  return planSpans(query).map((span) => ({
    ...span,
    table: span.table === 'usage_days' ? days : 'calls',
  }))
}

const OF_CALLERS: ReadonlySet<string | null | undefined> = new Set(HASHED_KINDS)

export function isOfCallers(query: UsageQuery): boolean {
  const { groupBy, thenBy, userId, sessionIds, agentIds, tagId } = query
  if (OF_CALLERS.has(groupBy) || OF_CALLERS.has(thenBy)) return true
  return [userId, sessionIds, agentIds, tagId].some((filter) => filter !== undefined)
}

/** Whether the sums of sessions answer the query, apart from sessions across the range's bounds. */
export function isOfWholeSessions(query: UsageQuery): boolean {
  const { interval, groupBy, thenBy, gateId, target, userId, sessionIds, agentIds, tagId } = query
  return (
    groupBy === 'session' &&
    thenBy === undefined &&
    interval === 'all' &&
    [gateId, target, userId, sessionIds, agentIds, tagId].every((filter) => filter === undefined)
  )
}

/** The sums by day that answer the query; undefined: the query combines dimensions. */
export function dayTableOf(query: UsageQuery): CallerDayTableName | undefined {
  const { groupBy, thenBy, gateId, target, keyId, userId, sessionIds, agentIds, tagId } = query
  if ([thenBy, gateId, target, keyId, sessionIds, agentIds].some((filter) => filter !== undefined))
    return undefined
  const isOf = (group: 'user' | 'tag') => groupBy === null || groupBy === group
  if (tagId === undefined && isOf('user') && (groupBy === 'user' || userId !== undefined))
    return 'user_days'
  // Calls with a tag may have further tags, so a filter by tag is not grouped by tag from the days.
  if (userId === undefined && isOf('tag') && (groupBy === 'tag') === (tagId === undefined))
    return 'tag_days'
  return undefined
}

/**
 * The query with an answerable range: widened to whole days where hours are deleted.
 * @param transaction the transaction that reads the rows
 * @throws UsageDeletedError
 */
export async function toAnswerable<Query extends UsageQuery>(
  transaction: Kysely<Schema>,
  query: Query,
): Promise<Query> {
  const isByCalls = isOfCallers(query)
  const days = isByCalls ? dayTableOf(query) : 'usage_days'
  const deletedBefore = await findDeletedBefore(transaction, isByCalls ? 'calls' : 'usage_hours')
  const { fromMs, toMs, interval } = query
  if (days === undefined) {
    if (fromMs < deletedBefore) throw new UsageDeletedError('calls', deletedBefore)
    return query
  }
  let answerable = query
  if (fromMs < deletedBefore) {
    if (interval === 'hour') throw new UsageDeletedError('hours', deletedBefore)
    answerable = {
      ...query,
      fromMs: Math.floor(fromMs / DAY_MS) * DAY_MS,
      toMs: toMs < deletedBefore ? Math.ceil(toMs / DAY_MS) * DAY_MS : toMs,
    }
  }
  if (days === 'user_days') {
    const usersDeletedBefore = await findDeletedBefore(transaction, 'user_days')
    if (answerable.fromMs < usersDeletedBefore)
      throw new UsageDeletedError('users', usersDeletedBefore)
  }
  return answerable
}
