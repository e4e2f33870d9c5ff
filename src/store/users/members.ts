import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import type { AccountId, UserId } from '../../core/ids.ts'
import { recordChange } from '../changes/audit-log.ts'
import { changeAccount } from '../changes/change-account.ts'
import { isStopped } from '../resources/stops.ts'
import type { Schema } from '../schema.ts'
import type { MemberTable, Role, UserTable } from './user-schema.ts'

export interface Member {
  readonly userId: UserId
  readonly accountId: AccountId
  readonly role: Role
  readonly email: string
  readonly name: string
  readonly createdAt: number
}

export interface ListPage {
  readonly limit: number
  readonly before?: { readonly at: number; readonly id: string }
}

/** More members than a message lists. */
const MOST_OF_A_NAME = 5
/** A statement has a bounded number of parameters. */
const TEXTS_PER_STATEMENT = 500

/** No name has a NUL, and Postgres refuses a statement with one. */
function hasNul(text: string): boolean {
  return text.includes('\0')
}

export class MemberTableStore {
  readonly #database: Kysely<Schema>
  readonly #sync: () => Promise<void>

  constructor(database: Kysely<Schema>, sync: () => Promise<void>) {
    this.#database = database
    this.#sync = sync
  }

  /** Each user belongs to at most one account. */
  async findByUser(userId: UserId): Promise<Member | undefined> {
    return await findMember(this.#database, userId)
  }

  async find(accountId: AccountId, userId: UserId): Promise<Member | undefined> {
    if (hasNul(userId)) return undefined
    const member = await this.findByUser(userId)
    return member?.accountId === accountId ? member : undefined
  }

  /** Members with this name or e-mail address, in any case. */
  async findNamed(accountId: AccountId, text: string): Promise<Member[]> {
    if (hasNul(text)) return []
    const rows = await selectMembers(this.#database)
      .where('members.account_id', '=', accountId)
      .where(isNamed([text]))
      .limit(MOST_OF_A_NAME)
      .execute()
    return rows.map(toMember)
  }

  /** Members with one of these ids, names or e-mail addresses, names in any case. */
  async findGiven(accountId: AccountId, texts: readonly string[]): Promise<Member[]> {
    const found = new Map<UserId, Member>()
    const asked = texts.filter((text) => !hasNul(text))
    for (let at = 0; at < asked.length; at += TEXTS_PER_STATEMENT) {
      const some = asked.slice(at, at + TEXTS_PER_STATEMENT)
      const rows = await selectMembers(this.#database)
        .where('members.account_id', '=', accountId)
        .where((where) =>
          where.or([where.eb('members.user_id', 'in', some as UserId[]), isNamed(some)(where)]),
        )
        .execute()
      for (const row of rows) found.set(row.user_id, toMember(row))
    }
    return [...found.values()]
  }

  async list(accountId: AccountId, page: ListPage): Promise<Member[]> {
    let query = selectMembers(this.#database).where('members.account_id', '=', accountId)
    const { before } = page
    if (before !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('members.created_at', 'members.user_id'),
          '<',
          tuple(before.at, sql<UserId>`${before.id}`),
        ),
      )
    }
    const rows = await query
      .orderBy('members.created_at', 'desc')
      .orderBy('members.user_id', 'desc')
      .limit(page.limit)
      .execute()
    return rows.map(toMember)
  }

  async listAll(): Promise<Member[]> {
    return (
      await selectMembers(this.#database).orderBy('members.created_at', 'desc').execute()
    ).map(toMember)
  }

  hasAny(accountId: AccountId): Promise<boolean> {
    return hasMembers(this.#database, accountId)
  }

  /**
   * Removes the user with sessions, logins and open invitations. Durable when this resolves, even
   * across a power failure.
   * @returns false when the member does not exist or is the owner
   */
  async remove(accountId: AccountId, userId: UserId): Promise<boolean> {
    const removed = await changeAccount(this.#database, accountId, async (transaction) => {
      const member = await findMember(transaction, userId)
      const result = await transaction
        .deleteFrom('members')
        .where('account_id', '=', accountId)
        .where('user_id', '=', userId)
        .where('role', '<>', 'owner')
        .executeTakeFirst()
      if (member === undefined || Number(result.numDeletedRows) !== 1) return false
      await transaction.deleteFrom('users').where('id', '=', userId).execute()
      // Invitations by the member are deleted too; otherwise the removed member could return
      // through such an invitation.
      await transaction
        .deleteFrom('invitations')
        .where('account_id', '=', accountId)
        .where('invited_by', '=', userId)
        .where('accepted_at', 'is', null)
        .execute()
      const before = toPublicMember(member)
      await recordChange(transaction, {
        accountId,
        action: 'member.delete',
        resourceId: userId,
        before,
        after: null,
      })
      return true
    })
    await this.#sync()
    return removed
  }

  /**
   * Swaps the roles of the owner and a member.
   * @returns false when `from` is not the owner or `to` not a member
   */
  async transferOwnership(
    accountId: AccountId,
    { from, to }: { readonly from: UserId; readonly to: UserId },
  ): Promise<boolean> {
    if (from === to) return false
    class NotPossible extends Error {}
    const change = (
      database: Kysely<Schema>,
      userId: UserId,
      roles: { readonly was: Role; readonly is: Role },
    ) =>
      database
        .updateTable('members')
        .set({ role: roles.is })
        .where('account_id', '=', accountId)
        .where('user_id', '=', userId)
        .where('role', '=', roles.was)
        .executeTakeFirst()
    try {
      await changeAccount(this.#database, accountId, async (transaction) => {
        // A stopped owner could not lift the stop, and nobody else could remove the owner.
        if (await isStopped(transaction, accountId, to)) throw new NotPossible()
        const left = await change(transaction, from, { was: 'owner', is: 'member' })
        const taken = await change(transaction, to, { was: 'member', is: 'owner' })
        if (Number(left.numUpdatedRows) !== 1 || Number(taken.numUpdatedRows) !== 1)
          throw new NotPossible()
        const owner = await findMember(transaction, to)
        if (owner === undefined) throw new NotPossible()
        const [before, after] = [
          toPublicMember({ ...owner, role: 'member' }),
          toPublicMember(owner),
        ]
        await recordChange(transaction, {
          accountId,
          action: 'member.update',
          resourceId: to,
          before,
          after,
        })
      })
      return true
    } catch (error) {
      if (error instanceof NotPossible) return false
      throw error
    }
  }
}

export function toPublicMember({ userId, email, name, role, createdAt }: Member) {
  return { id: userId, email, name, role, createdAt: new Date(createdAt).toISOString() }
}

export async function hasMembers(database: Kysely<Schema>, accountId: AccountId): Promise<boolean> {
  const row = await database
    .selectFrom('members')
    .select('user_id')
    .where('account_id', '=', accountId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function findMember(
  database: Kysely<Schema>,
  userId: UserId,
): Promise<Member | undefined> {
  const row = await selectMembers(database).where('members.user_id', '=', userId).executeTakeFirst()
  return row === undefined ? undefined : toMember(row)
}

function selectMembers(database: Kysely<Schema>) {
  return database
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select([
      'members.user_id',
      'members.account_id',
      'members.role',
      'members.created_at',
      'users.email',
      'users.name',
    ])
}

type MembersWithUsers = Pick<Schema, 'members' | 'users'>

/** The texts are compared as they are too, because SQLite changes the case of ASCII letters only. */
function isNamed(texts: readonly string[]) {
  const lower = texts.map((text) => text.toLowerCase())
  return ({ eb, fn, or }: ExpressionBuilder<MembersWithUsers, keyof MembersWithUsers>) =>
    or([
      eb('users.name', 'in', texts),
      eb(fn('lower', ['users.name']), 'in', lower),
      eb(fn('lower', ['users.email']), 'in', lower),
    ])
}

type MemberRow = Selectable<MemberTable> & Pick<Selectable<UserTable>, 'email' | 'name'>

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    accountId: row.account_id,
    role: row.role,
    email: row.email,
    name: row.name,
    createdAt: row.created_at,
  }
}
