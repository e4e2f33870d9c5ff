/** Connects Kysely's SQLite dialect to Bun's own SQLite. Must not know any table. */
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
 * How long a statement waits for another process (a backup, a shell). Short, because the event loop
 * waits with it.
 */
const BUSY_TIMEOUT_MS = 1_000

/**
 * With calls of thousands of accounts each row touches other index pages: with SQLite's default of
 * 2,000 an insert costs 20 µs, with this 11. Never exceeds the file's size.
 */
const CACHE_KIB = 8_000

/**
 * At this many pages (64 MB) a commit checkpoints the log itself, which takes tens of milliseconds;
 * bulk writers checkpoint earlier through `CheckpointThread`. One batch of calls of thousands of
 * accounts writes 6,000.
 */
const CHECKPOINT_PAGES = 16_000

/** SQLite's data definition is transactional: a failed migration leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/**
 * Transactions are writing ones from their first statement, except for repeatable reads. A
 * transaction that begins by reading could not write after another process has written, and would
 * fail immediately instead of waiting (https://sqlite.org/lang_transaction.html).
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
    // Ends a transaction whose rollback failed because of the disk.
    if (this.#isInTransaction()) await super.rollbackTransaction(connection)
    // Such a reader sees one moment, and other processes may write meanwhile.
    const isReading = isolationLevel === 'repeatable read'
    await connection.executeQuery(CompiledQuery.raw(isReading ? 'begin' : 'begin immediate'))
  }

  /**
   * A full disk or an I/O error has rolled back already (https://sqlite.org/lang_transaction.html,
   * section 3). A second rollback would fail and hide the cause.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection)
  }
}

/** Kysely's dialect for one file, in write-ahead mode; `:memory:` works too. */
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
  // Must be set before the first page is written; otherwise it takes effect only after a `VACUUM`
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
 * Creates the file readable by its owner only; SQLite gives its side files the same mode. An
 * existing file is not opened: closing any handle on it would drop this process's locks
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
 * Detects a deleted or replaced file, which would still accept writes that are lost.
 * @returns a function that then throws StoreFileGoneError; takes 2 µs
 */
export function watchFile(path: string): () => void {
  if (path === ':memory:') return () => {}
  const opened = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino !== opened.ino || now.dev !== opened.dev) throw new StoreFileGoneError(path)
  }
}

/** Number of cached statements: more than the code has, except bulk inserts of odd lengths. */
const KEPT_STATEMENTS = 64

type KeptStatement = ReturnType<typeof prepare>

function prepare(database: Database, sql: string) {
  return database.prepare<unknown, SQLQueryBindings[]>(sql)
}

/**
 * Caches statements by their text: parsing a bulk insert costs SQLite twice as much as running it.
 */
function toKyselyDatabase(database: Database, assertThere: () => void): SqliteDatabase {
  const kept = new Map<string, KeptStatement>()
  const find = (sql: string): KeptStatement => {
    const statement = kept.get(sql) ?? prepare(database, sql)
    // Reinserted, so that the first entry is always the least recently used.
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
      // `true`: an open statement is a bug and would silently keep the file locked.
      database.close(true)
    },
  }
}

/** A single change, or the begin of several, after which only the commit is checked. */
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
    // A separate statement, because the cached one may be used while rows are read.
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

/** Rows of parameters instead of parameters: no SQLite value is an array. See `BulkInsert`. */
function isRows(parameters: readonly unknown[]): parameters is readonly (readonly unknown[])[] {
  return Array.isArray(parameters[0])
}

/** Runs without yielding, up to the first row that changes nothing. */
function runEach(statement: KeptStatement, rows: readonly (readonly unknown[])[]) {
  let changes = 0
  for (const row of rows) {
    // Passes the array itself: spreading it costs half a kilobyte per row, and a fifth of the time.
    const changed = statement.run(row as unknown as SQLQueryBindings).changes
    if (changed === 0) break
    changes += changed
  }
  return { changes, lastInsertRowid: 0 }
}

function toBindings(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters as SQLQueryBindings[]
}
