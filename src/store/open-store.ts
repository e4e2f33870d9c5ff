/** Opens the store: one object with one part per aggregate. Knows nothing of who asks or of HTTP. */
import { Kysely, sql } from 'kysely'
import { CallTableStore } from './calls.ts'
import { GateTableStore } from './gates.ts'
import { KeyTableStore } from './keys.ts'
import { migrateToLatest } from './migrations.ts'
import { ProviderKeyTableStore } from './provider-keys.ts'
import type { Schema } from './schema.ts'
import { BunSqliteDialect } from './sqlite-driver.ts'

export interface Store {
  readonly keys: KeyTableStore
  readonly gates: GateTableStore
  readonly calls: CallTableStore
  readonly providerKeys: ProviderKeyTableStore
  /**
   * Resolves when everything committed so far would outlive a loss of power. A commit alone outlives the process:
   * SQLite's write-ahead log is synced at checkpoints only (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL).
   */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface StoreLocation {
  /** The SQLite file; created, with mode 0600, when missing. `:memory:` keeps everything in the process. */
  readonly path: string
}

/**
 * Opens the database and brings its schema up to date.
 * @throws NewerDatabaseError, MigrationFailedError: refuse to serve.
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  const database = new Kysely<Schema>({ dialect: new BunSqliteDialect(location.path) })
  try {
    await migrateToLatest(database)
  } catch (error) {
    await database.destroy()
    throw error
  }
  const sync = async (): Promise<void> => {
    await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(database)
  }
  return {
    keys: new KeyTableStore(database, sync),
    gates: new GateTableStore(database),
    calls: new CallTableStore(database),
    providerKeys: new ProviderKeyTableStore(database, sync),
    sync,
    close: () => database.destroy(),
  }
}
