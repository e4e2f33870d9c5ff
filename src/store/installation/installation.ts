import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isSqlite } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'

export interface Installation {
  readonly id: string
  readonly change: number
  readonly masterKeyId: string | null
  /** The store that `store copy` copied everything to; null before a copy. */
  readonly movedTo: string | null
}

const PLACE = 1

export function createInstallationId(): string {
  return `inst_${randomBytes(12).toString('hex')}`
}

export class InstallationTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async read(): Promise<Installation | undefined> {
    const row = await this.#database.selectFrom('installation').selectAll().executeTakeFirst()
    if (row === undefined) return undefined
    const { id, change_number, master_key_id, moved_to } = row
    const change = isSqlite(this.#database) ? change_number : await this.#readCounter()
    return { id, change, masterKeyId: master_key_id, movedTo: moved_to }
  }

  /** If several nodes start at once, only the first insert has an effect. */
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

  async noteMove(movedTo: string | null): Promise<void> {
    await this.#database.updateTable('installation').set({ moved_to: movedTo }).execute()
  }

  /** Ensures that later changes get numbers of at least this one. */
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

  async #readCounter(): Promise<number> {
    const { rows } = await sql<{ value: number }>`SELECT value FROM change_counter`.execute(
      this.#database,
    )
    const [row] = rows
    if (row === undefined) throw new Error('the counter of changes is gone')
    return row.value
  }
}

/** Counts a change on SQLite. On Postgres triggers count changes. */
export async function countChange(transaction: Kysely<Schema>): Promise<void> {
  if (!isSqlite(transaction)) return
  await transaction
    .updateTable('installation')
    .set(({ eb }) => ({ change_number: eb('change_number', '+', 1) }))
    .execute()
}
