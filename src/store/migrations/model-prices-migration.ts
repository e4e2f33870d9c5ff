/** Migration 0009: prices of models, stored at run time. Never edited once released. */
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import type { Step } from './newer-steps.ts'

export const modelPrices: Step = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('model_prices')
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('price', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('model_prices_primary_key', ['account_id', 'model'])
      .execute()
    if (isSqlite(database)) return
    await sql`
      CREATE CONSTRAINT TRIGGER model_prices_change AFTER INSERT OR DELETE OR UPDATE ON model_prices
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
      EXECUTE FUNCTION note_change('model-price', 'model')`.execute(database)
  },
}
