import type { Kysely } from 'kysely'
import { lockName } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { deleteExpired } from './delete-expired.ts'

export interface SignInTries {
  readonly wrong: number
  readonly waitsUntil: number
  readonly isProven: boolean
  readonly forgetAt: number
}

export class SignInTriesStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /**
   * Updates the record of a name; concurrent nodes are serialised.
   * @param decide gets undefined for an unknown name; its error leaves everything unchanged
   * @param now milliseconds since the Unix epoch
   */
  async change(
    name: string,
    now: number,
    decide: (held: SignInTries | undefined) => SignInTries,
  ): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockName(transaction, `sign-in ${name}`)
      const row = await transaction
        .selectFrom('sign_in_tries')
        .selectAll()
        .where('name', '=', name)
        .where('forget_at', '>', now)
        .executeTakeFirst()
      const next = decide(
        row && {
          wrong: row.wrong,
          waitsUntil: row.waits_until,
          isProven: row.proven === 1,
          forgetAt: row.forget_at,
        },
      )
      const columns = {
        wrong: next.wrong,
        waits_until: next.waitsUntil,
        proven: next.isProven ? 1 : 0,
        forget_at: next.forgetAt,
      }
      await transaction
        .insertInto('sign_in_tries')
        .values({ name, ...columns })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
        .execute()
    })
  }

  async deleteExpired(now: number): Promise<void> {
    const expired = { primaryKey: 'name', column: 'forget_at', until: now } as const
    await deleteExpired(this.#database, { table: 'sign_in_tries', ...expired })
  }
}
