/**
 * Databases of a Postgres server with the same tables, lent to one test after another. Each test
 * finds the rows of a new database.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { pollUntil } from './poll-until.ts'
import type { PostgresServer } from './postgres-server.ts'
import { describeSchema, type KnownState, readKnownState } from './restore-rows.ts'

const TEMPLATE = 'gatehouse_template'

export interface LentDatabase {
  readonly name: string
  giveBack(): Promise<void>
}

export class LentDatabases {
  readonly #server: PostgresServer
  readonly #migrate: (database: string) => Promise<void>
  readonly #free: string[] = []
  readonly #clients = new Map<string, pg.Client>()

  /** @param migrate creates the tables in the database that all others are copied from */
  constructor(server: PostgresServer, migrate: (database: string) => Promise<void>) {
    this.#server = server
    this.#migrate = migrate
  }

  async lend(): Promise<LentDatabase> {
    const known = await this.#prepareTemplate()
    const name = this.#free.pop() ?? this.#takeAside() ?? (await this.create())
    return { name, giveBack: () => this.#takeBack(name, known) }
  }

  async create({ empty = false } = {}): Promise<string> {
    if (!empty) await this.#prepareTemplate()
    const name = `test_${randomBytes(6).toString('hex')}`
    await this.#server.run(`CREATE DATABASE ${name} TEMPLATE ${empty ? 'template1' : TEMPLATE}`)
    return name
  }

  async drop(name: string): Promise<void> {
    await this.#server.run(`DROP DATABASE ${name} WITH (FORCE)`)
  }

  /** The server stays, so that the next test file finds its databases. */
  async close(): Promise<void> {
    const aside = [...this.#readAside(), ...this.#free.splice(0)]
    writeFileSync(this.#asidePath, JSON.stringify(aside))
    for (const client of this.#clients.values()) await client.end()
    this.#clients.clear()
  }

  async #takeBack(name: string, known: KnownState): Promise<void> {
    const client = await this.#clientOf(name)
    await endOthers(client)
    if ((await describeSchema(client)) !== known.schema) {
      this.#clients.delete(name)
      await client.end()
      await this.drop(name)
      throw new Error(
        'This test has changed the schema of a database that other tests use after it. Ask for one of its own: create({ own: true }).',
      )
    }
    await client.query(known.restore)
    this.#free.push(name)
  }

  async #clientOf(name: string): Promise<pg.Client> {
    const there = this.#clients.get(name)
    if (there !== undefined) return there
    const client = new pg.Client({ connectionString: this.#server.urlOf(name) })
    this.#clients.set(name, client)
    await client.connect()
    return client
  }

  // A test file may have its own modules, so later files find databases through the disk.

  get #asidePath(): string {
    return join(this.#server.folder, 'free-databases')
  }

  #readAside(): readonly string[] {
    return existsSync(this.#asidePath)
      ? (JSON.parse(readFileSync(this.#asidePath, 'utf8')) as string[])
      : []
  }

  #takeAside(): string | undefined {
    const [name, ...others] = this.#readAside()
    if (name !== undefined) writeFileSync(this.#asidePath, JSON.stringify(others))
    return name
  }

  async #prepareTemplate(): Promise<KnownState> {
    const mark = join(this.#server.folder, TEMPLATE)
    if (existsSync(mark)) return JSON.parse(readFileSync(mark, 'utf8')) as KnownState
    await this.#server.run(`CREATE DATABASE ${TEMPLATE}`)
    await this.#migrate(TEMPLATE)
    const client = new pg.Client({ connectionString: this.#server.urlOf(TEMPLATE) })
    await client.connect()
    try {
      const known = await readKnownState(client)
      writeFileSync(mark, JSON.stringify(known))
      return known
    } finally {
      await client.end()
    }
  }
}

/** Ends connections of failed tests, which must not write after the rows are restored. */
async function endOthers(client: pg.Client): Promise<void> {
  await pollUntil(
    'the end of other connections',
    async () => {
      const { rows } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      )
      return rows.length === 0
    },
    { intervalMs: 2 },
  )
}
