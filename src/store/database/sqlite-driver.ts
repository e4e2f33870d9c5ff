/** Connects Kysely's SQLite dialect to Bun's own SQLite. */
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
 * waits too.
 */
const BUSY_TIMEOUT_MS = 1_000

/**
 * With calls of thousands of accounts each row touches other index pages: an insert costs 20 µs
 * with SQLite's default of 2,000 KiB, and 11 µs with 8,000 KiB.
 */
const CACHE_KIB = 8_000

/**
 * Length of the log (64 MB) at which a commit checkpoints by itself, which takes tens of
 * milliseconds. `CheckpointThread` checkpoints earlier; one batch of calls of thousands of accounts
 * writes 6,000 pages.
 */
const CHECKPOINT_PAGES = 16_000

/** SQLite's data definition is transactional: a failed migration leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

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
    // A transaction that begins by reading fails when it writes after another process has written
    // (https://sqlite.org/lang_transaction.html), so only repeatable reads begin by reading.
    const isReading = isolationLevel === 'repeatable read'
    await connection.executeQuery(CompiledQuery.raw(isReading ? 'begin' : 'begin immediate'))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection)
  }
}

export class BunSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  readonly #opened: { database?: Database }

  /** @param isReader for a further connection to an open database, which only reads */
  constructor(path: string, isReader = false) {
    const opened: { database?: Database } = {}
    const config = {
      async database() {
        opened.database = isReader ? openReader(path) : openSqliteFile(path)
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
  // Takes effect only before the first page is written, or at a `VACUUM` (free-space.ts).
  database.run('PRAGMA auto_vacuum = INCREMENTAL')
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = NORMAL')
  database.run('PRAGMA foreign_keys = ON')
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  return database
}

/** Without pragmas that wait for a transaction of the first connection. */
function openReader(path: string): Database {
  const database = new Database(path, { create: false, readwrite: true })
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  database.run('PRAGMA query_only = ON')
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  return database
}

/**
 * Creates the file with mode 0600; SQLite gives its side files the same mode. An existing file is
 * not opened: closing any handle on it would drop this process's locks
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

export function watchFile(path: string): () => void {
  if (path === ':memory:') return () => {}
  const opened = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino !== opened.ino || now.dev !== opened.dev) throw new StoreFileGoneError(path)
  }
}

const KEPT_STATEMENTS = 64

type KeptStatement = ReturnType<typeof prepare>

function prepare(database: Database, sql: string) {
  return database.prepare<unknown, SQLQueryBindings[]>(sql)
}

/**
 * Caches statements by their text: parsing a bulk insert costs SQLite twice as much as running the
 * insert.
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
      // `true` throws if a statement is still open, because an open statement would keep the file
      // locked.
      database.close(true)
    },
  }
}

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
    // A separate statement, because the cached statement may be used while rows are read.
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

function isRows(parameters: readonly unknown[]): parameters is readonly (readonly unknown[])[] {
  return Array.isArray(parameters[0])
}

function runEach(statement: KeptStatement, rows: readonly (readonly unknown[])[]) {
  let changes = 0
  for (const row of rows) {
    const changed = statement.run(row as unknown as SQLQueryBindings).changes
    if (changed === 0) break
    changes += changed
  }
  return { changes, lastInsertRowid: 0 }
}

function toBindings(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters as SQLQueryBindings[]
}
