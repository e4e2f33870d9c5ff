/** Both kinds of database, for `describe.each(databases)`. */
import { afterAll, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { Secret } from '../../src/core/secret.ts'
import { openDatabase, type StoreLocation } from '../../src/store/database/open-database.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { IS_LONG } from './chaos-form.ts'
import { LentDatabases } from './lent-databases.ts'
import { writeMigratedFile } from './migrated-file.ts'
import {
  findPostgres,
  isPostgresLeftOut,
  type PostgresServer,
  sharedPostgres,
} from './postgres-server.ts'
import { testIf } from './skip-unless.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

// The first test waits for a server to start on a busy machine; the long form also tries properties
// on Postgres.
setDefaultTimeout(IS_LONG ? 1_800_000 : 60_000)

export interface TestDatabase {
  readonly location: StoreLocation
  run<Row extends object>(sql: string): Promise<Row[]>
  remove(): Promise<void>
}

export interface DatabaseOptions {
  readonly empty?: boolean
  /** A database of the test's own, for tests that change the schema. */
  readonly own?: boolean
}

export interface DatabaseKind {
  readonly name: 'SQLite' | 'Postgres'
  /** A database with our tables as in a new database. */
  create(options?: DatabaseOptions): Promise<TestDatabase>
}

const sqlite: DatabaseKind = {
  name: 'SQLite',
  async create({ empty = false } = {}) {
    const folder = await createTemporaryFolder()
    const location = { path: join(folder.path, 'gatehouse.db') }
    if (!empty) await writeMigratedFile(location.path)
    return { location, run: (sql) => runAt(location, sql), remove: () => folder.remove() }
  },
}

let lent:
  | Promise<{ readonly server: PostgresServer; readonly databases: LentDatabases }>
  | undefined

const postgres: DatabaseKind = {
  name: 'Postgres',
  async create({ empty = false, own = empty } = {}) {
    lent ??= startLending()
    const { server, databases } = await lent
    const of = (name: string, remove: () => Promise<void>): TestDatabase => {
      const location = locate(server, name)
      return { location, run: (sql) => runAt(location, sql), remove }
    }
    if (!own) {
      const { name, giveBack } = await databases.lend()
      return of(name, giveBack)
    }
    const name = await databases.create({ empty })
    return of(name, () => databases.drop(name))
  },
}

async function startLending() {
  const server = await sharedPostgres()
  const databases = new LentDatabases(server, async (name) => {
    await (await openStore(locate(server, name))).close()
  })
  return { server, databases }
}

afterAll(async () => {
  await (await lent)?.databases.close()
})

export function locate(server: PostgresServer, database: string) {
  return {
    postgres: {
      url: new Secret(server.urlOf(database)),
      poolSize: 4,
      // Longer than a busy machine needs, including the wait for a free connection.
      connectTimeoutMs: 60_000,
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

/** Without Postgres only SQLite, and a skipped test that says so; with `CI` set, a failure. */
export const databases: readonly DatabaseKind[] =
  findPostgres() === undefined ? onlySqlite() : [sqlite, postgres]

function onlySqlite(): readonly DatabaseKind[] {
  const reason = isPostgresLeftOut()
    ? 'needs Postgres, which GATEHOUSE_TEST_POSTGRES=none leaves out'
    : "needs Debian's package postgresql, or GATEHOUSE_TEST_POSTGRES"
  testIf(false, reason)('what stores promise, on Postgres', () => {})
  return [sqlite]
}

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
  const sums = ['usage_hours', 'usage_days', 'user_days', 'tag_days', 'call_sessions'] as const
  for (const table of ['calls', ...sums, 'upkeep'] as const)
    await database.deleteFrom(table).execute()
}
