/**
 * The things of one kind that a node holds in memory, by account and id. It changes one after the
 * other and follows the changes of other nodes in the store. Knows no kind and no HTTP.
 */
import type { AccountId } from '../core/ids.ts'
import type { Follower } from '../revocation/change-followers.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import { OneAtATime } from './one-at-a-time.ts'

export interface SnapshotSource<Stored> {
  loadAll(): Promise<readonly Stored[]>
  findSome(things: readonly NamedThing[]): Promise<readonly (Stored | undefined)[]>
}

/** Reads these things anew, and hands over each that is there still and each that is not. */
export async function readAgain<Stored>(
  source: Pick<SnapshotSource<Stored>, 'findSome'>,
  things: readonly NamedThing[],
  hands: {
    readonly adopt: (stored: Stored) => void
    readonly forget: (thing: NamedThing) => void
  },
): Promise<void> {
  const found = await source.findSome(things)
  for (const [index, thing] of things.entries()) {
    const stored = found[index]
    if (stored === undefined) hands.forget(thing)
    else hands.adopt(stored)
  }
}

export abstract class Snapshot<Held, Stored = Held> implements Follower {
  readonly #source: SnapshotSource<Stored>
  readonly #byAccount = new Map<AccountId, Map<string, Held>>()
  readonly #writes = new OneAtATime()

  protected constructor(source: SnapshotSource<Stored>) {
    this.#source = source
  }

  protected abstract nameOf(stored: Stored): NamedThing

  /** Takes over what another node has written, which may be what is held already. */
  protected abstract adopt(stored: Stored): void

  follow(things: readonly NamedThing[]): Promise<void> {
    return this.inTurn(() =>
      readAgain(this.#source, things, {
        adopt: (stored) => this.adopt(stored),
        forget: ({ accountId, id }) => this.forget(accountId, id),
      }),
    )
  }

  followAll(): Promise<void> {
    return this.inTurn(async () => {
      const all = await this.#source.loadAll()
      const names = new Set(all.map((stored) => nameKey(this.nameOf(stored))))
      for (const [accountId, things] of this.#byAccount)
        for (const id of [...things.keys()])
          if (!names.has(nameKey({ accountId, id }))) this.forget(accountId, id)
      for (const stored of all) this.adopt(stored)
    })
  }

  protected held(accountId: AccountId, id: string): Held | undefined {
    return this.#byAccount.get(accountId)?.get(id)
  }

  /** In no order that means anything. */
  protected heldBy(accountId: AccountId): Held[] {
    return [...(this.#byAccount.get(accountId)?.values() ?? [])]
  }

  protected heldByAll(): Held[] {
    return [...this.#byAccount.values()].flatMap((things) => [...things.values()])
  }

  protected hold({ accountId, id }: NamedThing, held: Held): void {
    const things = this.#byAccount.get(accountId) ?? new Map<string, Held>()
    things.set(id, held)
    this.#byAccount.set(accountId, things)
  }

  protected forget(accountId: AccountId, id: string): void {
    this.#byAccount.get(accountId)?.delete(id)
  }

  /** Each waits for the one before, so that two changes at once both count. */
  protected inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
    return this.#writes.run(write)
  }
}

/** The order of every list. @param idOf what its table calls its id */
export function newestFirst<Row extends { readonly createdAt: number }>(
  rows: Row[],
  idOf: (row: Row) => string,
): Row[] {
  return rows.sort((a, b) => b.createdAt - a.createdAt || (idOf(a) < idOf(b) ? 1 : -1))
}

function nameKey({ accountId, id }: NamedThing): string {
  return `${accountId} ${id}`
}
