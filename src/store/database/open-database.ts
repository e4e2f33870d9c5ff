import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import { describeAddress, type PostgresSettings } from './postgres-address.ts'
import { BunSqliteDialect } from './sqlite-driver.ts'

export interface SqliteLocation {
  /**
   * The SQLite file, created with mode 0600 if missing. `:memory:` keeps everything in the process.
   */
  readonly path: string
}

export interface PostgresLocation {
  readonly postgres: PostgresSettings
}

export type StoreLocation = SqliteLocation | PostgresLocation

export function locateStore(settings: {
  readonly dataFolder: string
  readonly database: PostgresSettings | undefined
}): StoreLocation {
  const { database, dataFolder } = settings
  return database === undefined
    ? { path: join(dataFolder, 'gatehouse.db') }
    : { postgres: database }
}

export async function openDatabase(location: StoreLocation): Promise<Kysely<Schema>> {
  if ('path' in location)
    return new Kysely<Schema>({ dialect: new BunSqliteDialect(location.path) })
  // Imported on demand, so that a store in a file does not load the Postgres client.
  const { GatehousePostgresDialect } = await import('./postgres-driver.ts')
  return new Kysely<Schema>({ dialect: new GatehousePostgresDialect(location.postgres) })
}

/** A second connection to an open SQLite file. Connects with the first query. */
export function openReader({ path }: SqliteLocation): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new BunSqliteDialect(path, true) })
}

export async function openExistingDatabase(
  location: StoreLocation,
): Promise<Kysely<Schema> | undefined> {
  return 'path' in location && !existsSync(location.path) ? undefined : await openDatabase(location)
}

/**
 * A description for messages, without a password: `SQLite, /var/lib/gatehouse/gatehouse.db` or
 * `Postgres, db.example:5432/gatehouse`.
 */
export function describeStore(location: StoreLocation): string {
  if ('path' in location) return `SQLite, ${location.path}`
  return `Postgres, ${describeAddress(location.postgres.url)}`
}

export function withoutStatementLimit(location: StoreLocation): StoreLocation {
  return 'path' in location
    ? location
    : { postgres: { ...location.postgres, statementTimeoutMs: 0 } }
}
