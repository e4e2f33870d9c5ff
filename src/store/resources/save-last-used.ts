/** Writes last-used times: one statement for many rows. */
import { CompiledQuery, type Kysely } from 'kysely'
import { MOST_AHEAD_MS } from '../../core/api-key.ts'
import { placeholder } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export const USES_PER_STATEMENT = 64

export interface UsedThings {
  readonly table: 'api_keys' | 'provider_keys'
  readonly key: readonly string[]
  /**
   * Statements by number of rows, because building the text costs more than running the statement.
   */
  readonly statements: Map<number, CompiledQuery>
}

export interface LastUse {
  readonly key: readonly string[]
  readonly at: number
}

/**
 * Skips deleted rows, and later uses that another node has recorded. A use far in the future comes
 * from a wrong clock and is overwritten.
 */
export async function saveLastUses(
  database: Kysely<Schema>,
  things: UsedThings,
  uses: readonly LastUse[],
): Promise<void> {
  // Sorted, so that nodes that write the same rows cannot deadlock.
  const sorted = uses.toSorted((a, b) => (a.key.join(' ') < b.key.join(' ') ? -1 : 1))
  for (let start = 0; start < sorted.length; start += USES_PER_STATEMENT) {
    const some = sorted.slice(start, start + USES_PER_STATEMENT)
    const statement = things.statements.get(some.length) ?? compile(database, things, some.length)
    things.statements.set(some.length, statement)
    await database.executeQuery({
      ...statement,
      parameters: some.flatMap(({ key, at }) => [...key, at]),
    })
  }
}

function compile(
  database: Kysely<Schema>,
  { table, key }: UsedThings,
  count: number,
): CompiledQuery {
  const width = key.length + 1
  const rows = Array.from({ length: count }, (_, row) => {
    const mark = (column: number) => placeholder(database, row * width + column)
    return `(${[...key.map((_name, index) => mark(index + 1)), `cast(${mark(width)} as bigint)`]})`
  })
  // Both databases name these columns column1, column2 and so on.
  const matches = key.map((name, index) => `${table}.${name} = used.column${index + 1}`)
  const at = `used.column${width}`
  return CompiledQuery.raw(`
    UPDATE ${table} SET last_used_at = ${at} FROM (VALUES ${rows}) AS used
    WHERE ${matches.join(' AND ')} AND (${table}.last_used_at IS NULL OR ${table}.last_used_at < ${at}
      OR ${table}.last_used_at - ${at} > ${MOST_AHEAD_MS})
  `)
}
