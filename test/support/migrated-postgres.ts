/**
 * A Postgres server that hands out databases with our tables, because migrating takes longer than a
 * start.
 */
import { Secret } from '../../src/core/secret.ts'
import type { PostgresServer, PreparedContent } from './postgres-server.ts'

const TEMPLATE = 'gatehouse_migrated'

export const OUR_TABLES: PreparedContent = {
  name: 'our-tables',
  async prepare(server) {
    await server.run(`CREATE DATABASE ${TEMPLATE}`)
    // Imported by the one test process that prepares the server.
    const { openStore } = await import('../../src/store/open-store.ts')
    const store = await openStore({
      postgres: {
        url: new Secret(server.urlOf(TEMPLATE)),
        poolSize: 1,
        connectTimeoutMs: 30_000,
        statementTimeoutMs: 60_000,
      },
    })
    await store.close()
  },
}

export async function createMigratedDatabase(server: PostgresServer, name: string): Promise<void> {
  await server.run(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
}
