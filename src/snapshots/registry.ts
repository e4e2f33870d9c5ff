/**
 * A snapshot of things that are held as they are stored, and how any of them is found, listed,
 * changed and deleted. Knows no kind and no HTTP.
 */
import type { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import { newestFirst, Snapshot, type SnapshotSource } from './snapshot.ts'

interface RegistrySource<Stored> extends SnapshotSource<Stored> {
  delete(accountId: AccountId, id: string): Promise<unknown>
}

/** An `undefined` member leaves the thing's as it is; null is a value. */
export type ChangesOf<Settings> = {
  readonly [Field in keyof Settings]?: Settings[Field] | undefined
}

export abstract class Registry<
  Stored extends NamedThing & { readonly createdAt: number },
> extends Snapshot<Stored> {
  readonly #source: RegistrySource<Stored>

  protected constructor(source: RegistrySource<Stored>) {
    super(source)
    this.#source = source
  }

  protected abstract notFound(): GatewayError

  find(accountId: AccountId, id: string): Stored | undefined {
    return this.held(accountId, id)
  }

  /** Newest first. */
  list(accountId: AccountId): readonly Stored[] {
    return newestFirst(this.heldBy(accountId), ({ id }) => id)
  }

  /** @throws GatewayError as `notFound` makes it */
  get(accountId: AccountId, id: string): Stored {
    const stored = this.find(accountId, id)
    if (stored === undefined) throw this.notFound()
    return stored
  }

  /** @throws GatewayError as `notFound` makes it */
  delete(accountId: AccountId, id: string): Promise<void> {
    return this.inTurn(async () => {
      this.get(accountId, id)
      await this.#source.delete(accountId, id)
      this.forget(accountId, id)
    })
  }

  protected nameOf(stored: Stored): NamedThing {
    return stored
  }

  protected adopt(stored: Stored): void {
    this.hold(stored, stored)
  }
}

/** @param changes hold no member that may not change: schemas of the contract see to it */
export function withChanges<Thing extends object>(
  thing: Thing,
  changes: NoInfer<ChangesOf<Thing>>,
): Thing {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return { ...thing, ...Object.fromEntries(given) }
}
