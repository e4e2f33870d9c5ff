import type { Kysely } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import type { Schema } from '../schema.ts'

export interface Account {
  readonly id: AccountId
  readonly name: string
  /** The plan's name, defined by the operator; null for the plan of new accounts. */
  readonly plan: string | null
  readonly createdAt: number
}

export class AccountTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  find(id: AccountId): Promise<Account | undefined> {
    return find(this.#database, id)
  }

  async rename(id: AccountId, name: string): Promise<boolean> {
    return await changeAccount(this.#database, id, async (transaction) => {
      const previous = await find(transaction, id)
      if (previous === undefined) return false
      await transaction.updateTable('accounts').set({ name }).where('id', '=', id).execute()
      const [before, after] = [toPublicAccount(previous), toPublicAccount({ ...previous, name })]
      await recordChange(transaction, {
        accountId: id,
        action: 'account.update',
        resourceId: id,
        before,
        after,
      })
      return true
    })
  }
}

export function toPublicAccount({ id, name }: Account) {
  return { id, name }
}

async function find(database: Kysely<Schema>, id: AccountId): Promise<Account | undefined> {
  const row = await database
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined
    ? undefined
    : { id: row.id, name: row.name, plan: row.plan, createdAt: row.created_at }
}
