/** The hashes of recent names, because sessions and users repeat and a hash costs microseconds. */
import type { HashedKind } from '../core/attribution.ts'

/** Names in a generation, of all accounts; two generations are held, about 5 MB together. */
const MOST_NAMES = 10_000

type Generation = Map<string, Map<string, string>>

export class RecentHashes {
  readonly #most: number
  #young = emptyKinds()
  #old = emptyKinds()
  #names = 0

  constructor(most = MOST_NAMES) {
    this.#most = most
  }

  get(kind: HashedKind, scope: string, name: string): string | undefined {
    const hash = this.#young[kind].get(scope)?.get(name)
    if (hash !== undefined) return hash
    const older = this.#old[kind].get(scope)?.get(name)
    if (older !== undefined) this.put(kind, scope, name, older)
    return older
  }

  put(kind: HashedKind, scope: string, name: string, hash: string): void {
    if (this.#names >= this.#most) this.#age()
    const young = this.#young[kind]
    const names = young.get(scope)
    if (names === undefined) young.set(scope, new Map([[name, hash]]))
    else names.set(name, hash)
    this.#names += 1
  }

  clear(): void {
    this.#age()
    this.#age()
  }

  #age(): void {
    this.#names = 0
    this.#old = this.#young
    this.#young = emptyKinds()
  }
}

function emptyKinds(): Readonly<Record<HashedKind, Generation>> {
  return { user: new Map(), session: new Map(), agent: new Map(), tag: new Map() }
}
