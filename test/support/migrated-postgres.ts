/**
 * A Postgres server of a test's own that can hand out databases with our tables as a new one has
 * them: the schema's history takes longer than a start of the program on what it left. Knows
 * nothing of rows.
 */
import { Secret } from '../../src/core/secret.ts'
import type { PostgresServer, PreparedContent } from './postgres-server.ts'

const TEMPLATE = 'gatehouse_migrated'

/** For `startPostgres`. */
export const OUR_TABLES: PreparedContent = {
  name: 'our-tables',
  async prepare(server) {
    await server.run(`CREATE DATABASE ${TEMPLATE}`)
    // Loaded by the one test process of a run that makes it.
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

/** @param server started with `OUR_TABLES` */
export async function createMigratedDatabase(server: PostgresServer, name: string): Promise<void> {
  await server.run(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
}
