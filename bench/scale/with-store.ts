/** A store in a new database, SQLite's or Postgres', that is gone after the work. Knows nothing of what is put into it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../src/core/secret.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'

export type DatabaseName = 'SQLite' | 'Postgres'

export async function withStore<Result>(
  name: DatabaseName,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return name === 'SQLite' ? await withFile(work) : await withServer(work)
}

async function withFile<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scale-'))
  try {
    const store = await openStore({ path: join(folder, 'gatehouse.db') })
    return await work(store).finally(() => store.close())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withServer<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const server = await startPostgres({ isDurable: true })
  try {
    await server.run('CREATE DATABASE scale')
    const url = new Secret(server.urlOf('scale'))
    const settings = { url, poolSize: 4, connectTimeoutMs: 5_000, statementTimeoutMs: 30_000 }
    const store = await openStore({ postgres: settings })
    return await work(store).finally(() => store.close())
  } finally {
    await server.remove()
  }
}
