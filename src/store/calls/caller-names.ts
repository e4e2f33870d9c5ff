/** The names behind hashes in the ledger, in the database. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { MOST_STORED_NAMES, NAMED_KINDS, type NamedKind } from '../../core/attribution.ts'
import type { AccountId, UserId } from '../../core/ids.ts'
import { LoopTurns } from '../../core/loop-turns.ts'
import { containsText } from '../database/sql-differences.ts'
import type { Schema } from '../schema.ts'
import { Erasures, lockEndUsersShared } from '../usage/erased-users.ts'

export interface CallerName {
  readonly accountId: AccountId
  readonly kind: NamedKind
  /** As in the ledger's columns: a member's id, `end:` and a hash, or a tag's hash. */
  readonly hash: string
  /** Undefined: the name of the member whose id the hash is. */
  readonly name: string | undefined
  /** Only for an end user. The name is not written if the user or the hash key is erased since. */
  readonly noted?: NotedAt | undefined
}

export interface NotedAt {
  readonly atMs: number
  /** Whether this encrypted key made the hash. */
  readonly isUnder: (sealedHashKey: string) => boolean
}

const ROWS_PER_STATEMENT = 200
const HASHES_PER_QUERY = 500
/** Ten words take SQLite some milliseconds. */
const NAMES_PER_SEARCH = 500

export class CallerNameStore {
  readonly #database: Kysely<Schema>
  readonly #mostNames: number

  constructor(database: Kysely<Schema>, mostNames = MOST_STORED_NAMES) {
    this.#database = database
    this.#mostNames = mostNames
  }

  /** @returns the known names by hash; a hash without a stored name is missing */
  async find(
    accountId: AccountId,
    kind: NamedKind,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>()
    for (let at = 0; at < hashes.length; at += HASHES_PER_QUERY) {
      const rows = await this.#database
        .selectFrom('caller_names')
        .select(['hash', 'name'])
        .where('account_id', '=', accountId)
        .where('kind', '=', kind)
        .where('hash', 'in', hashes.slice(at, at + HASHES_PER_QUERY))
        .execute()
      for (const { hash, name } of rows) names.set(hash, name)
    }
    return names
  }

  /** The hashes whose names contain every word, in upper or lower case. */
  async search(
    accountId: AccountId,
    kind: NamedKind,
    words: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    const turns = new LoopTurns()
    for (let after = ''; ; ) {
      const some = this.#database
        .selectFrom('caller_names')
        .where('account_id', '=', accountId)
        .where('kind', '=', kind)
        .where('hash', '>', after)
      const end = await some
        .select('hash')
        .orderBy('hash')
        .offset(NAMES_PER_SEARCH - 1)
        .limit(1)
        .executeTakeFirst()
      let query = some.select('hash')
      if (end !== undefined) query = query.where('hash', '<=', end.hash)
      for (const word of new Set(words))
        query = query.where((eb) => eb.or(toCases(word).map((text) => containsText('name', text))))
      for (const { hash } of await query.execute()) found.add(hash)
      if (end === undefined) return found
      after = end.hash
      await turns.next()
    }
  }

  /**
   * Writes new names, and the day on which known names were seen. New names of an account and kind
   * beyond the maximum are dropped.
   */
  async write(seen: readonly CallerName[], seenAt: number): Promise<void> {
    const names = await this.#withMembers(seen)
    for (const [accountId, ofAccount] of Map.groupBy(names, (name) => name.accountId))
      for (const kind of NAMED_KINDS) {
        const ofKind = ofAccount.filter((name) => name.kind === kind)
        for (let at = 0; at < ofKind.length; at += ROWS_PER_STATEMENT)
          await this.#database.transaction().execute((transaction) =>
            this.#writeSome(transaction, ofKind.slice(at, at + ROWS_PER_STATEMENT), {
              accountId,
              kind,
              seenAt,
            }),
          )
      }
  }

  async #writeSome(
    transaction: Transaction<Schema>,
    given: readonly NamedCaller[],
    {
      accountId,
      kind,
      seenAt,
    }: { readonly accountId: AccountId; readonly kind: NamedKind; readonly seenAt: number },
  ): Promise<void> {
    const names = await this.#withoutErased(transaction, accountId, given)
    if (names.length === 0) return
    const known = await transaction
      .selectFrom('caller_names')
      .select('hash')
      .where('account_id', '=', accountId)
      .where('kind', '=', kind)
      .where(
        'hash',
        'in',
        names.map(({ hash }) => hash),
      )
      .execute()
    const knownHashes = new Set(known.map(({ hash }) => hash))
    const unknown = names.filter(({ hash }) => !knownHashes.has(hash))
    const room = unknown.length === 0 ? 0 : await this.#room(transaction, accountId, kind)
    const rows = [
      ...names.filter(({ hash }) => knownHashes.has(hash)),
      ...unknown.slice(0, Math.max(0, room)),
    ]
      // Every node writes rows in this order, so nodes cannot deadlock.
      .sort((one, other) => (one.hash < other.hash ? -1 : 1))
      .map(({ hash, name }) => ({ account_id: accountId, kind, hash, name, last_seen_at: seenAt }))
    if (rows.length === 0) return
    await transaction
      .insertInto('caller_names')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'kind', 'hash']).doUpdateSet((excluded) => ({
          name: excluded.ref('excluded.name'),
          last_seen_at: excluded.ref('excluded.last_seen_at'),
        })),
      )
      .execute()
  }

  async #withoutErased(
    transaction: Transaction<Schema>,
    accountId: AccountId,
    names: readonly NamedCaller[],
  ): Promise<readonly NamedCaller[]> {
    const ofEndUsers = names.filter(({ noted }) => noted !== undefined)
    if (ofEndUsers.length === 0) return names
    await lockEndUsersShared(transaction, [accountId])
    const row = await transaction
      .selectFrom('attribution')
      .select('sealed_hash_key')
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (row === undefined) return names.filter(({ noted }) => noted === undefined)
    const erasures = await Erasures.find(
      transaction,
      ofEndUsers.map(({ hash }) => hash),
    )
    return names.filter(
      ({ hash, noted }) =>
        noted === undefined ||
        (noted.isUnder(row.sealed_hash_key) && !erasures.includes(accountId, hash, noted.atMs)),
    )
  }

  async #room(
    transaction: Transaction<Schema>,
    accountId: AccountId,
    kind: NamedKind,
  ): Promise<number> {
    const { count } = await transaction
      .selectFrom('caller_names')
      .select(sql<number>`count(*)`.as('count'))
      .where('account_id', '=', accountId)
      .where('kind', '=', kind)
      .executeTakeFirstOrThrow()
    return this.#mostNames - Number(count)
  }

  /** Leaves out members who have left the account meanwhile. */
  async #withMembers(seen: readonly CallerName[]): Promise<readonly NamedCaller[]> {
    const ids = seen.flatMap(({ hash, name }) => (name === undefined ? [hash as UserId] : []))
    const found = new Map<string, string>()
    for (let at = 0; at < ids.length; at += HASHES_PER_QUERY) {
      const rows = await this.#database
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'members.user_id')
        .select(['members.account_id', 'users.id', 'users.name', 'users.email'])
        .where('users.id', 'in', ids.slice(at, at + HASHES_PER_QUERY))
        .execute()
      for (const row of rows) found.set(`${row.account_id} ${row.id}`, row.name || row.email)
    }
    return seen.flatMap((caller) => {
      const name = caller.name ?? found.get(`${caller.accountId} ${caller.hash}`)
      return name === undefined ? [] : [{ ...caller, name }]
    })
  }
}

type NamedCaller = CallerName & { readonly name: string }

/** SQLite lowers ASCII letters only, so the word is searched for in each case of other letters. */
function toCases(word: string): readonly string[] {
  const cases = [word, word.toLowerCase(), word.toUpperCase()]
  const texts = cases.map((text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
  return [...new Set(texts)]
}
