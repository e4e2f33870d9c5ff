/**
 * The names of calls' callers: API keys, including deleted keys, members who used the playground,
 * users, and tags.
 */
import { PLAYGROUND_KEY } from '../../core/attribution.ts'
import type { CallRecord } from '../../core/call.ts'
import type { CallNames } from '../../core/call-columns.ts'
import { type AccountId, isMemberId, type KeyId, type UserId } from '../../core/ids.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'

type Named = Pick<ControlPlaneDependencies, 'keys' | 'members' | 'callerNames'>

/** Looks up each id once. All ids must belong to the account. */
export class CallerNames {
  readonly #named: Named
  readonly #accountId: AccountId
  readonly #names = new Map<string, string | null>([[PLAYGROUND_KEY, null]])
  readonly #users = new Map<string, string | null>()
  readonly #tags = new Map<string, string | null>()

  constructor(named: Named, accountId: AccountId) {
    this.#named = named
    this.#accountId = accountId
  }

  of(id: string): string | null {
    return this.#names.get(id) ?? null
  }

  async find(ids: Iterable<string>): Promise<void> {
    const deleted: KeyId[] = []
    for (const id of ids) {
      if (this.#names.has(id)) continue
      const name = isMemberId(id) ? await this.#findMember(id as UserId) : this.#nameOfKey(id)
      this.#names.set(id, name ?? null)
      if (name === undefined) deleted.push(id as KeyId)
    }
    if (deleted.length === 0) return
    const names = await this.#named.keys.deletedNamesOf(this.#accountId, deleted)
    for (const [id, name] of names) this.#names.set(id, name)
  }

  userOf(id: string): string | null {
    return this.#users.get(id) ?? null
  }

  tagOf(hash: string): string | null {
    return this.#tags.get(hash) ?? null
  }

  async findUsers(ids: Iterable<string>): Promise<void> {
    for (const id of await this.#findStored('user', ids, this.#users)) {
      if (!isMemberId(id)) continue
      const member = await this.#named.members.find(this.#accountId, id as UserId)
      if (member !== undefined) this.#users.set(id, member.name)
    }
  }

  async findTags(hashes: Iterable<string>): Promise<void> {
    await this.#findStored('tag', hashes, this.#tags)
  }

  async findOfCalls(calls: readonly CallRecord[]): Promise<void> {
    await this.find(calls.map(({ keyId }) => keyId))
    await this.findUsers(calls.flatMap(({ user }) => user ?? []))
    await this.findTags(calls.flatMap(({ tags }) => tags?.split(' ') ?? []))
  }

  ofCall({ keyId, user, tags }: CallRecord): CallNames {
    const texts = tags?.split(' ').map((hash) => this.tagOf(hash) ?? hash)
    return {
      keyName: this.of(keyId),
      userName: user === undefined ? null : this.userOf(user),
      tagNames: texts?.join(' ') ?? null,
    }
  }

  /** @returns the ids without a stored name */
  async #findStored(
    kind: 'user' | 'tag',
    ids: Iterable<string>,
    names: Map<string, string | null>,
  ): Promise<readonly string[]> {
    const asked = [...new Set(ids)].filter((id) => !names.has(id))
    if (asked.length === 0) return []
    const stored = await this.#named.callerNames.find(this.#accountId, kind, asked)
    for (const id of asked) names.set(id, stored.get(id) ?? null)
    return asked.filter((id) => !stored.has(id))
  }

  #nameOfKey(id: string): string | undefined {
    return this.#named.keys.nameOf(id as KeyId)
  }

  async #findMember(id: UserId): Promise<string | null> {
    const member = await this.#named.members.find(this.#accountId, id)
    return member === undefined ? null : `${member.name} (playground)`
  }
}
