/** The hashes of recent names, because sessions and users repeat and a hash costs microseconds. */
import type { HashedKind } from '../core/attribution.ts'

/** Names in a generation, of all accounts; two generations are held, about 5 MB together. */
const MOST_NAMES = 10_000

type Generation = Map<string, Map<string, string>>

export class RecentHashes {
  readonly #most: number
  readonly #byKind: Readonly<Record<HashedKind, [young: Generation, old: Generation]>> = {
    user: [new Map(), new Map()],
    session: [new Map(), new Map()],
    agent: [new Map(), new Map()],
    tag: [new Map(), new Map()],
  }
  #names = 0

  constructor(most = MOST_NAMES) {
    this.#most = most
  }

  get(kind: HashedKind, scope: string, name: string): string | undefined {
    const [young, old] = this.#byKind[kind]
    const hash = young.get(scope)?.get(name)
    if (hash !== undefined) return hash
    const older = old.get(scope)?.get(name)
    if (older !== undefined) this.put(kind, scope, name, older)
    return older
  }

  put(kind: HashedKind, scope: string, name: string, hash: string): void {
    if (this.#names >= this.#most) this.#age()
    const [young] = this.#byKind[kind]
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
    for (const generations of Object.values(this.#byKind)) {
      generations[1] = generations[0]
      generations[0] = new Map()
    }
  }
}
