/**
 * Deletes expired rows in batches. Anyone can create a hundred thousand rows with failed sign-ins,
 * and deleting all at once blocked a SQLite node's event loop for half a second.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { relieveLog } from '../database/checkpoint-thread.ts'
import type { Schema } from '../schema.ts'

const ROWS_PER_LOOK = 256
export const ROWS_PER_DELETION = 32

interface ExpiringRows {
  readonly table: 'user_sessions' | 'user_verifications' | 'sign_in_tries'
  readonly primaryKey: 'id' | 'name'
  readonly column: 'expires_at' | 'forget_at'
  readonly until: number | string
}

/** Scans all rows in key order, so the table needs no index on times. */
export async function deleteExpired(
  database: Kysely<Schema>,
  { table, primaryKey, column, until }: ExpiringRows,
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
      await relieveLog(database, deleted)
      await nextTurn()
      if (deleted < ROWS_PER_DELETION) break
    }
    if (last === undefined) return
    after = last
  }
}
