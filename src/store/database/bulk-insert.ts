/**
 * Inserts many rows a step at a time, each step short enough for the event loop. Must not know a
 * table.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import { callsUnderWay } from '../../core/calls-under-way.ts'
import type { Schema } from '../schema.ts'
import { isSqlite } from './sql-differences.ts'

/** Whole numbers are `bigint`, whatever width the table gives them. */
type ColumnType = 'text' | 'bigint'
type Value = string | number | null

export interface BulkInsertOptions<Item> {
  readonly table: keyof Schema
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Of a row, in the order of the columns. */
  readonly toValues: (item: Item) => readonly Value[]
}

/** An array is one; others make their items as they are asked for. */
export interface Items<Item> {
  readonly length: number
  /** @param end may lie beyond the last of them */
  slice(start: number, end: number): readonly Item[]
}

export class BulkInsert<Item> {
  readonly #options: BulkInsertOptions<Item>
  /** To make it costs Kysely several times what it costs to run. */
  #query: CompiledQuery | undefined

  constructor(options: BulkInsertOptions<Item>) {
    this.#options = options
  }

  /**
   * SQLite runs a statement of one row for each of them: one of many rows it reads and binds for
   * twice as long a row (7.3 and 3.7 µs, of calls). To Postgres each statement is a message that it
   * reads and plans, so it is given many rows, each column as one array: a parameter for each value
   * costs the client three times as much, and the server more. It takes them apart as it goes: of
   * arrays after `FROM` it would first make a table for each, a fifth of its work. While the server
   * works on a statement, `between` runs and the next one's arrays are made, but for times in which
   * calls are served.
   * @param between awaited after each step, with what is in it: with all of them when this resolves
   * @throws the database's error, where a row is there already too (`isDuplicate`); to be taken back
   * by a transaction
   */
  async run(
    database: Kysely<Schema>,
    items: Items<Item>,
    between: (some: readonly Item[]) => Promise<unknown>,
  ): Promise<void> {
    this.#query ??= this.#compile(database)
    if (isSqlite(database)) await this.#runEach(database, this.#query, { items, between })
    else await this.#runArrays(database, this.#query, { items, between })
  }

  async #runEach(
    database: Kysely<Schema>,
    query: CompiledQuery,
    { items, between }: Inserting<Item>,
  ): Promise<void> {
    for (let start = 0; start < items.length; start += ROWS_OF_SQLITE) {
      const some = items.slice(start, start + ROWS_OF_SQLITE)
      await database.executeQuery({ ...query, parameters: some.map(this.#options.toValues) })
      await between(some)
    }
  }

  async #runArrays(
    database: Kysely<Schema>,
    query: CompiledQuery,
    { items, between }: Inserting<Item>,
  ): Promise<void> {
    let running: Promise<unknown> = Promise.resolve()
    for (let start = 0, end = 0; start < items.length; start = end) {
      const { rows, part } = callsUnderWay.areServed() ? BESIDE_CALLS : ALONE
      end = Math.min(start + rows, items.length)
      const arrays = new ArrayTexts()
      for (let begin = start; begin < end; begin += part) {
        const some = items.slice(begin, Math.min(begin + part, end))
        arrays.add(some.map(this.#options.toValues))
        await between(some)
      }
      await running
      running = database.executeQuery({ ...query, parameters: arrays.end() })
      // Heard of below, and until then nobody's.
      running.catch(() => {})
      // It works on the cores that calls need: beside them either it or this process works.
      if (callsUnderWay.areServed()) await running
      // To send it took a step by itself.
      await between([])
    }
    await running
  }

  #compile(database: Kysely<Schema>): CompiledQuery {
    const { table, columns } = this.#options
    const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)))
    const values = Object.values(columns)
    const source = isSqlite(database)
      ? sql`VALUES (${sql.join(values.map(() => sql`${''}`))})`
      : sql`SELECT ${sql.join(values.map((type) => sql`unnest(${''}::${sql.raw(type)}[])`))}`
    return sql`INSERT INTO ${sql.table(table)} (${names}) ${source}`.compile(database)
  }
}

interface Inserting<Item> {
  readonly items: Items<Item>
  readonly between: (some: readonly Item[]) => Promise<unknown>
}

/**
 * An eighth of a millisecond of the event loop on a quiet machine, several times that where rows
 * touch pages of their own.
 */
const ROWS_OF_SQLITE = 32
/**
 * Rows of a statement to Postgres, which is sent in one turn of the event loop, and of a part of it,
 * which is made in one as the text of an array for each column. More rows save the server nothing.
 */
const ALONE = { rows: 512, part: 128 }
/** A tenth dearer; calls waited a millisecond and more for a statement of twice the rows. */
const BESIDE_CALLS = { rows: 256, part: 32 }

/**
 * The columns of rows, each as the text of an array: of
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO. A column is joined as a whole, for
 * a text for each value was half the garbage of a call that was shipped.
 */
class ArrayTexts {
  readonly #columns: string[][] = []

  add(rows: readonly (readonly Value[])[]): void {
    const [first = []] = rows
    for (const column of first.keys()) {
      const parts = this.#columns[column] ?? []
      parts.push(joinElements(rows.map((row) => row[column] ?? null)))
      this.#columns[column] = parts
    }
  }

  end(): readonly string[] {
    return this.#columns.map((parts) => `{${parts.join(',')}}`)
  }
}

function joinElements(values: readonly Value[]): string {
  if (values.every((value) => typeof value === 'number')) return values.join(',')
  if (values.every((value) => value === null)) return values.map(() => 'NULL').join(',')
  if (values.every((value) => typeof value === 'string' && !NEEDS_ESCAPE.test(value)))
    return `"${values.join('","')}"`
  return values.map(toElement).join(',')
}

function toElement(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  return NEEDS_ESCAPE.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`
}

const NEEDS_ESCAPE = /["\\]/
