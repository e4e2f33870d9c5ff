/**
 * The names of calls' callers: API keys, including deleted keys, and members who used the
 * playground.
 */
import type { AccountId, KeyId, UserId } from '../../core/ids.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'

const USER_ID = /^user_/

type Named = Pick<ControlPlaneDependencies, 'keys' | 'members'>

/** Looks up each id once. All ids must belong to the account. */
export class CallerNames {
  readonly #named: Named
  readonly #accountId: AccountId
  readonly #names = new Map<string, string | null>()

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
      const name = USER_ID.test(id) ? await this.#findMember(id as UserId) : this.#nameOfKey(id)
      this.#names.set(id, name ?? null)
      if (name === undefined) deleted.push(id as KeyId)
    }
    if (deleted.length === 0) return
    const names = await this.#named.keys.deletedNamesOf(this.#accountId, deleted)
    for (const [id, name] of names) this.#names.set(id, name)
  }

  #nameOfKey(id: string): string | undefined {
    return this.#named.keys.nameOf(id as KeyId)
  }

  async #findMember(id: UserId): Promise<string | null> {
    const member = await this.#named.members.find(this.#accountId, id)
    return member === undefined ? null : `${member.name} (playground)`
  }
}
