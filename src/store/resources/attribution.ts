/** The accounts' settings of attribution in the database. Rows hold encrypted hash keys. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely, Selectable } from 'kysely'
import { type AttributionSettings, END_USER } from '../../core/attribution.ts'
import type { AccountId } from '../../core/ids.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { findSome, type NamedThing } from '../database/find-some.ts'
import type { AttributionTable, Schema } from '../schema.ts'
import { isEndUser, lockEndUsers } from '../usage/erased-users.ts'
import { deleteStopsOfHeads } from './stops.ts'

export interface StoredAttribution {
  readonly accountId: AccountId
  readonly sealedHashKey: string
  readonly settings: AttributionSettings
}

export interface ReplacedKey {
  readonly stored: StoredAttribution
  /** The budgets whose hashes changed. */
  readonly budgetIds: readonly string[]
}

const ROWS_PER_STATEMENT = 500

export class AttributionTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async loadAll(): Promise<readonly StoredAttribution[]> {
    const rows = await this.#database.selectFrom('attribution').selectAll().execute()
    return rows.map(toStored)
  }

  findSome(things: readonly NamedThing[]): Promise<readonly (StoredAttribution | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'attribution', idColumn: 'account_id', toStored },
      things,
    )
  }

  async listAccountsWithout(): Promise<readonly AccountId[]> {
    const rows = await this.#database
      .selectFrom('accounts')
      .leftJoin('attribution', 'attribution.account_id', 'accounts.id')
      .where('attribution.account_id', 'is', null)
      .select('accounts.id')
      .execute()
    return rows.map(({ id }) => id)
  }

  /** Rows of accounts that have one already are skipped: the first writer's key stays. */
  async insertMissing(missing: readonly StoredAttribution[]): Promise<void> {
    for (let at = 0; at < missing.length; at += ROWS_PER_STATEMENT)
      await this.#database
        .insertInto('attribution')
        .values(missing.slice(at, at + ROWS_PER_STATEMENT).map(toRow))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
  }

  /** @returns undefined when the account has no row */
  async change(
    accountId: AccountId,
    change: (previous: AttributionSettings) => AttributionSettings,
  ): Promise<StoredAttribution | undefined> {
    return await changeAccount(this.#database, accountId, async (transaction) => {
      const row = await transaction
        .selectFrom('attribution')
        .selectAll()
        .where('account_id', '=', accountId)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const before = toStored(row)
      const after = { ...before, settings: change(before.settings) }
      const { account_id: _, sealed_hash_key: __, ...changed } = toRow(after)
      await transaction
        .updateTable('attribution')
        .set(changed)
        .where('account_id', '=', accountId)
        .execute()
      await recordChange(transaction, {
        accountId,
        action: 'attribution.update',
        resourceId: accountId,
        before: { ...before.settings },
        after: { ...after.settings },
      })
      return after
    })
  }

  /**
   * Replaces the account's hash key and deletes the names of end users, whose hashes cannot be
   * computed again. Budgets of tags and end users, which hold their names, get the new hashes. Stops
   * by fuses of sessions and end users are deleted, because no call has their hashes any more.
   * @returns undefined when the account has no row
   */
  async replaceKey(
    accountId: AccountId,
    sealedHashKey: string,
    hash: (kind: 'user' | 'tag', name: string) => string,
  ): Promise<ReplacedKey | undefined> {
    return await changeAccount(this.#database, accountId, async (transaction) => {
      // Names under the old key are written before this transaction, or never.
      await lockEndUsers(transaction, accountId)
      const row = await transaction
        .updateTable('attribution')
        .set({ sealed_hash_key: sealedHashKey, updated_at: Date.now() })
        .where('account_id', '=', accountId)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return undefined
      const ofEndUsers = transaction
        .selectFrom('caller_names')
        .select('hash')
        .where('account_id', '=', accountId)
        .where('kind', '=', 'user')
        .where('hash', 'like', `${END_USER}%`)
        .limit(ROWS_PER_STATEMENT)
      for (let deleted = ROWS_PER_STATEMENT; deleted === ROWS_PER_STATEMENT; ) {
        const { numDeletedRows } = await transaction
          .deleteFrom('caller_names')
          .where('account_id', '=', accountId)
          .where('kind', '=', 'user')
          .where('hash', 'in', ofEndUsers)
          .executeTakeFirst()
        deleted = Number(numDeletedRows)
        await nextTurn()
      }
      const budgets = await transaction
        .selectFrom('budgets')
        .select(['id', 'scope', 'scope_name'])
        .where('account_id', '=', accountId)
        .where('scope_name', 'is not', null)
        .execute()
      for (const { id, scope, scope_name } of budgets) {
        const name = scope_name ?? ''
        const scopeId = scope === 'tag' ? hash('tag', name) : END_USER + hash('user', name)
        await transaction
          .updateTable('budgets')
          .set({ scope_id: scopeId })
          .where('account_id', '=', accountId)
          .where('id', '=', id)
          .execute()
      }
      await deleteStopsOfHeads(
        transaction,
        accountId,
        ({ kind, id }) => kind === 'session' || isEndUser(id),
      )
      const stored = toStored(row)
      await recordChange(transaction, {
        ...{ accountId, action: 'attribution.replace-key', resourceId: accountId },
        before: { ...stored.settings },
        after: { ...stored.settings },
      })
      return { stored, budgetIds: budgets.map(({ id }) => id) }
    })
  }
}

function toRow({ accountId, sealedHashKey, settings }: StoredAttribution): AttributionTable {
  return {
    account_id: accountId,
    sealed_hash_key: sealedHashKey,
    members_and_tags: Number(settings.membersAndTags),
    sessions: Number(settings.sessions),
    end_users: Number(settings.endUsers),
    people_figures: settings.peopleFigures,
    updated_at: Date.now(),
  }
}

function toStored(row: Selectable<AttributionTable>): StoredAttribution {
  return {
    accountId: row.account_id,
    sealedHashKey: row.sealed_hash_key,
    settings: {
      membersAndTags: row.members_and_tags === 1,
      sessions: row.sessions === 1,
      endUsers: row.end_users === 1,
      peopleFigures: row.people_figures,
    },
  }
}
