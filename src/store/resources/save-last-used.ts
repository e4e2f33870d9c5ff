/**
 * Writes when things were last used: one statement for many rows. Must not know what they are, nor
 * who used them.
 */
import { CompiledQuery, type Kysely } from 'kysely'
import { MOST_AHEAD_MS } from '../../core/api-key.ts'
import { placeholder } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

/** Some two tenths of a millisecond of SQLite. */
export const USES_PER_STATEMENT = 64

export interface UsedThings {
  readonly table: 'api_keys' | 'provider_keys'
  /** The columns that name a row, in the order in which its values are given. */
  readonly key: readonly string[]
  /** The statement by its number of rows: making its text costs more than running it. */
  readonly statements: Map<number, CompiledQuery>
}

export interface LastUse {
  readonly key: readonly string[]
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/**
 * Rows that are gone are passed over, and so are those that another node saw used later, unless its
 * clock must have been wrong.
 */
export async function saveLastUses(
  database: Kysely<Schema>,
  things: UsedThings,
  uses: readonly LastUse[],
): Promise<void> {
  // Nodes that write the same rows at once take them in the same order, and none waits for the
  // other in a circle.
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

/**
 * Written as text: to put as much together, Kysely takes 2 ms of the event loop when it is first
 * asked to, and half of one afterwards.
 */
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
  // Both databases name the columns of such a list column1, column2 and so on.
  const matches = key.map((name, index) => `${table}.${name} = used.column${index + 1}`)
  const at = `used.column${width}`
  return CompiledQuery.raw(`
    UPDATE ${table} SET last_used_at = ${at} FROM (VALUES ${rows}) AS used
    WHERE ${matches.join(' AND ')} AND (${table}.last_used_at IS NULL OR ${table}.last_used_at < ${at}
      OR ${table}.last_used_at - ${at} > ${MOST_AHEAD_MS})
  `)
}
