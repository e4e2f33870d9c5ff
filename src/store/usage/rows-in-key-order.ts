/**
 * Reads the rows of sums in the order of the primary key, some at a time. SQLite reads single rows
 * faster than it groups them by a column behind the others in the key, and each statement is short.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { SourceTable } from './usage-columns.ts'
import type { ReadRows, SummedRow, UsageReading } from './usage-query.ts'

/** Reading so many rows blocks the event loop for half a millisecond. */
const ROWS_OF_STATEMENT = 500

export interface RowsInKeyOrder {
  readonly table: SourceTable
  /** The columns of the primary key after the account: `starts_at`, then columns of text. */
  readonly key: readonly string[]
  readonly columns: readonly RawBuilder<unknown>[]
  readonly where?: RawBuilder<unknown>
  readonly fromMs: number
  readonly toMs: number
}

type Place = Readonly<Record<string, unknown>>

export async function* readInKeyOrder<Row extends SummedRow>(
  database: Kysely<Schema>,
  { accountId, turns }: Pick<UsageReading, 'accountId' | 'turns'>,
  { table, key, columns, where = sql``, fromMs, toMs }: RowsInKeyOrder,
): AsyncGenerator<ReadRows<Row>> {
  const names = sql.join(key.map((name) => sql.ref(name)))
  const places = key.map((name) => Symbol(name))
  const compiled = sql<Row & Place>`
    SELECT ${names}, ${sql.join(columns)} FROM ${sql.table(table)}
    WHERE account_id = ${accountId} AND (${names}) > (${sql.join(places)})
      AND starts_at < ${toMs} ${where}
    ORDER BY ${names} LIMIT ${ROWS_OF_STATEMENT}`.compile(database)
  let last: readonly unknown[] = key.map((name) => (name === 'starts_at' ? fromMs : ''))
  for (;;) {
    const after = new Map(places.map((place, index) => [place, last[index]]))
    const parameters = compiled.parameters.map((value) =>
      typeof value === 'symbol' ? after.get(value) : value,
    )
    const { rows } = await database.executeQuery<Row & Place>({ ...compiled, parameters })
    await turns.next()
    const end = rows.at(-1)
    if (end === undefined) return
    yield { rows, reachedMs: end.starts_at }
    if (rows.length < ROWS_OF_STATEMENT) return
    last = key.map((name) => end[name])
  }
}
