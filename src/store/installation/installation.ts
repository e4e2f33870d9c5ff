/**
 * The facts of an installation that its database keeps: its id, the number of its last change, the
 * master key under which it seals. Must not know the data folder.
 */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { hasTable, isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export interface Installation {
  readonly id: string
  /** It only grows: one more, or a few, for each change. */
  readonly change: number
  /** Names the master key that credentials are sealed under; null while there is none. */
  readonly masterKeyId: string | null
  /** The store to which `store copy` took everything; null: none. */
  readonly movedTo: string | null
}

/** There is one row. */
const PLACE = 1

export function createInstallationId(): string {
  return `inst_${randomBytes(12).toString('hex')}`
}

export class InstallationTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** @returns undefined: no gateway has ever started on it */
  async read(): Promise<Installation | undefined> {
    const row = await this.#database.selectFrom('installation').selectAll().executeTakeFirst()
    if (row === undefined) return undefined
    const { id, change_number, master_key_id, moved_to } = row
    const change = isSqlite(this.#database) ? change_number : await this.#readCounter()
    return { id, change, masterKeyId: master_key_id, movedTo: moved_to }
  }

  /** Of several nodes that start at once one does. */
  async create(id: string): Promise<void> {
    await this.#database
      .insertInto('installation')
      .values({
        place: PLACE,
        id,
        change_number: 0,
        master_key_id: null,
        moved_to: null,
        created_at: Date.now(),
      })
      .onConflict((conflict) => conflict.column('place').doNothing())
      .execute()
  }

  async noteMasterKey(masterKeyId: string | null): Promise<void> {
    await this.#database.updateTable('installation').set({ master_key_id: masterKeyId }).execute()
  }

  /** Everything is elsewhere now; null: it is not. */
  async noteMove(movedTo: string | null): Promise<void> {
    await this.#database.updateTable('installation').set({ moved_to: movedTo }).execute()
  }

  /** From now on no number below this one is given. */
  async raiseChange(least: number): Promise<void> {
    if (isSqlite(this.#database))
      await this.#database
        .updateTable('installation')
        .set({ change_number: least })
        .where('change_number', '<', least)
        .execute()
    else
      await sql`UPDATE change_counter SET value = ${least} WHERE value < ${least}`.execute(
        this.#database,
      )
  }

  /** Postgres counts by triggers: docs/decisions/0019. */
  async #readCounter(): Promise<number> {
    const { rows } = await sql<{ value: number }>`SELECT value FROM change_counter`.execute(
      this.#database,
    )
    const [row] = rows
    if (row === undefined) throw new Error('the counter of changes is gone')
    return row.value
  }
}

/** The change itself counts where one process has the file; on Postgres triggers do. */
export async function countChange(transaction: Kysely<Schema>): Promise<void> {
  // A command that works beside a server of an older version migrates nothing.
  if (!isSqlite(transaction) || !(await hasTable(transaction, 'installation'))) return
  await transaction
    .updateTable('installation')
    .set(({ eb }) => ({ change_number: eb('change_number', '+', 1) }))
    .execute()
}
