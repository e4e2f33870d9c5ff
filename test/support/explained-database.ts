/** A database that records its statements and explains how it would run a statement. */
import { CompiledQuery, Kysely } from 'kysely'
import type { StoreLocation } from '../../src/store/database/open-database.ts'
import { GatehousePostgresDialect } from '../../src/store/database/postgres-driver.ts'
import { isSqlite } from '../../src/store/database/sql-differences.ts'
import { BunSqliteDialect } from '../../src/store/database/sqlite-driver.ts'
import type { Schema } from '../../src/store/schema.ts'

export interface ExplainedDatabase {
  readonly database: Kysely<Schema>
  readonly asked: CompiledQuery[]
  explain(statement: CompiledQuery): Promise<string>
}

export function openExplained(location: StoreLocation): ExplainedDatabase {
  const asked: CompiledQuery[] = []
  const database = new Kysely<Schema>({
    dialect:
      'path' in location
        ? new BunSqliteDialect(location.path)
        : new GatehousePostgresDialect(location.postgres),
    log: ({ query }) => void asked.push(query),
  })
  return {
    database,
    asked,
    async explain({ sql, parameters }) {
      const command = isSqlite(database) ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
      const query = CompiledQuery.raw(`${command} ${sql}`, [...parameters])
      const { rows } = await database.executeQuery<Record<string, unknown>>(query)
      return rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n')
    },
  }
}
