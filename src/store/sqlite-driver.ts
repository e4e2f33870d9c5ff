/** Lets Kysely's SQLite dialect drive Bun's own SQLite. It must not know any table. */
import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import {
  type DialectAdapter,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
} from 'kysely'

/** How long a statement waits for another process (a backup, a shell); the event loop waits with it, so not long. */
const BUSY_TIMEOUT_MS = 1_000

/** SQLite's data definition is transactional: a migration that fails half-way leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Kysely's dialect over one file, in write-ahead mode; `:memory:` works too. */
export class BunSqliteDialect extends SqliteDialect {
  constructor(path: string) {
    super({ database: async () => toKyselyDatabase(openSqliteFile(path)) })
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSqliteAdapter()
  }
}

function openSqliteFile(path: string): Database {
  createPrivateFile(path)
  const database = new Database(path, { create: true, readwrite: true })
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = NORMAL')
  database.run('PRAGMA foreign_keys = ON')
  return database
}

/**
 * Creates the file readable by its owner only; SQLite gives its side files the same mode. A file that exists is not
 * touched: closing any handle on it would drop the locks that this process holds (https://sqlite.org/howtocorrupt.html §2.2).
 */
export function createPrivateFile(path: string): void {
  if (path === ':memory:') return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

function toKyselyDatabase(database: Database): SqliteDatabase {
  return {
    prepare: (sql) => toKyselyStatement(database, sql),
    // `true`: a statement that is still open is a mistake of ours and would keep the file locked unseen.
    close: () => database.close(true),
  }
}

/** Each statement is finalised after its one use, so that `close` really closes the file. */
function toKyselyStatement(database: Database, sql: string): SqliteStatement {
  const statement = database.prepare<unknown, SQLQueryBindings[]>(sql)
  const use = <Result>(work: () => Result): Result => {
    try {
      return work()
    } finally {
      statement.finalize()
    }
  }
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => use(() => statement.all(...toBindings(parameters))),
    run: (parameters) => use(() => statement.run(...toBindings(parameters))),
    *iterate(parameters) {
      try {
        yield* statement.iterate(...toBindings(parameters))
      } finally {
        statement.finalize()
      }
    },
  }
}

function toBindings(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters as SQLQueryBindings[]
}
