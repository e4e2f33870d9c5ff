/**
 * Returns the space of deleted rows to the disk in steps. SQLite keeps the space in its file;
 * Postgres returns space without help.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { isSqlite } from './sql-differences.ts'

const PAGES_PER_STEP = 16
/**
 * This share of the file stays free for new rows, so that no pages move while inserts and deletes
 * balance.
 */
const KEPT_SHARE = 0.1
const INCREMENTAL = 2

/**
 * Skips files of older versions, which lack the needed bookkeeping: see docs/operations/sizing.md.
 * @returns by how many pages the file shrank
 */
export async function giveBackSpace(
  database: Kysely<Schema>,
  { signal, pauseMs = 0 }: { readonly signal?: AbortSignal; readonly pauseMs?: number } = {},
): Promise<number> {
  if (!isSqlite(database) || (await readPragma(database, 'auto_vacuum')) !== INCREMENTAL) return 0
  const before = await readPragma(database, 'page_count')
  for (;;) {
    const pages = await readPragma(database, 'page_count')
    const free = await readPragma(database, 'freelist_count')
    if (free <= pages * KEPT_SHARE + PAGES_PER_STEP || signal?.aborted) return before - pages
    await sql`PRAGMA incremental_vacuum(${sql.lit(PAGES_PER_STEP)})`.execute(database)
    await (pauseMs > 0 ? Bun.sleep(pauseMs) : nextTurn())
  }
}

async function readPragma(
  database: Kysely<Schema>,
  name: 'auto_vacuum' | 'page_count' | 'freelist_count',
): Promise<number> {
  const { rows } = await sql<Record<string, number>>`PRAGMA ${sql.raw(name)}`.execute(database)
  return rows[0]?.[name] ?? 0
}
