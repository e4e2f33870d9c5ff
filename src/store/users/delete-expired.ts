/**
 * Deletes rows that have run out, some at a time: a hundred thousand at once, which anybody can make
 * by signing in wrongly, held the event loop of a node on SQLite for half a second. Must not know
 * what the rows are.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/** Looked at in one turn of the event loop: a tenth of a millisecond. */
const ROWS_PER_LOOK = 256
/** Deleted in one: each touches pages of its own. */
export const ROWS_PER_DELETION = 32

interface ExpiringRows {
  readonly table: 'user_sessions' | 'user_verifications' | 'sign_in_tries'
  /** A text that is never empty. */
  readonly primaryKey: 'id' | 'name'
  readonly column: 'expires_at' | 'forget_at'
  /** Those of this time and before are deleted. */
  readonly until: number | string
}

/**
 * Goes through all rows in the order of their keys, and so needs no index of times.
 * @param relieve awaited after so many rows
 */
export async function deleteExpired(
  database: Kysely<Schema>,
  { table, primaryKey, column, until }: ExpiringRows,
  relieve: (rows: number) => Promise<void>,
): Promise<void> {
  const [rows, key, time] = [sql.table(table), sql.ref(primaryKey), sql.ref(column)]
  for (let after = ''; ; ) {
    const { rows: found } = await sql<{ key: string }>`
      SELECT ${key} AS key FROM ${rows} WHERE ${key} > ${after}
      ORDER BY ${key} LIMIT 1 OFFSET ${sql.lit(ROWS_PER_LOOK - 1)}`.execute(database)
    const last = found[0]?.key
    const upToLast = last === undefined ? sql`` : sql`AND ${key} <= ${last}`
    for (;;) {
      const { numAffectedRows } = await sql`DELETE FROM ${rows} WHERE ${key} IN (
        SELECT ${key} FROM ${rows} WHERE ${key} > ${after} ${upToLast} AND ${time} <= ${until}
        LIMIT ${sql.lit(ROWS_PER_DELETION)})`.execute(database)
      const deleted = Number(numAffectedRows)
      await relieve(deleted)
      await nextTurn()
      if (deleted < ROWS_PER_DELETION) break
    }
    if (last === undefined) return
    after = last
  }
}
