import type { CompiledQuery, Kysely } from 'kysely'
import type { LoopTurns } from '../../core/loop-turns.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { COUNTERS } from './usage-columns.ts'
import type { SummedRow } from './usage-query.ts'

const COLUMNS = ['starts_at', 'group', ...COUNTERS, 'refused', 'unpriced'] as const

/** For `readInSlices`: the rows come in parts, so only memory limits their number. */
export const IN_PARTS = { charactersOf: () => 6 } as const

/** Parsing a part blocks the event loop for half a millisecond. */
const ROWS_OF_PART = 500

/**
 * Runs a query whose rows have no histograms. A server's rows come as JSON texts, because thousands
 * of keys, users and sessions come at once.
 */
export async function querySummed<Row extends SummedRow>(
  database: Kysely<Schema>,
  query: CompiledQuery<Row>,
  { turns, columns = COLUMNS }: { readonly turns: LoopTurns; readonly columns?: readonly string[] },
): Promise<readonly Row[]> {
  if (isSqlite(database)) return (await database.executeQuery(query)).rows
  const values = columns.map((column) => `page."${column}"`).join(', ')
  const parts = await database.executeQuery<{ readonly rows: string }>({
    ...query,
    sql: `SELECT json_agg(json_build_array(${values}))::text AS rows
      FROM (SELECT *, (row_number() OVER () - 1) / ${ROWS_OF_PART} AS part FROM (${query.sql}) AS rows)
        AS page
      GROUP BY part ORDER BY part`,
  })
  const found: Row[] = []
  turns.begin()
  for (const [index, { rows }] of parts.rows.entries()) {
    if (index > 0) await turns.next()
    for (const values of JSON.parse(rows) as unknown[][]) {
      const named: Record<string, unknown> = {}
      for (const [place, column] of columns.entries()) named[column] = values[place]
      found.push(named as unknown as Row)
    }
  }
  return found
}
