/**
 * The schema's history, in code: a build carries every step it needs. A step that was released is
 * never edited.
 */
import { type Kysely, type Migration, Migrator } from 'kysely'
import { currentSchema } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { accessTokens } from './access-tokens-migration.ts'
import { BASELINE, judgeEarlierSteps, listApplied } from './adopt-database.ts'
import { baseline } from './baseline.ts'
import {
  judgeNewerSteps,
  listStepNotes,
  type NewerSteps,
  type Steps,
  TABLE_PATIENCE_MS,
  withNote,
} from './newer-steps.ts'

/** The schema could not be brought up to date: the caller must not serve. */
export class MigrationFailedError extends Error {
  override readonly name = 'MigrationFailedError'
}

/** A build from before the first release wrote this database; the message names the remedy. */
export class EarlierDatabaseError extends Error {
  override readonly name = 'EarlierDatabaseError'
}

/**
 * A later version of the gateway changed this database in a way that this build cannot serve:
 * the caller must not.
 */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

/**
 * Kysely runs them in the order of their names. CONTRIBUTING.md says what a step may do while the
 * version before serves.
 */
export const migrations: Steps = {
  [BASELINE]: baseline,
  '0002_access_tokens': accessTokens,
}

/**
 * True where there are steps that the database has not been through.
 * @throws EarlierDatabaseError when a build from before the first release wrote it.
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

/** @throws EarlierDatabaseError, NewerDatabaseError as `isBehind` */
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

/** @throws EarlierDatabaseError */
export function assertNotEarlier(applied: readonly string[]): void {
  const found = judgeEarlierSteps(applied)
  if ('remedy' in found) throw new EarlierDatabaseError(`${found.problem} ${found.remedy}`)
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
 * @throws EarlierDatabaseError, NewerDatabaseError as `isBehind`.
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
  assertNotEarlier(applied)
  const { refused } = await judge(database, applied, migrations)
  if (refused.length === 0 && Object.keys(migrations).every((name) => applied.includes(name)))
    return
  throw new MigrationFailedError(
    'The database was brought up to date by another version of Gatehouse, which is using it. ' +
      'Use the command of that version.',
  )
}
