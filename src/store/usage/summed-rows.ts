import type { CompiledQuery, Kysely } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { COUNTERS } from './usage-columns.ts'
import type { SummedRow } from './usage-query.ts'

const COLUMNS = ['starts_at', 'group', ...COUNTERS, 'refused', 'unpriced'] as const

/** A row as JSON from a server, in the characters of `readInSlices`. */
export const SUMMED_ROW_IN_CHARACTERS = 120

/**
 * Runs a query whose columns are those of `SummedRow` without histograms. A server's rows come as
 * one JSON text, because thousands of users and sessions come at once.
 * @param more further columns of the query
 */
export async function querySummed<Row extends SummedRow>(
  database: Kysely<Schema>,
  query: CompiledQuery<Row>,
  more: readonly string[] = [],
): Promise<readonly Row[]> {
  if (isSqlite(database)) return (await database.executeQuery(query)).rows
  const columns = [...COLUMNS, ...more]
  const values = columns.map((column) => `page."${column}"`).join(', ')
  const { rows } = await database.executeQuery<{ readonly rows: string | null }>({
    ...query,
    sql: `SELECT json_agg(json_build_array(${values}))::text AS rows FROM (${query.sql}) AS page`,
  })
  const text = rows[0]?.rows ?? null
  if (text === null) return []
  return (JSON.parse(text) as unknown[][]).map((row) => {
    const named: Record<string, unknown> = {}
    for (const [index, column] of columns.entries()) named[column] = row[index]
    return named as unknown as Row
  })
}
