/**
 * Groups of a page in SQL: the groups that the page shows by themselves, and the others as one. A
 * step of thousands of keys or users becomes a few rows.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { PLAYGROUND_KEY } from '../../core/attribution.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { PageGroups, UsageQuery } from './usage-query.ts'

/** Stands for the groups that are not shown. No gate, target, key or user has this name. */
export const REST = '\n'

/** The column of keys, in which playground calls have the member's id. */
export function toGroupColumn(
  column: string,
  { onlyMember }: Pick<UsageQuery, 'onlyMember'>,
): RawBuilder<unknown> {
  if (column !== 'key_id' || onlyMember === undefined) return sql.ref(column)
  return sql`CASE WHEN substr(key_id, 1, 5) = 'user_' AND key_id <> ${onlyMember}
    THEN ${sql.lit(PLAYGROUND_KEY)} ELSE key_id END`
}

/** @returns the column, or its shown groups and one group for the others */
export function toRanked(
  database: Kysely<Schema>,
  column: RawBuilder<unknown>,
  groups: PageGroups | undefined,
): RawBuilder<unknown> {
  if (groups === undefined) return column
  return sql`CASE WHEN ${isIn(database, column, groups.shown)} THEN ${column}
    WHEN ${column} IS NULL THEN NULL ELSE ${sql.lit(REST)} END`
}

/** A condition without the groups of earlier pages. */
export function exceptBefore(
  database: Kysely<Schema>,
  column: RawBuilder<unknown>,
  groups: PageGroups | undefined,
): RawBuilder<unknown> {
  if (groups === undefined || groups.before.size === 0) return sql``
  return sql`AND (${column} IS NULL OR NOT ${isIn(database, column, groups.before)})`
}

/** Takes any number of groups as one parameter. */
export function isIn(
  database: Kysely<Schema>,
  column: RawBuilder<unknown>,
  groups: ReadonlySet<string | null>,
): RawBuilder<unknown> {
  const list = JSON.stringify([...groups].map((group) => group ?? ''))
  const table = isSqlite(database)
    ? sql`SELECT value FROM json_each(${list})`
    : sql`SELECT json_array_elements_text(${list}::json)`
  return sql`${column} IN (${table})`
}
