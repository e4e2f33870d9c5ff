/**
 * Decides whether this build can serve a database that a later version has migrated. The later
 * version leaves a note on each migration for older builds (docs/decisions/0022).
 */
import { type Kysely, type Migration, sql } from 'kysely'
import { hasTable, isSqlite } from '../database/sql-differences.ts'

/** A migration, and its effect on builds that do not know the migration. */
export interface Step extends Migration {
  /**
   * Absent: the migration only adds, so every older build continues (a test checks that). `needs`:
   * builds that know the named migration continue, because they do not use what is removed.
   * `refuse`: every older build stops.
   */
  readonly olderBuilds?: { readonly needs: string } | 'refuse'
}

export type Steps = Readonly<Record<string, Step>>

/** A later version's note on a migration; without a note, no older build may serve. */
export interface StepNote {
  readonly name: string
  readonly needs: string | null
}

export interface NewerSteps {
  readonly tolerated: readonly string[]
  readonly refused: readonly string[]
}

/** Read by every later build, so the columns of this table never change. */
export const STEP_NOTES = 'schema_step_notes'

interface NotesSchema {
  readonly [STEP_NOTES]: StepNote
}

/**
 * How long a migration waits for a table in use, in milliseconds. Other queries wait behind the
 * migration, so after this time the start fails and a later start tries again.
 */
export const TABLE_PATIENCE_MS = 10_000

/** The migration, followed by its note for older builds in the same transaction. */
export function withNote(name: string, step: Step, tablePatienceMs: number): Migration {
  return {
    async up(database: Kysely<unknown>) {
      if (!isSqlite(database))
        await sql`SELECT set_config('lock_timeout', ${String(tablePatienceMs)}, true)`.execute(
          database,
        )
      await step.up(database)
      const note = noteOf(name, step)
      if (note === undefined) return
      await (database as Kysely<NotesSchema>).insertInto(STEP_NOTES).values(note).execute()
    },
  }
}

function noteOf(name: string, step: Step): StepNote | undefined {
  return step.olderBuilds === 'refuse'
    ? undefined
    : { name, needs: step.olderBuilds?.needs ?? null }
}

export async function listStepNotes<Tables>(
  database: Kysely<Tables>,
): Promise<readonly StepNote[]> {
  if (!(await hasTable(database, STEP_NOTES))) return []
  return await (database as unknown as Kysely<NotesSchema>)
    .selectFrom(STEP_NOTES)
    .select(['name', 'needs'])
    .execute()
}

/** The names in `applied` that `steps` lacks, by whether this build may serve. */
export function judgeNewerSteps(
  applied: readonly string[],
  notes: readonly StepNote[],
  steps: Readonly<Record<string, unknown>>,
): NewerSteps {
  const unknown = applied.filter((name) => !Object.hasOwn(steps, name)).sort()
  const isTolerated = (name: string) => {
    const note = notes.find((each) => each.name === name)
    return note !== undefined && (note.needs === null || Object.hasOwn(steps, note.needs))
  }
  return {
    tolerated: unknown.filter(isTolerated),
    refused: unknown.filter((name) => !isTolerated(name)),
  }
}
