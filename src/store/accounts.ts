/** Accounts (tenants) in the database. Knows neither who belongs to one nor what its plan means. */
import type { Kysely } from 'kysely'
import type { AccountId } from '../core/ids.ts'
import type { Schema } from './schema.ts'

export interface Account {
  readonly id: AccountId
  readonly name: string
  /** Which of the operator's plans it has; null: the one for new accounts. */
  readonly plan: string | null
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

export class AccountTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async find(id: AccountId): Promise<Account | undefined> {
    const row = await this.#database
      .selectFrom('accounts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row === undefined
      ? undefined
      : { id: row.id, name: row.name, plan: row.plan, createdAt: row.created_at }
  }

  /** @returns false when there is no such account */
  async rename(id: AccountId, name: string): Promise<boolean> {
    const result = await this.#database
      .updateTable('accounts')
      .set({ name })
      .where('id', '=', id)
      .executeTakeFirst()
    return Number(result.numUpdatedRows) === 1
  }
}
