/**
 * Reads an account's usage in steps: whole days from `usage_days`, the hours before and after them
 * from `usage_hours`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { isSqlite } from '../database/sql-differences.ts'
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

const ROWS_OF_SQLITE = 400
const ROWS_OF_POSTGRES = 200

export async function* readPages(
  database: Kysely<Schema>,
  range: UsageRange,
  signal?: AbortSignal,
): AsyncGenerator<readonly UsageRow[]> {
  const bounds = await findDays(database, range)
  if (bounds === undefined) return
  const { accountId } = range
  const fromMs = Math.max(bounds.firstMs, range.fromMs)
  const toMs = Math.min(bounds.lastMs + DAY_MS, range.untilMs)
  for (const { table, ...span } of planSpans({ fromMs, toMs, interval: 'all' })) {
    const most = isSqlite(database) ? ROWS_OF_SQLITE : ROWS_OF_POSTGRES
    let after: UsageRow | undefined
    do {
      signal?.throwIfAborted()
      const ofSpan = { accountId, fromMs: span.fromMs, untilMs: span.toMs }
      const rows = await readPage(database, table, ofSpan, { after, most })
      yield rows
      await nextTurn()
      after = rows.length < most ? undefined : rows.at(-1)
    } while (after !== undefined)
  }
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
  { after, most }: { readonly after: UsageRow | undefined; readonly most: number },
): Promise<readonly UsageRow[]> {
  const begin = after === undefined ? sql`starts_at >= ${fromMs}` : isAfter(after)
  const { rows } = await sql<UsageRow>`
    SELECT ${DIMENSION_COLUMNS}, ${AMOUNT_COLUMNS}
    FROM ${sql.table(table)}
    WHERE account_id = ${accountId} AND ${begin} AND starts_at < ${untilMs}
    ORDER BY ${DIMENSION_COLUMNS}
    LIMIT ${most}
  `.execute(database)
  return rows
}

function isAfter(last: UsageRow): RawBuilder<boolean> {
  const values = DIMENSIONS.map((name) =>
    name === 'status_class' ? sql`cast(${last[name]} as bigint)` : last[name],
  )
  return sql`(${DIMENSION_COLUMNS}) > (${sql.join(values)})`
}
