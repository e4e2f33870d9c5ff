/** Migration 0003: stops of members and access tokens. Never edited once released. */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const stops: Step = {
  // Older builds must not serve: they would serve the calls of stopped members and tokens.
  olderBuilds: 'refuse',
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('stops')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('created_by', 'text')
      .execute()
    await database.schema
      .createTable('ended_calls')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('node_id', 'text', (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute()
    await database.schema.createIndex('ended_calls_by_id').on('ended_calls').column('id').execute()
    if (isSqlite(database)) return
    await sql`
      CREATE CONSTRAINT TRIGGER stops_change AFTER INSERT OR DELETE OR UPDATE ON stops
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change('stop', 'id')`.execute(
      database,
    )
  },
}
