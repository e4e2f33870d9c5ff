import { type Kysely, type Migration, Migrator } from 'kysely'
import { currentSchema } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { accessTokens } from './access-tokens-migration.ts'
import { BASELINE, judgeEarlierSteps, listApplied } from './adopt-database.ts'
import { attribution } from './attribution-migration.ts'
import { baseline } from './baseline.ts'
import { budgetFuse } from './budget-fuse-migration.ts'
import { budgetRules } from './budget-rules-migration.ts'
import { budgetScopes } from './budget-scopes-migration.ts'
import { budgetSteering } from './budget-steering-migration.ts'
import { budgetTimeZone } from './budget-time-zone-migration.ts'
import { callerIndexes } from './caller-indexes-migration.ts'
import { callerRefused } from './caller-refused-migration.ts'
import { callers } from './callers-migration.ts'
import { erasedUsers } from './erased-users-migration.ts'
import { estimatedUsage } from './estimated-usage-migration.ts'
import { gateAdapt } from './gate-adapt-migration.ts'
import { gateFacts } from './gate-facts-migration.ts'
import { gateFuse } from './gate-fuse-migration.ts'
import { gateIgnoreStore } from './gate-ignore-store-migration.ts'
import { gateNames } from './gate-names-migration.ts'
import { modelPrices } from './model-prices-migration.ts'
import {
  judgeNewerSteps,
  listStepNotes,
  type NewerSteps,
  type Steps,
  TABLE_PATIENCE_MS,
  withNote,
} from './newer-steps.ts'
import { peopleFigures } from './people-figures-migration.ts'
import { priceEntries } from './price-entries-migration.ts'
import { sessionIndex } from './session-index-migration.ts'
import { stops } from './stops-migration.ts'
import { tokenEnds } from './token-ends-migration.ts'

/** The schema could not be migrated, so the caller must not serve. */
export class MigrationFailedError extends Error {
  override readonly name = 'MigrationFailedError'
}

/** A build from before the first release wrote this database; the message names the remedy. */
export class EarlierDatabaseError extends Error {
  override readonly name = 'EarlierDatabaseError'
}

/**
 * A later version changed this database in a way that this build cannot serve, so the caller must
 * not serve.
 */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

/**
 * Kysely runs migrations in the order of their names. CONTRIBUTING.md says what a migration may do
 * while the previous version serves.
 */
export const migrations: Steps = {
  [BASELINE]: baseline,
  '0002_access_tokens': accessTokens,
  '0003_stops': stops,
  '0004_price_entries': priceEntries,
  '0005_gate_names': gateNames,
  '0006_gate_facts': gateFacts,
  '0008_gate_adapt': gateAdapt,
  '0009_model_prices': modelPrices,
  '0010_gate_ignore_store': gateIgnoreStore,
  '0011_callers': callers,
  '0012_attribution': attribution,
  '0013_token_ends': tokenEnds,
  '0014_budget_rules': budgetRules,
  '0015_erased_users': erasedUsers,
  '0016_caller_indexes': callerIndexes,
  '0018_people_figures': peopleFigures,
  '0019_session_index': sessionIndex,
  '0020_budget_scopes': budgetScopes,
  '0021_budget_steering': budgetSteering,
  '0022_budget_time_zone': budgetTimeZone,
  '0023_gate_fuse': gateFuse,
  '0024_estimated_usage': estimatedUsage,
  '0025_budget_fuse': budgetFuse,
  '0026_caller_refused': callerRefused,
}

export async function isBehind(
  database: Kysely<Schema>,
  steps: Steps = migrations,
): Promise<boolean> {
  return (await compareSteps(database, steps)).isBehind
}

export interface SchemaState {
  readonly isBehind: boolean
  readonly newer: readonly string[]
}

export async function compareSteps(
  database: Kysely<Schema>,
  steps: Steps = migrations,
): Promise<SchemaState> {
  const applied = await listApplied(database)
  assertNotEarlier(applied)
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

export function assertNotEarlier(applied: readonly string[]): void {
  const found = judgeEarlierSteps(applied)
  if ('remedy' in found) throw new EarlierDatabaseError(`${found.problem} ${found.remedy}`)
}

async function judge(
  database: Kysely<Schema>,
  applied: readonly string[],
  steps: Steps,
): Promise<NewerSteps> {
  // Without unknown migrations, as in an ordinary start, the query for notes is not needed.
  if (applied.every((name) => Object.hasOwn(steps, name))) return { tolerated: [], refused: [] }
  return judgeNewerSteps(applied, await listStepNotes(database), steps)
}

/**
 * Runs all pending migrations in one transaction. Of several nodes that start at once, one migrates
 * and the others wait, because Kysely takes an advisory lock of Postgres.
 * @throws EarlierDatabaseError, NewerDatabaseError, MigrationFailedError
 */
export async function migrateToLatest(
  database: Kysely<Schema>,
  steps: Steps = migrations,
  { tablePatienceMs = TABLE_PATIENCE_MS } = {},
): Promise<void> {
  // Saves an ordinary start the Migrator's query of every table.
  const { newer, isBehind: isPending } = await compareSteps(database, steps)
  if (!isPending) return

  const schema = await currentSchema(database)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => toMigrations({ steps, newer, tablePatienceMs }) },
    // Migrations of different branches do not build on each other, so their order does not matter.
    allowUnorderedMigrations: true,
    // With its schema, so that another program's migrations in the same database are not read.
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error === undefined) return
  // A newer node may have migrated the database meanwhile.
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
 * @param newer migrations that the database has and this build never runs; Kysely refuses unknown
 * names
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

export async function assertUpToDate(database: Kysely<Schema>): Promise<void> {
  const applied = await listApplied(database)
  assertNotEarlier(applied)
  const { refused } = await judge(database, applied, migrations)
  if (refused.length === 0 && Object.keys(migrations).every((name) => applied.includes(name)))
    return
  throw new MigrationFailedError(
    'The database was brought up to date by another version of Gatehouse, which is using it. ' +
      'Use the command of that version.',
  )
}
