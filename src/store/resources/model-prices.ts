/** Prices of models that the operator stored at run time. */
import type { Kysely, Selectable, Transaction } from 'kysely'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import { type ModelPrice, type StoredPrices, toPublicModelPrice } from '../../core/model-price.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { findSome, type NamedThing } from '../database/find-some.ts'
import type { ModelPriceTable, Schema } from '../schema.ts'

/** Every node holds all stored prices. More prices belong in the configuration file. */
export const MOST_MODEL_PRICES = 1_000

export class ModelPriceTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async loadAll(): Promise<ModelPrice[]> {
    return (await this.#database.selectFrom('model_prices').selectAll().execute()).map(toModelPrice)
  }

  findSome(things: readonly NamedThing[]): Promise<readonly (ModelPrice | undefined)[]> {
    return findSome(
      this.#database,
      { table: 'model_prices', idColumn: 'model', toStored: toModelPrice },
      things,
    )
  }

  /**
   * Adds the price, or replaces the model's stored price.
   * @throws GatewayError `conflict` for more than `MOST_MODEL_PRICES`
   */
  async save(given: ModelPrice): Promise<{ readonly saved: ModelPrice; readonly isNew: boolean }> {
    const { accountId, model, like, prices, updatedAt } = given
    return await changeAccount(this.#database, accountId, async (transaction) => {
      const before = await find(transaction, accountId, model)
      const saved = { ...given, createdAt: before?.createdAt ?? given.createdAt }
      const price = JSON.stringify({ like, prices } satisfies StoredPrices)
      await transaction
        .insertInto('model_prices')
        .values({
          account_id: accountId,
          ...{ model, price, created_at: saved.createdAt, updated_at: updatedAt },
        })
        .onConflict((conflict) =>
          conflict.columns(['account_id', 'model']).doUpdateSet({ price, updated_at: updatedAt }),
        )
        .execute()
      await recordChange(transaction, {
        accountId,
        action: before === undefined ? 'model-price.create' : 'model-price.update',
        resourceId: model,
        before: before === undefined ? null : toPublicModelPrice(before),
        after: toPublicModelPrice(saved),
      })
      if (before === undefined) await assertFew(transaction)
      return { saved, isNew: before === undefined }
    })
  }

  /** @returns false when the model has no stored price */
  async delete(accountId: AccountId, model: string): Promise<boolean> {
    return await changeAccount(this.#database, accountId, async (transaction) => {
      const before = await find(transaction, accountId, model)
      if (before === undefined) return false
      await transaction
        .deleteFrom('model_prices')
        .where('account_id', '=', accountId)
        .where('model', '=', model)
        .execute()
      await recordChange(transaction, {
        ...{ accountId, action: 'model-price.delete', resourceId: model },
        ...{ before: toPublicModelPrice(before), after: null },
      })
      return true
    })
  }
}

async function find(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  model: string,
): Promise<ModelPrice | undefined> {
  const row = await transaction
    .selectFrom('model_prices')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('model', '=', model)
    .executeTakeFirst()
  return row && toModelPrice(row)
}

async function assertFew(transaction: Transaction<Schema>): Promise<void> {
  const { count } = await transaction
    .selectFrom('model_prices')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) <= MOST_MODEL_PRICES) return
  throw new GatewayError(
    'conflict',
    `There are ${MOST_MODEL_PRICES} stored prices, which is the limit. Declare further prices in ` +
      'the section models of the configuration file.',
  )
}

function toModelPrice(row: Selectable<ModelPriceTable>): ModelPrice {
  const { like, prices } = JSON.parse(row.price) as StoredPrices
  return {
    accountId: row.account_id,
    model: row.model,
    ...(like === undefined ? {} : { like }),
    ...(prices === undefined ? {} : { prices }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
