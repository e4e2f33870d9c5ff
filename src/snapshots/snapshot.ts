/**
 * The rows of a kind that a node holds in memory, by account and id. Serialises changes and follows
 * the changes of other nodes.
 */
import type { Follower } from '../cluster/change-followers.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import type { NamedThing } from '../store/database/find-some.ts'

interface SnapshotSource<Stored> {
  loadAll(): Promise<readonly Stored[]>
  findSome(things: readonly NamedThing[]): Promise<readonly (Stored | undefined)[]>
}

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

  /** Serialises writes, so that two concurrent changes both count. */
  protected inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
    return this.#writes.run(write)
  }
}

interface RegistrySource<Stored> extends SnapshotSource<Stored> {
  delete(accountId: AccountId, id: string): Promise<unknown>
}

export type ChangesOf<Settings> = {
  readonly [Field in keyof Settings]?: Settings[Field] | undefined
}

export abstract class Registry<
  Stored extends NamedThing & { readonly createdAt: number },
> extends Snapshot<Stored> {
  readonly #source: RegistrySource<Stored>

  readonly #word: string

  protected constructor(source: RegistrySource<Stored>, word: string) {
    super(source)
    this.#source = source
    this.#word = word
  }

  protected notFound(_accountId: AccountId, _id: string): GatewayError {
    return new GatewayError('not_found', `There is no ${this.#word} with this id.`)
  }

  find(accountId: AccountId, id: string): Stored | undefined {
    return this.held(accountId, id)
  }

  list(accountId: AccountId): readonly Stored[] {
    return newestFirst(this.heldBy(accountId), ({ id }) => id)
  }

  get(accountId: AccountId, id: string): Stored {
    const stored = this.find(accountId, id)
    if (stored === undefined) throw this.notFound(accountId, id)
    return stored
  }

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

/**
 * Returns a copy with the changed members; an `undefined` member is unchanged, and null is a value.
 * @param changes without read-only members, which the contract's schemas exclude
 */
export function withChanges<Thing extends object>(
  thing: Thing,
  changes: NoInfer<ChangesOf<Thing>>,
): Thing {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return { ...thing, ...Object.fromEntries(given) }
}

/**
 * The order of every list.
 * @param idOf the name of a row's id
 */
export function newestFirst<Row extends { readonly createdAt: number }>(
  rows: Row[],
  idOf: (row: Row) => string,
): Row[] {
  return rows.sort((a, b) => b.createdAt - a.createdAt || (idOf(a) < idOf(b) ? 1 : -1))
}

function nameKey({ accountId, id }: NamedThing): string {
  return `${accountId} ${id}`
}

/** The customer's settings, without the members that the gateway sets. */
export type SettingsOf<Thing> = Omit<Thing, 'accountId' | 'id' | 'createdAt' | 'updatedAt'>

export type RegistryOperation = 'loadAll' | 'findSome' | 'insert' | 'change' | 'delete'

/** Runs steps one after another, so that a step's reads are still true when the step writes. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(step: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(step)
    this.#last = turn.catch(() => {})
    return turn
  }
}
