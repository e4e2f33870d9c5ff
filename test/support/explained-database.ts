/** A database that records its statements and explains how it would run a statement. */
import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { CompiledQuery, Kysely } from 'kysely'
import type { StoreLocation } from '../../src/store/database/open-database.ts'
import { GatehousePostgresDialect } from '../../src/store/database/postgres-driver.ts'
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
      if ('path' in location) return explainInFile(location.path, sql, parameters)
      const query = CompiledQuery.raw(`EXPLAIN ${sql}`, [...parameters])
      const { rows } = await database.executeQuery<Record<string, unknown>>(query)
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n')
    },
  }
}

/** On a connection of its own, because an explained change counts as running, and no commit works. */
function explainInFile(path: string, text: string, parameters: readonly unknown[]): string {
  const database = new Database(path, { readonly: true })
  try {
    const plan = database.prepare<{ detail: string }, SQLQueryBindings[]>(
      `EXPLAIN QUERY PLAN ${text}`,
    )
    const rows = plan.all(...(parameters as SQLQueryBindings[]))
    return rows.map(({ detail }) => detail).join('\n')
  } finally {
    database.close()
  }
}
