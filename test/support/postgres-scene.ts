/** A Postgres of a test's own with a database for each scene, and gateways on these databases. */
import { expect } from 'bun:test'
import { type LogRow, listLogRows } from './control-plane.ts'
import { createMigratedDatabase, OUR_TABLES } from './migrated-postgres.ts'
import { pollUntil } from './poll-until.ts'
import { POSTGRES_PASSWORD, type PostgresServer, startPostgres } from './postgres-server.ts'
import { type Gatehouse, PATIENT_WITH_DATABASE, startGatehouse } from './start-gatehouse.ts'

/** Of a user. */
export const password = 'correct horse battery staple'

export interface PostgresScene {
  readonly server: PostgresServer
  createDatabase(): Promise<string>
  createEmptyDatabase(): Promise<string>
  remove(): Promise<void>
}

export async function createPostgresScene(): Promise<PostgresScene> {
  const server = await startPostgres({ content: OUR_TABLES })
  let databases = 0
  const create = async (make: (name: string) => Promise<unknown>) => {
    databases += 1
    const name = `gateway_${databases}`
    await make(name)
    return server.urlOf(name)
  }
  return {
    server,
    createDatabase: () => create((name) => createMigratedDatabase(server, name)),
    createEmptyDatabase: () => create((name) => server.run(`CREATE DATABASE ${name}`)),
    remove: () => server.remove(),
  }
}

export function startOn(url: string, options: Partial<Gatehouse> = {}): Promise<Gatehouse> {
  return startGatehouse({
    sandbox: true,
    ...options,
    environment: { ...PATIENT_WITH_DATABASE, DATABASE_URL: url },
  })
}

export function call(
  server: Pick<Gatehouse, 'url' | 'key'>,
  key = server.key,
  gate = 'demo',
): Promise<Response> {
  return fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: gate, messages: [{ role: 'user', content: 'hello' }] }),
  })
}

export function expectNoPassword(text: string): void {
  expect(text).not.toContain(POSTGRES_PASSWORD)
  expect(text).not.toContain(encodeURIComponent(POSTGRES_PASSWORD))
}

export async function waitForRows(
  gatehouse: Gatehouse,
  ids: ReadonlySet<string>,
): Promise<LogRow[]> {
  return await pollUntil(
    'the rows of every complete answer',
    async () => {
      const rows = await listLogRows(gatehouse)
      const there = new Set(rows.map((row) => row.id))
      return [...ids].every((id) => there.has(id)) ? rows : undefined
    },
    { timeoutMs: 30_000, intervalMs: 500 },
  )
}
