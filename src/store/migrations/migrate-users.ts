/**
 * Migration 0008: users, their sessions and logins, members and invitations, and the plan of an
 * account.
 */
import type { Kysely, Migration } from 'kysely'
import { currentSchema } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export const users: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    const { schema } = database
    const within = await currentSchema(database)
    const tables = await database.introspection.getTables()
    const accounts = tables.find((table) => table.name === 'accounts' && table.schema === within)
    if (accounts?.columns.some((column) => column.name === 'plan') !== true)
      await schema.alterTable('accounts').addColumn('plan', 'text').execute()

    await schema
      .createTable('users')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull().unique())
      .addColumn('email_verified', 'boolean', (column) => column.notNull())
      .addColumn('image', 'text')
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
      .execute()

    await schema
      .createTable('user_sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('token', 'text', (column) => column.notNull().unique())
      .addColumn('ip_address', 'text')
      .addColumn('user_agent', 'text')
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
      .execute()
    await schema
      .createIndex('user_sessions_by_user')
      .on('user_sessions')
      .column('user_id')
      .execute()

    await schema
      .createTable('user_logins')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) =>
        column.notNull().references('users.id').onDelete('cascade'),
      )
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('provider_id', 'text', (column) => column.notNull())
      .addColumn('password', 'text')
      .addColumn('access_token', 'text')
      .addColumn('refresh_token', 'text')
      .addColumn('id_token', 'text')
      .addColumn('access_token_expires_at', 'timestamptz')
      .addColumn('refresh_token_expires_at', 'timestamptz')
      .addColumn('scope', 'text')
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
      .addUniqueConstraint('user_logins_by_subject', ['issuer', 'subject'])
      .execute()
    await schema.createIndex('user_logins_by_user').on('user_logins').column('user_id').execute()

    await schema
      .createTable('user_verifications')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('identifier', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
      .addColumn('created_at', 'timestamptz', (column) => column.notNull())
      .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
      .execute()
    await schema
      .createIndex('user_verifications_by_identifier')
      .on('user_verifications')
      .column('identifier')
      .execute()

    await schema
      .createTable('members')
      .addColumn('user_id', 'text', (column) =>
        column.primaryKey().references('users.id').onDelete('cascade'),
      )
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await schema.createIndex('members_by_account').on('members').column('account_id').execute()
    // Two first users at the same instant: the database decides who is first.
    await schema
      .createIndex('members_one_owner')
      .unique()
      .on('members')
      .column('account_id')
      .where('role' as never, '=', 'owner')
      .execute()

    await schema
      .createTable('invitations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('token_sha256', 'text', (column) => column.notNull().unique())
      .addColumn('invited_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('accepted_at', 'bigint')
      .execute()
    await schema
      .createIndex('invitations_by_account')
      .on('invitations')
      .columns(['account_id', 'created_at'])
      .execute()
  },
}
