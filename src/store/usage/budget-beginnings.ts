/**
 * A budget's usage between its creation and the end of that day, stored before the calls and hours
 * are deleted, because usage is summed by whole hours and days.
 */
import { type Kysely, type Selectable, type SqlBool, sql, type Transaction } from 'kysely'
import { endOfBeginning, type LedgerScope, toLedgerScope } from '../../core/budget.ts'
import type { AccountId } from '../../core/ids.ts'
import { hourOf } from '../../core/period.ts'
import { startOfDay } from '../../core/time-zone.ts'
import { SCOPE_COLUMNS, toScope } from '../resources/budgets.ts'
import type { BudgetTable, Schema } from '../schema.ts'
import { addTo, RangeSums } from './range-sums.ts'
import { sumOfCalls, type UsedAmounts } from './sum-call-rows.ts'
import { toStoredNanoUsd, toStoredTokens } from './upsert-sums.ts'
import { DAY_MS, type UsageRow } from './usage-columns.ts'

export class BudgetBeginnings {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async load(): Promise<ReadonlyMap<string, UsedAmounts>> {
    const rows = await this.#database
      .selectFrom('budgets')
      .select(['id', 'first_tokens', 'first_nano_usd', 'first_unpriced'])
      .where('first_tokens', 'is not', null)
      .execute()
    return new Map(rows.map((row) => [row.id, toAmounts(row)]))
  }

  /**
   * Stores the usage of each new budget once. Call before deleting calls that began before this
   * time.
   */
  async keep(beforeMs: number): Promise<void> {
    const budgets = await this.#database
      .selectFrom('budgets')
      .select(PLACE)
      .where('first_tokens', 'is', null)
      .where(isOfOne)
      .where('created_at', '<', beforeMs)
      .execute()
    for (const budget of budgets) await keepBeginning(this.#database, budget)
  }
}

const PLACE = [...SCOPE_COLUMNS, 'account_id', 'created_at'] as const

type BudgetPlace = Pick<Selectable<BudgetTable>, (typeof PLACE)[number]>

/** A default for each head has no usage of its own. */
const isOfOne = sql<SqlBool>`(scope IS NULL OR scope NOT IN ('each-user', 'each-key'))`
/** Users and tags have no hours. */
const hasHours = sql<SqlBool>`(scope IS NULL OR scope = 'account')`

type CallScope = LedgerScope & { readonly accountId: AccountId }

async function keepBeginning(database: Kysely<Schema>, budget: BudgetPlace): Promise<void> {
  const beginning = await sumOfCalls(database, {
    ...toCallScope(budget),
    fromMs: budget.created_at,
    untilMs: endOfBeginning(toCallScope(budget), budget.created_at),
  })
  await database
    .updateTable('budgets')
    .set(toColumns(beginning))
    .where('account_id', '=', budget.account_id)
    .where('id', '=', budget.id)
    // Another node may have stored the usage meanwhile and deleted some of these calls.
    .where('first_tokens', 'is', null)
    .execute()
}

/**
 * Adds hours that are being deleted to the budgets that were created earlier on the same day.
 * @param transaction the deleting transaction, which holds the lock on the account's usage
 */
export async function addToBeginnings(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  deleted: readonly UsageRow[],
): Promise<void> {
  const times = deleted.map(({ starts_at }) => starts_at)
  if (times.length === 0) return
  const ofDays = transaction
    .selectFrom('budgets')
    .where('account_id', '=', accountId)
    .where(hasHours)
    .where('created_at', '>=', startOfDay(Math.min(...times)))
    .where('created_at', '<', startOfDay(Math.max(...times)) + DAY_MS)
  const places = await ofDays.select([...PLACE, 'first_tokens']).execute()
  if (places.length === 0) return
  for (const place of places)
    if (place.first_tokens === null) await keepBeginning(transaction, place)
  const sums = new RangeSums(
    places.map((place) => ({
      ...toCallScope(place),
      fromMs: hourOf(place.created_at).endsAtMs,
      untilMs: startOfDay(place.created_at) + DAY_MS,
    })),
  )
  for (const row of deleted) sums.add(row)
  const kept = await ofDays
    .select(['id', 'first_tokens', 'first_nano_usd', 'first_unpriced'])
    .execute()
  const indexes = new Map(places.map(({ id }, index) => [id, index]))
  for (const row of kept) {
    const rest = sums.amounts[indexes.get(row.id) ?? -1]
    if (rest === undefined || isNothing(rest)) continue
    const amounts = { ...toAmounts(row) }
    addTo(amounts, rest)
    await transaction
      .updateTable('budgets')
      .set(toColumns(amounts))
      .where('account_id', '=', accountId)
      .where('id', '=', row.id)
      .execute()
  }
}

function isNothing({ tokens, nanoUsd, unpricedCalls }: UsedAmounts): boolean {
  return tokens === 0 && nanoUsd === 0 && unpricedCalls === 0
}

function toCallScope(row: BudgetPlace): CallScope {
  return { accountId: row.account_id, ...toLedgerScope(toScope(row)) }
}

type FirstColumns = Pick<
  Selectable<BudgetTable>,
  'first_tokens' | 'first_nano_usd' | 'first_unpriced'
>

function toAmounts(row: FirstColumns): UsedAmounts {
  return {
    tokens: row.first_tokens ?? 0,
    nanoUsd: row.first_nano_usd ?? 0,
    unpricedCalls: row.first_unpriced ?? 0,
  }
}

function toColumns({ tokens, nanoUsd, unpricedCalls }: UsedAmounts): FirstColumns {
  return {
    first_tokens: toStoredTokens(tokens),
    first_nano_usd: toStoredNanoUsd(nanoUsd),
    first_unpriced: unpricedCalls,
  }
}
