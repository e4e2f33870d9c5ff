/** End users of a store whose names are noted, written and erased, and what must be left of them. */
import type { Kysely } from 'kysely'
import { DEFAULT_ATTRIBUTION, ERASURE_TOLERANCE_MS } from '../../core/attribution.ts'
import type { CallRecord } from '../../core/call.ts'
import type { AccountId } from '../../core/ids.ts'
import { type CallerName, CallerNameStore } from '../calls/caller-names.ts'
import { operatorOrigin, withOrigin } from '../changes/change-origin.ts'
import { AttributionTableStore } from '../resources/attribution.ts'
import type { Schema } from '../schema.ts'
import { EndUserStore } from './end-users.ts'

export interface UserAtTime {
  readonly account: AccountId
  readonly user: string
  readonly atMs: number
}

export class EndUsersOfTest {
  readonly #users: EndUserStore
  readonly #keys: AttributionTableStore
  readonly #names: CallerNameStore
  readonly #database: Kysely<Schema>
  readonly #erased = new Map<string, number>()
  readonly #present = new Map<AccountId, string>()
  readonly #expected = new Set<string>()
  #waiting: (UserAtTime & { readonly key: string | undefined })[] = []

  constructor(database: Kysely<Schema>) {
    this.#database = database
    this.#users = new EndUserStore(database)
    this.#keys = new AttributionTableStore(database)
    this.#names = new CallerNameStore(database)
  }

  async addAccounts(accountIds: readonly AccountId[]): Promise<void> {
    for (const id of accountIds) this.#present.set(id, `${id} 0`)
    await this.#keys.insertMissing(
      accountIds.map((accountId) => ({
        ...{ accountId, sealedHashKey: `${accountId} 0`, settings: DEFAULT_ATTRIBUTION },
      })),
    )
  }

  async erase(one: UserAtTime): Promise<void> {
    const { account, user, atMs } = one
    await withOrigin(operatorOrigin, () => this.#users.erase(account, user, atMs))
    this.#erased.set(toPlace(one), atMs)
    this.#expected.delete(toPlace(one))
  }

  async replaceKey(account: AccountId): Promise<void> {
    const key = `${account} ${Number(this.#present.get(account)?.split(' ')[1]) + 1}`
    await withOrigin(operatorOrigin, () => this.#keys.replaceKey(account, key, () => ''))
    this.#present.set(account, key)
    for (const place of this.#expected)
      if (place.startsWith(`${account} `)) this.#expected.delete(place)
  }

  note(one: UserAtTime): void {
    this.#waiting.push({ ...one, key: this.#present.get(one.account) })
  }

  async writeNames(): Promise<void> {
    const names = this.#waiting.map(({ account, user, atMs, key }): CallerName => {
      const noted = { atMs, isUnder: (sealed: string) => sealed === key }
      return { accountId: account, kind: 'user', hash: user, name: 'ann', noted }
    })
    await this.#names.write(names, 1)
    for (const one of this.#waiting)
      if (one.key === this.#present.get(one.account) && !this.#isErased(one))
        this.#expected.add(toPlace(one))
    this.#waiting = []
  }

  expectedNames(): readonly string[] {
    return [...this.#expected].sort()
  }

  async storedNames(): Promise<readonly string[]> {
    const rows = await this.#database.selectFrom('caller_names').selectAll().execute()
    return rows.map(({ account_id, hash }) => `${account_id} ${hash}`).sort()
  }

  mustBeErased({ accountId, user, startedAt }: CallRecord): boolean {
    return user !== undefined && this.#isErased({ account: accountId, user, atMs: startedAt })
  }

  #isErased(one: UserAtTime): boolean {
    const erasedAt = this.#erased.get(toPlace(one))
    return erasedAt !== undefined && one.atMs <= erasedAt + ERASURE_TOLERANCE_MS
  }
}

function toPlace({ account, user }: UserAtTime): string {
  return `${account} ${user}`
}
