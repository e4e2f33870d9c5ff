/**
 * Steps of the schema's history that only later versions know, and whether this build can serve a
 * database that has been through them. The later version writes that down as it takes a step
 * (docs/decisions/0022). Must not know any step.
 */
import { type Kysely, type Migration, sql } from 'kysely'
import { hasTable, isSqlite } from '../database/sql-differences.ts'

/** A step of the schema's history, and what it does to builds that have never heard of it. */
export interface Step extends Migration {
  /**
   * Absent: it only adds, and every older build goes on serving (a test looks whether that is so).
   * `needs`: those that know the step of that name do, because they have stopped using what is
   * taken away. `refuse`: none does.
   */
  readonly olderBuilds?: { readonly needs: string } | 'refuse'
}

export type Steps = Readonly<Record<string, Step>>

/** A later version's note on a step; without one, no older build may serve. */
export interface StepNote {
  readonly name: string
  /** The step that a build has to know; null: none. */
  readonly needs: string | null
}

export interface NewerSteps {
  readonly tolerated: readonly string[]
  readonly refused: readonly string[]
}

/** Read by every build from now on: its columns never change. */
export const STEP_NOTES = 'schema_step_notes'

interface NotesSchema {
  readonly [STEP_NOTES]: StepNote
}

/**
 * How long a step waits for a table that others use, in milliseconds. While it waits, everybody
 * else waits behind it: a long report must not keep the other nodes from their database. The start
 * fails then, and the next one tries again.
 */
export const TABLE_PATIENCE_MS = 10_000

/** The step as it is run: what it means to older builds is written down in the same transaction. */
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

/** @returns undefined where no older build may serve */
function noteOf(name: string, step: Step): StepNote | undefined {
  return step.olderBuilds === 'refuse'
    ? undefined
    : { name, needs: step.olderBuilds?.needs ?? null }
}

/** None where no version has written any. */
export async function listStepNotes<Tables>(
  database: Kysely<Tables>,
): Promise<readonly StepNote[]> {
  if (!(await hasTable(database, STEP_NOTES))) return []
  return await (database as unknown as Kysely<NotesSchema>)
    .selectFrom(STEP_NOTES)
    .select(['name', 'needs'])
    .execute()
}

/** Those of `applied` that are not among `steps`. */
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
