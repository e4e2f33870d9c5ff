/**
 * Detects a pooler that gives each transaction another Postgres session. Session settings and
 * LISTEN would then affect other clients.
 */
import pg from 'pg'
import { DatabaseUnreachableError } from './database-unreachable-error.ts'
import {
  describeAddress,
  type PostgresSettings,
  toTlsOptions,
  withoutTls,
} from './postgres-address.ts'

export class SharedSessionsError extends Error {
  override readonly name = 'SharedSessionsError'
}

/**
 * Compares Postgres' process ids: a client with its own session keeps its process.
 * @throws SharedSessionsError and DatabaseUnreachableError
 */
export async function assertOwnSessions(settings: PostgresSettings): Promise<void> {
  const where = describeAddress(settings.url)
  const clients: pg.Client[] = []
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      application_name: 'gatehouse',
      connectionString: withoutTls(settings.url),
      ssl: toTlsOptions(settings.url),
      connectionTimeoutMillis: settings.connectTimeoutMs,
      query_timeout: settings.connectTimeoutMs,
    })
    // An unhandled error event ends the process.
    client.on('error', () => {})
    clients.push(client)
    await client.connect()
    return client
  }
  try {
    const one = await open()
    const own = [await backendOf(one), await backendOf(one)]
    const other = await open()
    await other.query('BEGIN')
    const others = await backendOf(other)
    await other.query('ROLLBACK')
    own.push(await backendOf(one))
    if (new Set(own).size > 1 || own.includes(others))
      throw new SharedSessionsError(describe(where, 'transaction'))
  } catch (error) {
    if (error instanceof SharedSessionsError) throw error
    if (error instanceof Error && /statement pooling mode/.test(error.message))
      throw new SharedSessionsError(describe(where, 'statement'))
    throw new DatabaseUnreachableError(where, error)
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid')
  const [row] = rows
  if (row === undefined) throw new Error('Postgres named no process.')
  return row.pid
}

function describe(where: string, mode: 'transaction' | 'statement'): string {
  return (
    `The pooler in front of Postgres at ${where} is in ${mode} mode: each ${mode} may get another ` +
    'session, and nodes need a session of their own to hear of changes. Set pool_mode = session ' +
    'for this database in PgBouncer (the like in another pooler), or let DATABASE_URL name ' +
    'Postgres itself. Nothing was changed.'
  )
}
