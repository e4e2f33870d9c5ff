/**
 * The usage of each budget between its creation and the end of that hour, kept when the calls
 * themselves are deleted: the roll-ups know whole hours only. The budget's usage in the rest of
 * that day is added when those hours are folded. So a reader adds three things, whatever was
 * deleted or folded meanwhile: the usage kept here, the hours up to the end of the day, and the
 * days after it. Must not know who counts.
 */
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { AccountId } from '../../core/ids.ts'
import { hourOf } from '../../core/period.ts'
import type { BudgetTable, Schema } from '../schema.ts'
import { addTo, RangeSums } from './range-sums.ts'
import { sumOfCalls, type UsedAmounts } from './sum-call-rows.ts'
import { toStoredNanoUsd, toStoredTokens } from './usage-hours.ts'
import { readPagesOf } from './usage-pages.ts'

export class BudgetBeginnings {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** By budget id: those that were kept. */
  async load(): Promise<ReadonlyMap<string, UsedAmounts>> {
    const rows = await this.#database
      .selectFrom('budgets')
      .select(['id', 'first_tokens', 'first_nano_usd', 'first_unpriced'])
      .where('first_tokens', 'is not', null)
      .execute()
    return new Map(rows.map((row) => [row.id, toAmounts(row)]))
  }

  /**
   * To be called before calls that began before this time are deleted. Each is kept once: later
   * some of them are gone.
   */
  async keep(beforeMs: number): Promise<void> {
    const budgets = await this.#database
      .selectFrom('budgets')
      .select(['id', 'account_id', 'key_id', 'gate_id', 'created_at'])
      .where('first_tokens', 'is', null)
      .where('created_at', '<', beforeMs)
      .execute()
    for (const budget of budgets) await keepBeginning(this.#database, budget)
  }
}

type BudgetPlace = Pick<
  Selectable<BudgetTable>,
  'id' | 'account_id' | 'key_id' | 'gate_id' | 'created_at'
>

async function keepBeginning(database: Kysely<Schema>, budget: BudgetPlace): Promise<void> {
  const beginning = await sumOfCalls(database, {
    ...toScope(budget),
    fromMs: budget.created_at,
    untilMs: hourOf(budget.created_at).endsAtMs,
  })
  await database
    .updateTable('budgets')
    .set(toColumns(beginning))
    .where('account_id', '=', budget.account_id)
    .where('id', '=', budget.id)
    // Another node may have kept it meanwhile, and deleted some of what was added up here.
    .where('first_tokens', 'is', null)
    .execute()
}

/**
 * To be called before the hours of a day are folded: the hours after a budget's creation go to its
 * beginning, for they cannot be told from the earlier ones any more.
 * @param transaction has the turn at the account's usage
 */
export async function moveToBeginnings(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  day: { readonly fromMs: number; readonly toMs: number },
): Promise<void> {
  const ofDay = transaction
    .selectFrom('budgets')
    .where('account_id', '=', accountId)
    .where('created_at', '>=', day.fromMs)
    .where('created_at', '<', day.toMs)
  const places = await ofDay
    .select(['id', 'account_id', 'key_id', 'gate_id', 'created_at', 'first_tokens'])
    .execute()
  if (places.length === 0) return
  for (const place of places)
    if (place.first_tokens === null) await keepBeginning(transaction, place)
  const rests = places.map((place) => ({
    ...toScope(place),
    fromMs: hourOf(place.created_at).endsAtMs,
    untilMs: day.toMs,
  }))
  // One pass over the hours: hundreds of budgets may be of one day.
  const sums = new RangeSums(rests)
  const hours = { accountId, fromMs: Math.min(...rests.map(({ fromMs }) => fromMs)) }
  for await (const rows of readPagesOf(transaction, 'usage_hours', { ...hours, untilMs: day.toMs }))
    for (const row of rows) sums.add(row)
  // The usage that is kept now.
  const kept = await ofDay
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

function toScope({ account_id, key_id, gate_id }: BudgetPlace) {
  return {
    accountId: account_id,
    ...(key_id !== null && { keyId: key_id }),
    ...(gate_id !== null && { gateId: gate_id }),
  }
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
