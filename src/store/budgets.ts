/** Budgets in the database. Trusts what it is given: the contract has checked it. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../core/account-caps.ts'
import { type Budget, toPublicBudget } from '../core/budget.ts'
import type { AccountId } from '../core/ids.ts'
import { recordChange } from './audit-log.ts'
import { changeAccount } from './change-account.ts'
import { findSome, type NamedThing } from './find-some.ts'
import { insertWithinCap } from './insert-within-cap.ts'
import type { BudgetTable, Schema } from './schema.ts'
import { isSqlite } from './sql-differences.ts'

export class BudgetTableStore {
  readonly #database: Kysely<Schema>
  readonly #caps: AccountCaps

  constructor(database: Kysely<Schema>, caps: AccountCaps = DEFAULT_ACCOUNT_CAPS) {
    this.#database = database
    this.#caps = caps
  }

  /** Every budget of every account, for the snapshot at start. */
  async loadAll(): Promise<Budget[]> {
    const rows = await this.#database.selectFrom('budgets').selectAll().execute()
    return rows.map(toBudget)
  }

  /** One for each that is asked for; undefined where there is none. */
  findSome(things: readonly NamedThing[]): Promise<readonly (Budget | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'budgets', idColumn: 'id', toStored: toBudget },
      things,
    )
  }

  /** The time on the clock that all nodes share, in milliseconds since the Unix epoch; undefined: there is one process. */
  async sharedNowMs(): Promise<number | undefined> {
    if (isSqlite(this.#database)) return undefined
    const { rows } = await sql<{ ms: number }>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms
    `.execute(this.#database)
    return rows[0]?.ms
  }

  /** @throws GatewayError `conflict` when the account has too many */
  async insert(budget: Budget): Promise<void> {
    const { scope, accountId } = budget
    const capped = { thing: 'budgets', accountId, caps: this.#caps } as const
    await insertWithinCap(this.#database, capped, async (transaction) => {
      await transaction
        .insertInto('budgets')
        .values({
          id: budget.id,
          account_id: budget.accountId,
          key_id: scope.type === 'key' ? scope.keyId : null,
          gate_id: scope.type === 'gate' ? scope.gateId : null,
          period: budget.period,
          created_at: budget.createdAt,
          ...toMutableColumns(budget),
        })
        .execute()
      await recordChange(transaction, {
        accountId,
        action: 'budget.create',
        resourceId: budget.id,
        before: null,
        after: toPublicBudget(budget),
      })
      return true
    })
  }

  /** Writes everything about a budget that may change. @returns false when there is no such budget. */
  async save(budget: Budget): Promise<boolean> {
    return await changeAccount(this.#database, budget.accountId, async (transaction) => {
      const previous = await find(transaction, budget.accountId, budget.id)
      if (previous === undefined) return false
      await transaction
        .updateTable('budgets')
        .set(toMutableColumns(budget))
        .where('account_id', '=', budget.accountId)
        .where('id', '=', budget.id)
        .execute()
      await recordChange(transaction, {
        accountId: budget.accountId,
        action: 'budget.update',
        resourceId: budget.id,
        before: toPublicBudget(previous),
        after: toPublicBudget(budget),
      })
      return true
    })
  }

  async delete(accountId: AccountId, id: string): Promise<void> {
    await changeAccount(this.#database, accountId, async (transaction) => {
      const previous = await find(transaction, accountId, id)
      if (previous === undefined) return
      await transaction
        .deleteFrom('budget_alerts')
        .where('account_id', '=', accountId)
        .where('budget_id', '=', id)
        .execute()
      await transaction
        .deleteFrom('budgets')
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .execute()
      const before = toPublicBudget(previous)
      await recordChange(transaction, {
        accountId,
        action: 'budget.delete',
        resourceId: id,
        before,
        after: null,
      })
    })
  }
}

async function find(
  database: Kysely<Schema>,
  accountId: AccountId,
  id: string,
): Promise<Budget | undefined> {
  const row = await database
    .selectFrom('budgets')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined ? undefined : toBudget(row)
}

function toMutableColumns(budget: Budget) {
  const { limit } = budget
  return {
    name: budget.name,
    limit_tokens: limit.type === 'tokens' ? limit.tokens : null,
    limit_micro_usd: limit.type === 'spend' ? limit.microUsd : null,
    alert_at: JSON.stringify(budget.alertAt),
    unpriced: budget.unpriced,
    updated_at: budget.updatedAt,
  }
}

function toBudget(row: Selectable<BudgetTable>): Budget {
  if (row.key_id === null && row.gate_id === null)
    throw new Error(`the budget ${row.id} is of nothing`)
  return {
    accountId: row.account_id,
    id: row.id,
    name: row.name,
    scope:
      row.key_id === null
        ? { type: 'gate', gateId: row.gate_id ?? ('' as never) }
        : { type: 'key', keyId: row.key_id },
    limit:
      row.limit_tokens === null
        ? { type: 'spend', microUsd: row.limit_micro_usd ?? 0 }
        : { type: 'tokens', tokens: row.limit_tokens },
    period: row.period,
    unpriced: row.unpriced === 'refuse' ? 'refuse' : 'allow',
    alertAt: JSON.parse(row.alert_at) as number[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
