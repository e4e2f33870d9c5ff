/**
 * The names of calls' callers: of API keys, and of members who used the playground. Must not know
 * where the ids come from; they are the account's own.
 */
import type { AccountId, KeyId, UserId } from '../../core/ids.ts'
import type { ControlPlaneDependencies } from '../control-plane-app.ts'

const USER_ID = /^user_/

type Named = Pick<ControlPlaneDependencies, 'keys' | 'members'>

/** Looks each id up once. */
export class CallerNames {
  readonly #named: Named
  readonly #accountId: AccountId
  readonly #names = new Map<string, string | null>()

  constructor(named: Named, accountId: AccountId) {
    this.#named = named
    this.#accountId = accountId
  }

  /** The name of an id that `find` was given; null where there is none. */
  of(id: string): string | null {
    return this.#names.get(id) ?? null
  }

  async find(ids: Iterable<string>): Promise<void> {
    for (const id of ids) if (!this.#names.has(id)) this.#names.set(id, await this.#find(id))
  }

  async #find(id: string): Promise<string | null> {
    if (!USER_ID.test(id)) return this.#named.keys.nameOf(id as KeyId) ?? null
    const member = await this.#named.members.find(this.#accountId, id as UserId)
    return member === undefined ? null : `${member.name} (playground)`
  }
}
