/**
 * Reads an account's usage in pages: whole days from `usage_days`, the hours before and after them
 * from `usage_hours`. For SQLite, which reads on the event loop: `sum-usage-rows.ts` is for
 * Postgres.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import type { Schema } from '../schema.ts'
import {
  AMOUNT_COLUMNS,
  DAY_MS,
  DIMENSION_COLUMNS,
  DIMENSIONS,
  type UsageRow,
} from './usage-columns.ts'
import { planSpans, type Span } from './usage-query.ts'

export interface UsageRange {
  readonly accountId: AccountId
  /** Both bounds are at the beginning of an hour, in milliseconds since the Unix epoch. */
  readonly fromMs: number
  /** Exclusive; infinite includes calls in the future of a wrong clock. */
  readonly untilMs: number
}

const ROWS_PER_PAGE = 400

export async function* readPages(
  database: Kysely<Schema>,
  range: UsageRange,
  signal?: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  const { accountId } = range
  for (const { table, ...span } of await findSpans(database, range)) {
    let after: UsageRow | undefined
    do {
      signal?.throwIfAborted()
      const ofSpan = { accountId, fromMs: span.fromMs, untilMs: span.toMs }
      const rows = await readPage(database, table, ofSpan, after)
      yield rows
      await nextTurn()
      after = rows.length < ROWS_PER_PAGE ? undefined : rows.at(-1)
    } while (after !== undefined)
  }
}

/** The parts of the range that have usage, from the first day with usage to the last one. */
export async function findSpans(
  database: Kysely<Schema>,
  range: UsageRange,
): Promise<readonly Span[]> {
  const bounds = await findDays(database, range)
  if (bounds === undefined) return []
  const fromMs = Math.max(bounds.firstMs, range.fromMs)
  const toMs = Math.min(bounds.lastMs + DAY_MS, range.untilMs)
  return planSpans({ fromMs, toMs, interval: 'all' })
}

async function findDays(
  database: Kysely<Schema>,
  { accountId, fromMs, untilMs }: UsageRange,
): Promise<{ readonly firstMs: number; readonly lastMs: number } | undefined> {
  let days = database
    .selectFrom('usage_days')
    .select((eb) => [eb.fn.min('starts_at').as('first'), eb.fn.max('starts_at').as('last')])
    .where('account_id', '=', accountId)
    .where('starts_at', '>=', fromMs - (fromMs % DAY_MS))
  if (Number.isFinite(untilMs)) days = days.where('starts_at', '<', untilMs)
  const row = await days.executeTakeFirst()
  if (row === undefined || row.first === null || row.last === null) return undefined
  return { firstMs: Number(row.first), lastMs: Number(row.last) }
}

async function readPage(
  database: Kysely<Schema>,
  table: Span['table'],
  { accountId, fromMs, untilMs }: UsageRange,
  after: UsageRow | undefined,
): Promise<readonly UsageRow[]> {
  const begin = after === undefined ? sql`starts_at >= ${fromMs}` : isAfter(after)
  const { rows } = await sql<UsageRow>`
    SELECT ${DIMENSION_COLUMNS}, ${AMOUNT_COLUMNS}
    FROM ${sql.table(table)}
    WHERE account_id = ${accountId} AND ${begin} AND starts_at < ${untilMs}
    ORDER BY ${DIMENSION_COLUMNS}
    LIMIT ${ROWS_PER_PAGE}
  `.execute(database)
  return rows
}

function isAfter(last: UsageRow): RawBuilder<boolean> {
  const values = DIMENSIONS.map((name) => last[name])
  return sql`(${DIMENSION_COLUMNS}) > (${sql.join(values)})`
}
