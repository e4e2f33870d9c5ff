/** Creates a temporary database, SQLite or Postgres, and a store in it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../src/core/secret.ts'
import type { StoreLocation } from '../../src/store/database/open-database.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'

export type DatabaseName = 'SQLite' | 'Postgres'

export interface Place {
  readonly location: StoreLocation
  /** The data folder of a node that uses the database, with the environment to find it. */
  readonly dataFolder: string
  readonly environment: Readonly<Record<string, string>>
}

export interface PlaceOptions {
  /**
   * Postgres waits for its disk at every commit. Default: true. False speeds up many small inserts
   * before a measurement.
   */
  readonly isDurable?: boolean
}

const DATABASE = 'scale'

export async function withPlace<Result>(
  name: DatabaseName,
  work: (place: Place) => Promise<Result>,
  { isDurable = true }: PlaceOptions = {},
): Promise<Result> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'gatehouse-scale-'))
  try {
    if (name === 'SQLite') {
      return await work({ location: locate(dataFolder), dataFolder, environment: {} })
    }
    const server = await startPostgres({ isDurable })
    try {
      await server.run(`CREATE DATABASE ${DATABASE}`)
      const url = server.urlOf(DATABASE)
      const environment = { DATABASE_URL: url }
      return await work({ location: locate(dataFolder, url), dataFolder, environment })
    } finally {
      await server.remove()
    }
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

/** The location of the store of a node with this data folder and, for Postgres, this address. */
export function locate(dataFolder: string, postgresUrl?: string): StoreLocation {
  if (postgresUrl === undefined) return { path: join(dataFolder, 'gatehouse.db') }
  const limits = { poolSize: 4, connectTimeoutMs: 5_000, statementTimeoutMs: 30_000 }
  return { postgres: { url: new Secret(postgresUrl), ...limits } }
}

export async function withStore<Result>(
  name: DatabaseName,
  work: (store: Store) => Promise<Result>,
  options: PlaceOptions = {},
): Promise<Result> {
  return await withPlace(name, async ({ location }) => await useStore(location, work), options)
}

/** Opens the store for the work, and closes it afterwards. */
export async function useStore<Result>(
  location: StoreLocation,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(location)
  return await work(store).finally(() => store.close())
}
