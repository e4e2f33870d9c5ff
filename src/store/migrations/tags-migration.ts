/**
 * Step 0033 of the schema's history: tags, which nodes hold in memory. Never edited once released.
 */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const tags: Step = {
  // Its trigger writes where builds look that know of the feed, and these pass over what they do
  // not hold.
  olderBuilds: { needs: '0011_change_feed' },
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('tags')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await database.schema
      .createIndex('tags_by_account_and_name')
      .on('tags')
      .columns(['account_id', 'name'])
      .unique()
      .execute()
    if (isSqlite(database)) return
    await sql`CREATE CONSTRAINT TRIGGER tags_change AFTER INSERT OR UPDATE OR DELETE ON tags
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change('tag', 'id')`.execute(
      database,
    )
  },
}
