import { type Clock, systemClock } from '../core/clock.ts'
import { type AccountId, createId } from '../core/ids.ts'
import {
  PLAIN_ENTRIES,
  type PlainKind,
  type PlainStore,
  type PlainStores,
  type PlainThing,
  type PlainWord,
  type ThingOf,
} from '../store/resources/plain-kinds.ts'
import { type ChangesOf, Registry, withChanges } from './snapshot.ts'

export type SettingsOf<Thing extends PlainThing> = Omit<Thing, keyof PlainThing>

export class PlainRegistry<Thing extends PlainThing> extends Registry<Thing> {
  readonly #kind: PlainKind<Thing>
  readonly #store: PlainStore<Thing>
  readonly #clock: Clock
  #changes = 0

  private constructor(kind: PlainKind<Thing>, store: PlainStore<Thing>, clock: Clock) {
    super(store, kind.word)
    this.#kind = kind
    this.#store = store
    this.#clock = clock
  }

  static async load<Thing extends PlainThing>(
    kind: PlainKind<Thing>,
    store: PlainStore<Thing>,
    { clock = systemClock }: { readonly clock?: Clock } = {},
  ): Promise<PlainRegistry<Thing>> {
    const registry = new PlainRegistry(kind, store, clock)
    await registry.followAll()
    return registry
  }

  create(accountId: AccountId, settings: SettingsOf<Thing>): Promise<Thing> {
    return this.inTurn(async () => {
      const id = createId(this.#kind.idPrefix)
      // The object is a complete `Thing`, but the compiler cannot combine an Omit with the omitted
      // members.
      const thing = { ...settings, accountId, id, createdAt: this.#clock.now() } as unknown as Thing
      await this.#store.insert(thing)
      this.adopt(thing)
      return thing
    })
  }

  update(accountId: AccountId, id: string, changes: ChangesOf<SettingsOf<Thing>>): Promise<Thing> {
    return this.inTurn(async () => {
      this.get(accountId, id)
      const saved = await this.#store.change({ accountId, id }, (previous) =>
        withChanges(previous, changes as ChangesOf<Thing>),
      )
      if (saved === undefined) throw this.notFound(accountId, id)
      this.adopt(saved.changed)
      return saved.changed
    })
  }

  /** Grows with each change of a resource of any account. */
  get changes(): number {
    return this.#changes
  }

  protected override adopt(thing: Thing): void {
    this.#changes += 1
    super.adopt(thing)
  }

  protected override forget(accountId: AccountId, id: string): void {
    this.#changes += 1
    super.forget(accountId, id)
  }

  get word(): PlainKind<Thing>['word'] {
    return this.#kind.word
  }

  toPublic(thing: Thing): ReturnType<PlainKind<Thing>['toPublic']> {
    return this.#kind.toPublic(thing)
  }
}

export type PlainRegistries = { readonly [Word in PlainWord]: PlainRegistry<ThingOf<Word>> }

export async function loadPlainRegistries(
  stores: PlainStores,
  options?: { readonly clock?: Clock },
): Promise<PlainRegistries> {
  const byWord: Readonly<Record<string, PlainStore<PlainThing>>> = stores
  const loads = PLAIN_ENTRIES.map(async ([word, kind]) => {
    const store = byWord[word]
    if (store === undefined) throw new Error(`there is no store of ${word}`)
    return [word, await PlainRegistry.load(kind, store, options)] as const
  })
  return Object.fromEntries(await Promise.all(loads)) as PlainRegistries
}
