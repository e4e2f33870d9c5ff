/** Both kinds of database, for `describe.each(databases)`: what a store promises, it promises on each. */
import { setDefaultTimeout } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../../src/core/secret.ts'
import { openDatabase, type StoreLocation } from '../../src/store/open-database.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { findPostgres, type PostgresServer, sharedPostgres } from './postgres-server.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

// The first test that needs it waits for a server to be made and started, on a machine that has other work.
setDefaultTimeout(60_000)

export interface TestDatabase {
  readonly location: StoreLocation
  /** Statements beside the store, as another program would make them. */
  run<Row extends object>(sql: string): Promise<Row[]>
  remove(): Promise<void>
}

export interface DatabaseKind {
  readonly name: 'SQLite' | 'Postgres'
  /** `empty`: without our tables. */
  create(options?: { readonly empty?: boolean }): Promise<TestDatabase>
}

const sqlite: DatabaseKind = {
  name: 'SQLite',
  async create({ empty = false } = {}) {
    const folder = await createTemporaryFolder()
    const location = { path: join(folder.path, 'gatehouse.db') }
    if (!empty) await (await openStore(location)).close()
    return { location, run: (sql) => runAt(location, sql), remove: () => folder.remove() }
  },
}

const postgres: DatabaseKind = {
  name: 'Postgres',
  async create({ empty = false } = {}) {
    const server = await sharedPostgres()
    const template = empty ? 'template1' : await createTemplate(server)
    const name = `test_${randomBytes(6).toString('hex')}`
    await server.run(`CREATE DATABASE ${name} TEMPLATE ${template}`)
    const location = locate(server, name)
    return {
      location,
      run: (sql) => runAt(location, sql),
      remove: async () => {
        await server.run(`DROP DATABASE ${name} WITH (FORCE)`)
      },
    }
  },
}

/** Copied for each test: the steps of the schema's history are gone through once. */
async function createTemplate(server: PostgresServer): Promise<string> {
  const template = 'gatehouse_template'
  const mark = join(server.folder, template)
  if (existsSync(mark)) return template
  await server.run(`CREATE DATABASE ${template}`)
  await (await openStore(locate(server, template))).close()
  writeFileSync(mark, '')
  return template
}

export function locate(server: PostgresServer, database: string) {
  return {
    postgres: {
      url: new Secret(server.urlOf(database)),
      poolSize: 4,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 30_000,
    },
  }
}

async function runAt<Row extends object>(location: StoreLocation, text: string): Promise<Row[]> {
  const database = await openDatabase(location)
  try {
    const { rows } = await database.executeQuery<Row>({
      sql: text,
      parameters: [],
      query: { kind: 'RawNode' },
    } as never)
    return [...rows]
  } finally {
    await database.destroy()
  }
}

/**
 * Without Postgres only SQLite, and a line that says so; where `CI` is set, nothing runs without it.
 * `make mutate` asks for SQLite alone.
 */
export const databases: readonly DatabaseKind[] =
  process.env.GATEHOUSE_TEST_STORES === 'sqlite'
    ? [sqlite]
    : findPostgres() === undefined
      ? onlySqlite()
      : [sqlite, postgres]

function onlySqlite(): readonly DatabaseKind[] {
  console.warn("Postgres is not here: install Debian's package postgresql, or set GATEHOUSE_TEST_POSTGRES.")
  return [sqlite]
}

/** A store with our tables in a database of its own, both gone after `work`. */
export async function withTestStore<Result>(
  kind: DatabaseKind,
  work: (store: Store, database: TestDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await kind.create()
  try {
    const store = await openStore(database.location)
    try {
      return await work(store, database)
    } finally {
      await store.close()
    }
  } finally {
    await database.remove()
  }
}

/** For the runs of one property: a database for each would take longer than what is tried. */
export async function forgetCalls({ database }: Store): Promise<void> {
  for (const table of ['calls', 'usage_notes', 'usage_hours', 'usage_days', 'usage_rolled_days'] as const)
    await database.deleteFrom(table).execute()
}
