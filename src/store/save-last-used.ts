/**
 * Writes when things were last used: one statement for many rows. Must not know what they are, nor
 * who used them.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Some two tenths of a millisecond of SQLite. */
export const USES_PER_STATEMENT = 64

export interface UsedThings {
  readonly table: 'api_keys' | 'provider_keys'
  /** What names a row, in the order in which its values are given. */
  readonly key: readonly string[]
  /** The statement by its number of rows: making its text costs more than running it. */
  readonly statements: Map<number, CompiledQuery>
}

export interface LastUse {
  readonly key: readonly string[]
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** Rows that are gone are passed over, and so are those that another node saw used later. */
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

function compile(
  database: Kysely<Schema>,
  { table, key }: UsedThings,
  count: number,
): CompiledQuery {
  // Both databases name the columns of such a list column1, column2 and so on.
  const row = sql`(${sql.join([...key.map(() => sql`${''}`), sql`cast(${0} as bigint)`])})`
  const at = sql.ref(`used.column${key.length + 1}`)
  const matches = key.map(
    (name, index) => sql`${sql.ref(`${table}.${name}`)} = ${sql.ref(`used.column${index + 1}`)}`,
  )
  return sql`
    UPDATE ${sql.table(table)} SET last_used_at = ${at}
    FROM (VALUES ${sql.join(Array.from({ length: count }, () => row))}) AS used
    WHERE ${sql.join(matches, sql` AND `)}
      AND (${sql.ref(`${table}.last_used_at`)} IS NULL OR ${sql.ref(`${table}.last_used_at`)} < ${at})
  `.compile(database)
}
