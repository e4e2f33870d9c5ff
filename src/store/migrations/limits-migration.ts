/** Step 0006 of the schema's history: budgets and webhooks. Never edited once released. */
import type { Kysely, Migration } from 'kysely'
import type { Schema } from '../schema.ts'

export const limitsAndWebhooks: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('budgets')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text')
      .addColumn('gate_id', 'text')
      .addColumn('limit_tokens', 'bigint')
      .addColumn('limit_micro_usd', 'bigint')
      .addColumn('period', 'text', (column) => column.notNull())
      .addColumn('alert_at', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    await database.schema
      .createIndex('budgets_by_account')
      .on('budgets')
      .columns(['account_id'])
      .execute()

    // Alerts that were sent, so that each goes out once a period, restarts included.
    await database.schema
      .createTable('budget_alerts')
      .addColumn('budget_id', 'text', (column) => column.notNull())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('period_starts_at', 'bigint', (column) => column.notNull())
      .addColumn('threshold_millionths', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('budget_alerts_primary_key', [
        'budget_id',
        'period_starts_at',
        'threshold_millionths',
      ])
      .execute()

    await database.schema
      .createTable('webhooks')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('sealed_secret', 'text', (column) => column.notNull())
      .addColumn('events', 'text', (column) => column.notNull())
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    await database.schema
      .createIndex('webhooks_by_account')
      .on('webhooks')
      .columns(['account_id'])
      .execute()

    await database.schema
      .createTable('webhook_deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('webhook_id', 'text', (column) => column.notNull())
      .addColumn('event', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await database.schema
      .createIndex('webhook_deliveries_by_time')
      .on('webhook_deliveries')
      .columns(['next_attempt_at', 'id'])
      .execute()
  },
}
