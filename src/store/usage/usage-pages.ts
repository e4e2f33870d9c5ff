/**
 * Reads what one account used from the roll-ups, a bounded number of rows at a time, however many
 * hours, keys and gates there are. Whole days and months come from their sums. Must not know what
 * the rows are added up for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { spanOf } from '../../core/period.ts'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema, UsageTable } from '../schema.ts'
import { readBacklog } from './usage-backlog.ts'
import { isAfterPlace, PLACE_COLUMNS, type Place } from './usage-hours.ts'
import { planSpans, type Span } from './usage-rows.ts'

/** Of one account's calls of one place that began in the same hour, day or month. */
export interface UsageRow extends Readonly<Omit<Place, 'account_id'>> {
  /** Input and output together. */
  readonly tokens: number
  readonly cost_nano_usd: number
  /** Calls that reported what they used and whose cost is not known. */
  readonly unpriced: number
}

export interface UsageRange {
  readonly accountId: AccountId
  /** Both at the beginning of an hour, in milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Exclusive; infinite: however late they began, on whatever clock. */
  readonly untilMs: number
}

/** A millisecond of the event loop. What a server sends is text, and parsed in one turn. */
const ROWS_OF_SQLITE = 400
const ROWS_OF_POSTGRES = 200

/** Notes that wait to be added to the hours. @param ofBatches as `readBacklog` has it */
export async function readNotes(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs }: UsageRange,
  ofBatches?: readonly UsageTable[],
): Promise<readonly UsageRow[]> {
  const notes = await readBacklog(database, accountId, ofBatches)
  return notes
    .filter(({ starts_at }) => starts_at >= fromMs && starts_at < untilMs)
    .map((note) => ({
      ...note,
      tokens: note.input_tokens + note.output_tokens,
      unpriced: Math.max(0, note.cost_unknown - note.unreported),
    }))
}

/** Others get their turn after each page. @throws the signal's reason (rejects) */
export async function* readPages(
  database: Kysely<Schema>,
  range: UsageRange,
  signal?: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  const first = await findEdge(database, range, 'asc')
  const last = await findEdge(database, range, 'desc')
  if (first === undefined || last === undefined) return
  const { accountId, untilMs } = range
  // Whole months, where the range has them: those are summed up.
  const fromMs = Math.max(spanOf('month', first).startsAtMs, range.fromMs)
  const toMs = Math.min(spanOf('month', last).endsAtMs, untilMs)
  for (const span of await planSpans(database, accountId, { fromMs, toMs, interval: 'all' })) {
    const ofSpan = { accountId, fromMs: span.fromMs, untilMs: span.toMs }
    yield* readPagesOf(database, span.table, ofSpan, signal)
  }
}

/** The rows of one table. @throws the signal's reason (rejects) */
export async function* readPagesOf(
  database: Kysely<Schema>,
  table: Span['table'],
  range: UsageRange,
  signal?: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  const most = isSqlite(database) ? ROWS_OF_SQLITE : ROWS_OF_POSTGRES
  let after: UsageRow | undefined
  do {
    signal?.throwIfAborted()
    const rows = await readPage(database, table, range, { after, most })
    yield rows
    await nextTurn()
    after = rows.length < most ? undefined : rows.at(-1)
  } while (after !== undefined)
}

/** The first or the last of an account's hours of a stretch of time. */
async function findEdge(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs }: UsageRange,
  direction: 'asc' | 'desc',
): Promise<number | undefined> {
  let hours = database
    .selectFrom('usage_hours')
    .select('starts_at')
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs)
  if (Number.isFinite(untilMs)) hours = hours.where('starts_at', '<', untilMs)
  const row = await hours.orderBy('starts_at', direction).limit(1).executeTakeFirst()
  return row?.starts_at
}

async function readPage(
  database: Kysely<Schema>,
  table: Span['table'],
  { accountId, fromMs, untilMs }: UsageRange,
  { after, most }: { readonly after: UsageRow | undefined; readonly most: number },
): Promise<readonly UsageRow[]> {
  const begin = after === undefined ? sql`starts_at >= ${fromMs}` : isAfterPlace(after)
  // For each row by itself: of one target what is not reported is either free, or its cost unknown.
  const { rows } = await sql<UsageRow>`
    SELECT ${PLACE_COLUMNS}, 1.0 * input_tokens + output_tokens AS tokens,
      cost_nano_usd, CASE WHEN cost_unknown > unreported THEN cost_unknown - unreported ELSE 0 END AS unpriced
    FROM ${sql.table(table)}
    WHERE account_id = ${accountId} AND ${begin} AND starts_at < ${untilMs}
    ORDER BY ${PLACE_COLUMNS}
    LIMIT ${most}
  `.execute(database)
  return rows
}
