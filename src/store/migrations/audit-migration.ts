/** Migration 0009: the audit log. */
import type { Kysely, Migration } from 'kysely'
import type { AuditLogTable } from '../changes/audit-schema.ts'
import type { Schema } from '../schema.ts'

export const auditLogTable: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    // No foreign keys: a row outlives the thing it is about.
    await database.schema
      .createTable('audit_log')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('actor_type', 'text', (column) => column.notNull())
      .addColumn('actor_id', 'text', (column) => column.notNull())
      .addColumn('actor_name', 'text')
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('resource_type', 'text', (column) => column.notNull())
      .addColumn('resource_id', 'text', (column) => column.notNull())
      .addColumn('before_json', 'text')
      .addColumn('after_json', 'text')
      .addColumn('request_id', 'text')
      .addColumn('client_address', 'text')
      .execute()
    const index = (name: string, columns: readonly (keyof AuditLogTable)[]) =>
      database.schema
        .createIndex(name)
        .on('audit_log')
        .columns([...columns])
        .execute()
    await index('audit_log_by_account_and_time', ['account_id', 'at', 'id'])
    // One for each filter: a search for what is not there must not read the whole log while streams
    // wait.
    await index('audit_log_by_actor', ['account_id', 'actor_id', 'at', 'id'])
    await index('audit_log_by_action', ['account_id', 'action', 'at', 'id'])
    await index('audit_log_by_resource_type', ['account_id', 'resource_type', 'at', 'id'])
    await index('audit_log_by_resource', ['account_id', 'resource_id', 'at', 'id'])
    await index('audit_log_by_time', ['at'])
  },
}
