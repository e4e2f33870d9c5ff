/** The operator's stored prices of models that this node holds in memory. */
import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import type { ModelEntry } from '../core/model-entry.ts'
import { type ModelPrice, type StoredPrices, toEntry } from '../core/model-price.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { ModelPriceTableStore } from '../store/resources/model-prices.ts'
import { Snapshot } from './snapshot.ts'

export interface ModelPriceRegistryOptions {
  readonly prices: Pick<ModelPriceTableStore, 'loadAll' | 'findSome' | 'save' | 'delete'>
  /** Called after changes, also of other nodes. */
  readonly onChanged: () => void
  readonly clock?: Clock
}

export class ModelPriceRegistry extends Snapshot<ModelPrice> {
  readonly #options: ModelPriceRegistryOptions
  readonly #clock: Clock

  private constructor(options: ModelPriceRegistryOptions) {
    super(options.prices)
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  static async load(options: ModelPriceRegistryOptions): Promise<ModelPriceRegistry> {
    const registry = new ModelPriceRegistry(options)
    await registry.followAll()
    return registry
  }

  find(accountId: AccountId, model: string): ModelPrice | undefined {
    return this.held(accountId, model)
  }

  entries(): readonly ModelEntry[] {
    return this.heldByAll().map(toEntry)
  }

  /** @throws GatewayError `conflict` for too many prices */
  set(
    { accountId, id: model }: NamedThing,
    { like, prices }: StoredPrices,
  ): Promise<{ readonly saved: ModelPrice; readonly isNew: boolean }> {
    return this.inTurn(async () => {
      const now = this.#clock.now()
      const given = { accountId, model, like, prices, createdAt: now, updatedAt: now }
      const result = await this.#options.prices.save(given)
      this.adopt(result.saved)
      this.#options.onChanged()
      return result
    })
  }

  /** @throws GatewayError `not_found` */
  delete({ accountId, id: model }: NamedThing): Promise<void> {
    return this.inTurn(async () => {
      const wasThere = await this.#options.prices.delete(accountId, model)
      this.forget(accountId, model)
      this.#options.onChanged()
      if (!wasThere) throw new GatewayError('not_found', 'model: has no stored price.')
    })
  }

  override async follow(things: readonly NamedThing[]): Promise<void> {
    await super.follow(things)
    this.#options.onChanged()
  }

  override async followAll(): Promise<void> {
    await super.followAll()
    this.#options.onChanged()
  }

  protected nameOf({ accountId, model }: ModelPrice): NamedThing {
    return { accountId, id: model }
  }

  protected adopt(price: ModelPrice): void {
    this.hold(this.nameOf(price), price)
  }
}
