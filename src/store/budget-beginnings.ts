/**
 * What each budget used between its creation and the end of that hour, kept when the calls themselves are deleted: the
 * roll-ups know whole hours only. Must not know who counts.
 */
import type { Kysely } from 'kysely'
import { hourOf } from '../core/period.ts'
import type { Schema } from './schema.ts'
import { sumOfCalls } from './usage-sums.ts'

export interface BudgetBeginning {
  readonly tokens: number
  /** Millionths of a US dollar. */
  readonly microUsd: number
  readonly unpricedCalls: number
}

export class BudgetBeginnings {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  /** By budget id: those that were kept. */
  async load(): Promise<ReadonlyMap<string, BudgetBeginning>> {
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

  /** To be called before calls that began before this time are deleted. Each is kept once: later some of them are gone. */
  async keep(beforeMs: number): Promise<void> {
    const budgets = await this.#database
      .selectFrom('budgets')
      .select(['id', 'account_id', 'key_id', 'gate_id', 'created_at'])
      .where('first_tokens', 'is', null)
      .where('created_at', '<', beforeMs)
      .execute()
    for (const { id, account_id, key_id, gate_id, created_at } of budgets) {
      const range = { accountId: account_id, fromMs: created_at, untilMs: hourOf(created_at).endsAtMs }
      const beginning = { tokens: 0, microUsd: 0, unpricedCalls: 0 }
      for (const sum of await sumOfCalls(this.#database, range)) {
        if (key_id === null ? sum.gateId !== gate_id : sum.keyId !== key_id) continue
        beginning.tokens += sum.tokens
        beginning.microUsd += sum.microUsd
        beginning.unpricedCalls += sum.unpricedCalls
      }
      await this.#database
        .updateTable('budgets')
        .set({
          first_tokens: beginning.tokens,
          first_micro_usd: beginning.microUsd,
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
