/** Look-ups of users, sessions and tags for the hot path, from the registries of this node. */
import type { AttributionSettings, HashedKind, NamedKind } from '../core/attribution.ts'
import type { AccountId } from '../core/ids.ts'
import type { AccountTags, Attributions } from '../gateway/ports.ts'
import type { AttributionRegistry } from './attribution-registry.ts'
import type { CallerNames } from './caller-names.ts'
import type { PlainRegistries } from './plain-registry.ts'

export interface AttributionParts {
  readonly registry: Pick<AttributionRegistry, 'settingsOf' | 'hash'>
  readonly tags: Pick<PlainRegistries['tag'], 'list' | 'changes'>
  readonly names: Pick<CallerNames, 'note' | 'takesTagValue'>
  /** Called for each tag of a call. */
  readonly onTag?: (accountId: AccountId, hash: string, text: string) => void
}

export class NodeAttributions implements Attributions {
  readonly #parts: AttributionParts
  readonly #tags = new Map<AccountId, TagIndex>()
  #tagChanges = -1

  constructor(parts: AttributionParts) {
    this.#parts = parts
  }

  settingsOf(accountId: AccountId): AttributionSettings {
    return this.#parts.registry.settingsOf(accountId)
  }

  hash(accountId: AccountId, kind: HashedKind, name: string, scope?: string): string | undefined {
    return this.#parts.registry.hash(accountId, kind, name, scope)
  }

  tagsOf(accountId: AccountId): AccountTags {
    const { tags } = this.#parts
    if (tags.changes !== this.#tagChanges) {
      this.#tagChanges = tags.changes
      this.#tags.clear()
    }
    const known = this.#tags.get(accountId)
    if (known !== undefined) return known
    const index = new TagIndex(tags.list(accountId))
    this.#tags.set(accountId, index)
    return index
  }

  takesTagValue(accountId: AccountId, tag: string, value: string): boolean {
    return this.#parts.names.takesTagValue(accountId, tag, value)
  }

  note(accountId: AccountId, kind: NamedKind, hash: string, name: string | undefined): void {
    this.#parts.names.note(accountId, kind, hash, name)
    if (kind === 'tag' && name !== undefined) this.#parts.onTag?.(accountId, hash, name)
  }
}

type Tag = ReturnType<AttributionParts['tags']['list']>[number]

class TagIndex implements AccountTags {
  readonly #names: ReadonlySet<string>
  readonly #byId: ReadonlyMap<string, string>
  readonly #teams = new Map<string, string[]>()

  constructor(tags: readonly Tag[]) {
    this.#names = new Set(tags.map(({ name }) => name))
    this.#byId = new Map(tags.map(({ id, name }) => [id, name]))
    // Oldest first, so that a new team does not replace another one among a call's tags.
    for (const { name, members } of tags.toReversed())
      for (const member of members) {
        const teams = this.#teams.get(member)
        if (teams === undefined) this.#teams.set(member, [name])
        else teams.push(name)
      }
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  nameOf(id: string): string | undefined {
    return this.#byId.get(id)
  }

  teamsOf(userId: string): readonly string[] {
    return this.#teams.get(userId) ?? NO_TEAMS
  }
}

const NO_TEAMS: readonly string[] = []
