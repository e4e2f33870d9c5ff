/** Adds sums by user, tag and session to their tables. */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { CallerCounters, CallSessionTable, Schema } from '../schema.ts'
import type { CallerRows, CallerTableName } from './caller-sums.ts'
import {
  addCounters,
  boundSums,
  compiledOnce,
  insertInto,
  type SumTable,
  toParameters,
  toStatements,
} from './upsert-sums.ts'
import { CALLER_COUNTERS } from './usage-columns.ts'

interface CallerTable extends SumTable {
  readonly name: CallerTableName
  /** The columns of `key` and the facts of a session, before the counters. */
  readonly leading: readonly string[]
}

const TEXTS: ReadonlySet<string> = new Set([
  'account_id',
  'user_id',
  'tag_id',
  'session_id',
  'key_id',
])

const TABLES: readonly CallerTable[] = [
  describe('user_days', ['account_id', 'starts_at', 'user_id']),
  describe('tag_days', ['account_id', 'starts_at', 'tag_id']),
  describe(
    'call_sessions',
    ['account_id', 'session_id'],
    ['key_id', 'user_id', 'first_at', 'last_at', 'largest_input'],
  ),
]

function describe(
  name: CallerTableName,
  key: readonly string[],
  facts: readonly string[] = [],
): CallerTable {
  const leading = [...key, ...facts]
  return { name, key, leading, columns: [...leading, ...CALLER_COUNTERS], texts: TEXTS }
}

/**
 * @param transaction the transaction that inserts the calls; preferably as its last step, since
 * other nodes wait for these rows
 * @param between awaited before each statement, so that calls are served
 * @returns how many rows were written
 */
export async function addCallers(
  transaction: Kysely<Schema>,
  rows: CallerRows,
  between: () => Promise<unknown>,
): Promise<number> {
  let written = 0
  for (const table of TABLES) {
    const ofTable: readonly CallerCounters[] = rows[table.name]
    for (const some of toStatements(transaction, ofTable)) {
      await between()
      const query = compiledOnce(transaction, [`upsert ${table.name}`, some.length], () =>
        compileUpsert(transaction, table, some.length),
      )
      const values = some.map((row) => toValues(table, row))
      await transaction.executeQuery({ ...query, parameters: toParameters(transaction, values) })
    }
    written += ofTable.length
  }
  return written
}

function toValues({ leading }: CallerTable, row: CallerCounters): unknown[] {
  const bounded = boundSums(row) as CallerCounters & Readonly<Record<string, unknown>>
  const values = leading.map((name) => bounded[name])
  for (const name of CALLER_COUNTERS) values.push(bounded[name])
  return values
}

function compileUpsert(database: Kysely<Schema>, table: CallerTable, count: number): CompiledQuery {
  const updates = [
    ...addCounters(table.name, CALLER_COUNTERS),
    ...(table.name === 'call_sessions' ? sessionFacts(database) : []),
  ]
  return sql`${insertInto(database, table, count)} DO UPDATE SET ${sql.join(updates)}`.compile(
    database,
  )
}

function sessionFacts(database: Kysely<Schema>): readonly RawBuilder<unknown>[] {
  const [least, greatest] = isSqlite(database) ? ['min', 'max'] : ['least', 'greatest']
  const stored = (name: keyof CallSessionTable) => sql.ref(`call_sessions.${name}`)
  const added = (name: keyof CallSessionTable) => sql.ref(`excluded.${name}`)
  const picked = (pick: string | undefined, name: keyof CallSessionTable) =>
    sql`${sql.ref(name)} = ${sql.raw(pick ?? '')}(${stored(name)}, ${added(name)})`
  return [
    sql`user_id = CASE WHEN ${added('user_id')} IS NULL
        OR (${added('last_at')} < ${stored('last_at')} AND ${stored('user_id')} IS NOT NULL)
      THEN ${stored('user_id')} ELSE ${added('user_id')} END`,
    picked(least, 'first_at'),
    picked(greatest, 'last_at'),
    picked(greatest, 'largest_input'),
  ]
}
