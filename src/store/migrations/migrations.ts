/**
 * The schema's history, in code: a build carries every step it needs. A step that was released is
 * never edited.
 */
import { type Kysely, type Migration, Migrator } from 'kysely'
import { DEFAULT_ACCOUNT } from '../../core/ids.ts'
import { currentSchema, hasTable } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { accountIndexes } from './account-indexes-migration.ts'
import { auditLogTable } from './audit-migration.ts'
import { budgetBeginnings } from './budget-beginnings-migration.ts'
import { addCallColumn } from './call-column-migration.ts'
import { callsInOrder } from './calls-in-order-migration.ts'
import { changeCounter } from './change-counter-migration.ts'
import { changeFeed } from './change-feed-migration.ts'
import { deletedKeyNames } from './deleted-key-names-migration.ts'
import { deletedKeys } from './deleted-keys-migration.ts'
import { deliveryAccounts } from './delivery-accounts-migration.ts'
import { dueDays } from './due-days-migration.ts'
import { foldedHours } from './folded-hours-migration.ts'
import { installationTable } from './installation-migration.ts'
import { keyLifetimes } from './key-lifetimes-migration.ts'
import { limitsAndWebhooks } from './limits-migration.ts'
import { users } from './migrate-users.ts'
import { nanoUsd } from './nano-usd-migration.ts'
import {
  judgeNewerSteps,
  listStepNotes,
  type NewerSteps,
  type Steps,
  TABLE_PATIENCE_MS,
  withNote,
} from './newer-steps.ts'
import { nodeSettings } from './node-settings-migration.ts'
import { ownedModelCredential } from './owned-model-credential-migration.ts'
import { ownedModelFim } from './owned-model-fim-migration.ts'
import { ownedModelProbes } from './owned-model-probes-migration.ts'
import { providerKeyTables } from './provider-keys-migration.ts'
import { refusedHours } from './refused-hours-migration.ts'
import { signInTries } from './sign-in-tries-migration.ts'
import { tags } from './tags-migration.ts'
import { unpricedBudgets } from './unpriced-budgets-migration.ts'
import { usageBatches } from './usage-batches-migration.ts'
import { usageMigration } from './usage-migration.ts'
import { usageMonths } from './usage-months-migration.ts'
import { usageSums } from './usage-sums-migration.ts'

/** The schema could not be brought up to date: the caller must not serve. */
export class MigrationFailedError extends Error {
  override readonly name = 'MigrationFailedError'
}

/**
 * A later version of the gateway changed this database in a way that this build cannot serve:
 * the caller must not.
 */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

const firstTables: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('accounts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await insertFirstAccount(database)

    await database.schema
      .createTable('api_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('sha256', 'text', (column) => column.notNull().unique())
      .addColumn('masked_prefix', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint')
      .execute()

    await database.schema
      .createTable('gates')
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('display_name', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('targets', 'text', (column) => column.notNull())
      .addColumn('timeout_ms', 'bigint')
      .addColumn('max_retries', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('gates_primary_key', ['account_id', 'id'])
      .execute()

    // No foreign keys here: a call must reach the store whatever became of its key, gate or account
    // meanwhile.
    await database.schema
      .createTable('calls')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('gate_id', 'text', (column) => column.notNull())
      .addColumn('dialect', 'text', (column) => column.notNull())
      .addColumn('stream', 'integer', (column) => column.notNull())
      .addColumn('target', 'text')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('error_kind', 'text')
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('first_byte_ms', 'bigint')
      .addColumn('duration_ms', 'bigint', (column) => column.notNull())
      .addColumn('input_tokens', 'bigint')
      .addColumn('output_tokens', 'bigint')
      .addColumn('cached_input_tokens', 'bigint')
      .addColumn('reasoning_tokens', 'bigint')
      .execute()
    await database.schema
      .createIndex('calls_by_account_and_time')
      .on('calls')
      .columns(['account_id', 'started_at', 'id'])
      .execute()
  },
}

/** Every database begins with it. */
export async function insertFirstAccount(database: Kysely<Schema>): Promise<void> {
  const account = { id: DEFAULT_ACCOUNT, name: 'Default account', created_at: Date.now() }
  await database.insertInto('accounts').values(account).execute()
}

const gateRouting: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .alterTable('gates')
      .addColumn('strategy', 'text', (column) => column.notNull().defaultTo('fallback'))
      .execute()
    await database.schema.alterTable('gates').addColumn('hedge_after_ms', 'bigint').execute()
  },
}

const gateDefaults: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema.alterTable('gates').addColumn('defaults', 'text').execute()
    await database.schema
      .alterTable('gates')
      .addColumn('overrides', 'text', (column) => column.notNull().defaultTo('ignore'))
      .execute()
  },
}

const ownedModels: Migration = {
  async up(database: Kysely<Schema>): Promise<void> {
    await database.schema
      .createTable('owned_models')
      .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('display_name', 'text', (column) => column.notNull())
      .addColumn('dialect', 'text', (column) => column.notNull())
      .addColumn('base_url', 'text', (column) => column.notNull())
      .addColumn('upstream_model_id', 'text', (column) => column.notNull())
      .addColumn('pricing_input', 'integer', (column) => column.notNull())
      .addColumn('pricing_output', 'integer', (column) => column.notNull())
      .addColumn('pricing_cached_input', 'integer', (column) => column.notNull())
      .addColumn('sealed_credential', 'text', (column) => column.notNull())
      .addColumn('credential_set_at', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('owned_models_primary_key', ['account_id', 'slug'])
      .execute()
  },
}

/**
 * Kysely runs them in the order of their names. CONTRIBUTING.md says what a step may do while the
 * version before serves.
 */
export const migrations: Steps = {
  '0001_first_tables': firstTables,
  '0002_gate_routing': gateRouting,
  '0003_gate_defaults': gateDefaults,
  '0004_owned_models': ownedModels,
  '0005_provider_keys': providerKeyTables,
  '0006_limits_and_webhooks': limitsAndWebhooks,
  '0007_usage': usageMigration,
  '0008_users': users,
  '0009_audit_log': auditLogTable,
  '0010_budget_beginnings': budgetBeginnings,
  '0011_change_feed': changeFeed,
  '0012_unpriced_budgets': unpricedBudgets,
  '0014_deleted_keys': deletedKeys,
  '0015_sign_in_tries': signInTries,
  '0016_key_lifetimes': keyLifetimes,
  '0017_installation': installationTable,
  '0019_refusals': addCallColumn('refusals', 'bigint'),
  '0021_account_indexes': accountIndexes,
  '0022_owned_model_probes': ownedModelProbes,
  '0023_owned_model_fim': ownedModelFim,
  '0024_owned_model_credential': ownedModelCredential,
  '0026_due_days': dueDays,
  '0028_change_counter': changeCounter,
  '0029_usage_months': usageMonths,
  '0030_sent_gate_ids': addCallColumn('sent_gate_id', 'text'),
  '0031_refused_hours': refusedHours,
  '0032_usage_batches': usageBatches,
  '0033_tags': tags,
  '0034_calls_in_order': callsInOrder,
  '0035_folded_hours': foldedHours,
  '0036_delivery_accounts': deliveryAccounts,
  '0037_node_settings': nodeSettings,
  '0040_nano_usd': nanoUsd,
  '0041_refusal_codes': addCallColumn('refusal_code', 'text'),
  '0042_refusing_limits': addCallColumn('refused_by', 'text'),
  '0043_deleted_key_names': deletedKeyNames,
  '0044_usage_sums': usageSums,
}

/**
 * True where there are steps that the database has not been through.
 * @throws NewerDatabaseError when it has been through one of a later version that this build cannot
 * live with.
 */
export async function isBehind(
  database: Kysely<Schema>,
  steps: Steps = migrations,
): Promise<boolean> {
  return (await compareSteps(database, steps)).isBehind
}

export interface SchemaState {
  /** There are steps that the database has not been through. */
  readonly isBehind: boolean
  /** The steps of later versions that it has been through, and that this build can live with. */
  readonly newer: readonly string[]
}

/** @throws NewerDatabaseError as `isBehind` */
export async function compareSteps(
  database: Kysely<Schema>,
  steps: Steps = migrations,
): Promise<SchemaState> {
  const applied = await listApplied(database)
  const { tolerated, refused } = await judge(database, applied, steps)
  if (refused.length > 0) {
    throw new NewerDatabaseError(
      'The database was written by a newer version of Gatehouse (it holds the migration ' +
        `${refused.join(', ')}). ` +
        'Start that version, or restore a backup made before the upgrade.',
    )
  }
  return { newer: tolerated, isBehind: !Object.keys(steps).every((name) => applied.includes(name)) }
}

async function judge(
  database: Kysely<Schema>,
  applied: readonly string[],
  steps: Steps,
): Promise<NewerSteps> {
  // On an ordinary start there is nothing to judge, and one question less.
  if (applied.every((name) => Object.hasOwn(steps, name))) return { tolerated: [], refused: [] }
  return judgeNewerSteps(applied, await listStepNotes(database), steps)
}

/**
 * Brings the database up to date; all pending steps succeed together or none does (SQLite and
 * Postgres alike). Of several nodes that start at once, one does it and the others wait: Kysely
 * takes an advisory lock of Postgres.
 * @throws NewerDatabaseError as `isBehind`.
 * @throws MigrationFailedError when a step fails; `cause` says why.
 */
export async function migrateToLatest(
  database: Kysely<Schema>,
  steps: Steps = migrations,
  { tablePatienceMs = TABLE_PATIENCE_MS } = {},
): Promise<void> {
  // Saves the Migrator's own look at every table on an ordinary start.
  const { newer, isBehind: isPending } = await compareSteps(database, steps)
  if (!isPending) return

  const schema = await currentSchema(database)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => toMigrations({ steps, newer, tablePatienceMs }) },
    // Steps that were written side by side do not build on each other, and come in whatever order
    // they are finished.
    allowUnorderedMigrations: true,
    // Named, or another program's steps in the same database would look like ours.
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error === undefined) return
  // A newer node may have come first.
  if (!(await isBehind(database, steps))) return
  const failed = results?.find((result) => result.status === 'Error')?.migrationName
  const reason = error instanceof Error ? error.message : String(error)
  throw new MigrationFailedError(
    `The database could not be brought up to date${failed === undefined ? '' : ` (migration ${failed})`}: ${reason}. ` +
      'Nothing was changed.',
    { cause: error },
  )
}

/**
 * @param newer Kysely goes on only where it knows every step that was taken; these it never runs
 */
function toMigrations({
  steps,
  newer,
  tablePatienceMs,
}: {
  readonly steps: Steps
  readonly newer: readonly string[]
  readonly tablePatienceMs: number
}): Record<string, Migration> {
  return {
    ...Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [name, withNote(name, step, tablePatienceMs)]),
    ),
    ...Object.fromEntries(newer.map((name) => [name, { up: async () => {} }])),
  }
}

/**
 * @throws MigrationFailedError when this build knows steps that the database has not been through,
 * or cannot live with one of its
 */
export async function assertUpToDate(database: Kysely<Schema>): Promise<void> {
  const applied = await listApplied(database)
  const { refused } = await judge(database, applied, migrations)
  if (refused.length === 0 && Object.keys(migrations).every((name) => applied.includes(name)))
    return
  throw new MigrationFailedError(
    'The database was brought up to date by another version of Gatehouse, which is using it. ' +
      'Use the command of that version.',
  )
}

/** The names of the steps this database has been through; none when it is new. */
export async function listApplied(database: Kysely<Schema>): Promise<string[]> {
  if (!(await hasTable(database, 'kysely_migration'))) return []
  const rows = await (database as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return rows.map((row) => row.name)
}
