/** Lets Kysely's SQLite dialect drive Bun's own SQLite. It must not know any table. */
import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { closeSync, openSync, statSync } from 'node:fs'
import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
  type TransactionSettings,
} from 'kysely'
import { StoreFileGoneError } from './store-file-gone-error.ts'

/**
 * How long a statement waits for another process (a backup, a shell); the event loop waits with it,
 * so not long.
 */
const BUSY_TIMEOUT_MS = 1_000

/**
 * With calls of thousands of accounts each row goes to other pages of the indexes: with SQLite's
 * own 2,000 an insert costs 20 µs, with this 11. It takes no more than the file has.
 */
const CACHE_KIB = 8_000

/**
 * After so many pages (64 MB) a commit brings the log into the file itself, which takes tens of
 * milliseconds: who writes much has it done earlier and elsewhere, by `CheckpointThread`. One batch
 * of calls of thousands of accounts writes 6,000.
 */
const CHECKPOINT_PAGES = 16_000

/**
 * SQLite's data definition is transactional: a migration that fails half-way leaves nothing behind.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/**
 * A transaction may write from its first statement on, but for one that asks for a repeatable read. One that begins by reading could not go on
 * to write when another process has written meanwhile, and would fail at once instead of waiting
 * (https://sqlite.org/lang_transaction.html).
 */
class WritingSqliteDriver extends SqliteDriver {
  readonly #isInTransaction: () => boolean

  constructor(config: SqliteDialectConfig, isInTransaction: () => boolean) {
    super(config)
    this.#isInTransaction = isInTransaction
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    { isolationLevel }: TransactionSettings = {},
  ): Promise<void> {
    // One that could not be rolled back, because the disk failed at that too.
    if (this.#isInTransaction()) await super.rollbackTransaction(connection)
    // Such a reader reads as of one moment, and other processes may write meanwhile.
    const isReading = isolationLevel === 'repeatable read'
    await connection.executeQuery(CompiledQuery.raw(isReading ? 'begin' : 'begin immediate'))
  }

  /**
   * A full disk or an I/O error has rolled back already (https://sqlite.org/lang_transaction.html,
   * section 3): doing it once more would fail, and its failure would stand in the log instead of
   * the cause.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection)
  }
}

/** Kysely's dialect over one file, in write-ahead mode; `:memory:` works too. */
export class BunSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  readonly #opened: { database?: Database }

  constructor(path: string) {
    const opened: { database?: Database } = {}
    const config = {
      async database() {
        opened.database = openSqliteFile(path)
        return toKyselyDatabase(opened.database, watchFile(path))
      },
    }
    super(config)
    this.#config = config
    this.#opened = opened
  }

  override createDriver(): Driver {
    return new WritingSqliteDriver(
      this.#config,
      () => this.#opened.database?.inTransaction === true,
    )
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter()
  }
}

function openSqliteFile(path: string): Database {
  createPrivateFile(path)
  const database = new Database(path, { create: true, readwrite: true })
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  // Before the first page is written, or it takes effect with the next `VACUUM` only
  // (free-space.ts).
  database.run('PRAGMA auto_vacuum = INCREMENTAL')
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = NORMAL')
  database.run('PRAGMA foreign_keys = ON')
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  return database
}

/**
 * Creates the file readable by its owner only; SQLite gives its side files the same mode. A file
 * that exists is not touched: closing any handle on it would drop the locks that this process holds
 * (https://sqlite.org/howtocorrupt.html §2.2).
 */
export function createPrivateFile(path: string): void {
  if (path === ':memory:') return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * A file that was deleted or replaced goes on taking writes, which nobody will ever find.
 * @returns what throws StoreFileGoneError then; 2 µs
 */
export function watchFile(path: string): () => void {
  if (path === ':memory:') return () => {}
  const opened = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino !== opened.ino || now.dev !== opened.dev) throw new StoreFileGoneError(path)
  }
}

/**
 * How many statements are kept ready: more than there are in the code, but for bulk inserts of odd
 * lengths.
 */
const KEPT_STATEMENTS = 64

type KeptStatement = ReturnType<typeof prepare>

function prepare(database: Database, sql: string) {
  return database.prepare<unknown, SQLQueryBindings[]>(sql)
}

/**
 * Statements are kept by their text: reading a bulk insert's costs SQLite twice what running it
 * does.
 */
function toKyselyDatabase(database: Database, assertThere: () => void): SqliteDatabase {
  const kept = new Map<string, KeptStatement>()
  const find = (sql: string): KeptStatement => {
    const statement = kept.get(sql) ?? prepare(database, sql)
    // Taken out and put in again, so that the first one is always the one used least lately.
    kept.delete(sql)
    kept.set(sql, statement)
    const [oldest] = kept
    if (kept.size > KEPT_STATEMENTS && oldest !== undefined) {
      kept.delete(oldest[0])
      oldest[1].finalize()
    }
    return statement
  }
  return {
    prepare: (sql) => {
      if ((database.inTransaction ? COMMIT : CHANGE).test(sql)) assertThere()
      return toKyselyStatement(database, sql, find(sql))
    },
    close: () => {
      for (const statement of kept.values()) statement.finalize()
      kept.clear()
      // `true`: a statement that is still open is a mistake of ours and would keep the file locked
      // unseen.
      database.close(true)
    },
  }
}

/** A change by itself, or the begin of several, of which after that their commit alone is looked at. */
const CHANGE = /^\s*(?:begin|insert|update|delete|create|alter|drop)\b/i
const COMMIT = /^\s*commit\b/i

function toKyselyStatement(
  database: Database,
  sql: string,
  statement: KeptStatement,
): SqliteStatement {
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => statement.all(...toBindings(parameters)),
    run: (parameters) =>
      isRows(parameters)
        ? runEach(statement, parameters)
        : statement.run(...toBindings(parameters)),
    // One of its own: others may use the kept one while this is read row by row.
    *iterate(parameters) {
      const own = prepare(database, sql)
      try {
        yield* own.iterate(...toBindings(parameters))
      } finally {
        own.finalize()
      }
    },
  }
}

/**
 * Parameters of one row after the other in place of parameters: no value of SQLite is an array. See
 * `BulkInsert`.
 */
function isRows(parameters: readonly unknown[]): parameters is readonly (readonly unknown[])[] {
  return Array.isArray(parameters[0])
}

/** Without a turn in between, to the first one at which nothing changes. */
function runEach(statement: KeptStatement, rows: readonly (readonly unknown[])[]) {
  let changes = 0
  for (const row of rows) {
    // The array itself: to spread it costs half a kilobyte a row, and a fifth of the time.
    const changed = statement.run(row as unknown as SQLQueryBindings).changes
    if (changed === 0) break
    changes += changed
  }
  return { changes, lastInsertRowid: 0 }
}

function toBindings(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters as SQLQueryBindings[]
}
