/**
 * The usage of each budget between its creation and the end of that hour, kept when the calls
 * themselves are deleted: the roll-ups know whole hours only. Must not know who counts.
 */
import type { Kysely } from 'kysely'
import { hourOf } from '../../core/period.ts'
import type { Schema } from '../schema.ts'
import { sumOfCalls, type UsedAmounts } from './sum-call-rows.ts'
import { toStoredSum } from './usage-hours.ts'

export class BudgetBeginnings {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** By budget id: those that were kept. */
  async load(): Promise<ReadonlyMap<string, UsedAmounts>> {
    const rows = await this.#database
      .selectFrom('budgets')
      .select(['id', 'first_tokens', 'first_micro_usd', 'first_unpriced'])
      .where('first_tokens', 'is not', null)
      .execute()
    return new Map(
      rows.map((row) => [
        row.id,
        {
          tokens: row.first_tokens ?? 0,
          microUsd: row.first_micro_usd ?? 0,
          unpricedCalls: row.first_unpriced ?? 0,
        },
      ]),
    )
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
    for (const { id, account_id, key_id, gate_id, created_at } of budgets) {
      const beginning = await sumOfCalls(this.#database, {
        accountId: account_id,
        fromMs: created_at,
        untilMs: hourOf(created_at).endsAtMs,
        ...(key_id !== null && { keyId: key_id }),
        ...(gate_id !== null && { gateId: gate_id }),
      })
      await this.#database
        .updateTable('budgets')
        .set({
          first_tokens: toStoredSum(beginning.tokens),
          first_micro_usd: toStoredSum(beginning.microUsd),
          first_unpriced: beginning.unpricedCalls,
        })
        .where('account_id', '=', account_id)
        .where('id', '=', id)
        // Another node may have kept it meanwhile, and deleted some of what was added up here.
        .where('first_tokens', 'is', null)
        .execute()
    }
  }
}
