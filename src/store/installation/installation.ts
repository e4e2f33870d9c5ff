/**
 * The installation data in the database: its id, the number of its last change, the id of its
 * master key. Must not know the data folder.
 */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export interface Installation {
  readonly id: string
  /** Increases with each change, by one or more. */
  readonly change: number
  /** The id of the master key that encrypts credentials; null while there is none. */
  readonly masterKeyId: string | null
  /** The store to which `store copy` copied everything; null: none. */
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

  /** @returns undefined: no gateway has started on it yet */
  async read(): Promise<Installation | undefined> {
    const row = await this.#database.selectFrom('installation').selectAll().executeTakeFirst()
    if (row === undefined) return undefined
    const { id, change_number, master_key_id, moved_to } = row
    const change = isSqlite(this.#database) ? change_number : await this.#readCounter()
    return { id, change, masterKeyId: master_key_id, movedTo: moved_to }
  }

  /** If several nodes start at once, one succeeds. */
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

  /** Records that everything was copied elsewhere; null: it was not. */
  async noteMove(movedTo: string | null): Promise<void> {
    await this.#database.updateTable('installation').set({ moved_to: movedTo }).execute()
  }

  /** From now on no number below this one is assigned. */
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

/** For a file the change itself counts; on Postgres triggers do. */
export async function countChange(transaction: Kysely<Schema>): Promise<void> {
  if (!isSqlite(transaction)) return
  await transaction
    .updateTable('installation')
    .set(({ eb }) => ({ change_number: eb('change_number', '+', 1) }))
    .execute()
}
