import type { Kysely, Transaction } from 'kysely'
import { GatewayError } from '../../core/errors.ts'
import type { SessionId, UserId } from '../../core/ids.ts'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../../core/plan.ts'
import { stoppedError } from '../../core/stop.ts'
import { recordChange } from '../changes/audit-log.ts'
import type { Schema } from '../schema.ts'
import { deleteExpired } from './delete-expired.ts'
import {
  findOpenInvitation,
  type Joining,
  type JoiningRefusal,
  joinAccount,
  Refused,
} from './join-account.ts'
import { findMember, hasMembers } from './members.ts'

export interface NewUser {
  readonly id: UserId
  readonly name: string
  readonly email: string
  readonly passwordHash: string
}

/** better-auth's names for a password login (`createLocalAccountIssuer` of @better-auth/core). */
export const PASSWORD_LOGIN = { providerId: 'credential', issuer: 'local:credential' }

export interface UserSession {
  readonly id: SessionId
  readonly createdAt: string
  readonly expiresAt: string
  readonly address: string | null
  readonly userAgent: string | null
}

export class UserTableStore {
  readonly #database: Kysely<Schema>
  readonly #sync: () => Promise<void>
  readonly #caps: AccountCaps

  constructor(
    database: Kysely<Schema>,
    sync: () => Promise<void>,
    caps: AccountCaps = DEFAULT_ACCOUNT_CAPS,
  ) {
    this.#database = database
    this.#sync = sync
    this.#caps = caps
  }

  /**
   * All or nothing.
   * @param now milliseconds since the Unix epoch
   * @returns why the user was refused, or undefined
   */
  async create(user: NewUser, joining: Joining, now: number): Promise<JoiningRefusal | undefined> {
    return await this.#refusable(async (transaction) => {
      const at = new Date(now).toISOString()
      const times = { created_at: at, updated_at: at }
      const { email, name } = user
      const inserted = await transaction
        .insertInto('users')
        .values({ id: user.id, name, email, email_verified: 0, image: null, ...times })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (Number(inserted.numInsertedOrUpdatedRows ?? 0) !== 1) throw new Refused('email-taken')
      await transaction
        .insertInto('user_logins')
        .values(toPasswordLogin(user.id, user.passwordHash, at))
        .execute()
      await joinAccount(transaction, { id: user.id, email }, { joining, now, caps: this.#caps })
    })
  }

  async refusalToJoin(
    email: string,
    joining: Joining,
    now: number,
  ): Promise<JoiningRefusal | undefined> {
    if (joining.type === 'own') return undefined
    if (joining.type === 'invitation') {
      const open = await findOpenInvitation(this.#database, email, joining.tokenSha256, now)
      return open === undefined ? 'not-invited' : undefined
    }
    return (await hasMembers(this.#database, joining.accountId)) ? 'not-first' : undefined
  }

  async join(
    user: { readonly id: UserId; readonly email: string },
    joining: Joining,
    now: number,
  ): Promise<JoiningRefusal | undefined> {
    return await this.#refusable((transaction) =>
      joinAccount(transaction, user, { joining, now, caps: this.#caps }),
    )
  }

  async findVerifiedEmail(userId: UserId): Promise<string | undefined> {
    const row = await this.#database
      .selectFrom('users')
      .select(['email', 'email_verified'])
      .where('id', '=', userId)
      .executeTakeFirst()
    // SQLite stores 1, Postgres true.
    return row !== undefined && Number(row.email_verified) === 1 ? row.email : undefined
  }

  async resetPassword(email: string, passwordHash: string, now: number): Promise<boolean> {
    const isDone = await this.#database.transaction().execute(async (transaction) => {
      const user = await transaction
        .selectFrom('users')
        .select('id')
        .where('email', '=', email)
        .executeTakeFirst()
      if (user === undefined) return false
      const at = new Date(now).toISOString()
      await transaction
        .insertInto('user_logins')
        .values(toPasswordLogin(user.id, passwordHash, at))
        .onConflict((conflict) =>
          conflict
            .columns(['issuer', 'subject'])
            .doUpdateSet({ password: passwordHash, updated_at: at }),
        )
        .execute()
      await transaction.deleteFrom('user_sessions').where('user_id', '=', user.id).execute()
      await recordPasswordChange(transaction, user.id)
      return true
    })
    await this.#sync()
    return isDone
  }

  /**
   * Records a password that better-auth has changed outside of our transactions. A kill in between
   * leaves the change without an audit row.
   */
  async recordPasswordChange(userId: UserId): Promise<void> {
    await this.#database
      .transaction()
      .execute((transaction) => recordPasswordChange(transaction, userId))
  }

  async listSessions(userId: UserId, now: number): Promise<UserSession[]> {
    const rows = await this.#database
      .selectFrom('user_sessions')
      .select(['id', 'created_at', 'expires_at', 'ip_address', 'user_agent'])
      .where('user_id', '=', userId)
      .where('expires_at', '>', new Date(now).toISOString())
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute()
    return rows.map((row) => ({
      id: row.id,
      createdAt: new Date(row.created_at).toISOString(),
      expiresAt: new Date(row.expires_at).toISOString(),
      address: row.ip_address || null,
      userAgent: row.user_agent || null,
    }))
  }

  async findSessions(ids: readonly SessionId[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database
      .selectFrom('user_sessions')
      .select('id')
      .where('id', 'in', ids)
      .execute()
    return new Set(rows.map(({ id }) => id))
  }

  /**
   * Durable when this resolves, even across a power failure.
   * @returns false when the user has no such session
   */
  async deleteSession(userId: UserId, sessionId: string): Promise<boolean> {
    const result = await this.#database
      .deleteFrom('user_sessions')
      .where('user_id', '=', userId)
      .where('id', '=', sessionId as SessionId)
      .executeTakeFirst()
    await this.#sync()
    return Number(result.numDeletedRows) === 1
  }

  /**
   * Deletes expired sessions and unfinished sign-ins.
   * @param now milliseconds since the Unix epoch
   */
  async deleteExpired(now: number): Promise<void> {
    const expired = { primaryKey: 'id', column: 'expires_at' } as const
    const until = new Date(now).toISOString()
    for (const table of ['user_sessions', 'user_verifications'] as const)
      await deleteExpired(this.#database, { table, ...expired, until })
  }

  async #refusable(
    work: (transaction: Transaction<Schema>) => Promise<void>,
  ): Promise<JoiningRefusal | undefined> {
    try {
      await this.#database.transaction().execute(work)
      return undefined
    } catch (error) {
      if (error instanceof Refused) return error.refusal
      throw error
    }
  }
}

/**
 * The session may have ended meanwhile: by sign-out, by removal of the user, or by a change of the
 * password. The user may have been stopped.
 * @throws GatewayError `unauthorized`, `forbidden`
 */
export async function assertSessionStays(
  transaction: Kysely<Schema>,
  sessionId: SessionId,
): Promise<void> {
  const row = await transaction
    .selectFrom('user_sessions')
    .leftJoin('stops', 'stops.id', 'user_sessions.user_id')
    .select(['user_sessions.id', 'stops.id as stop', 'stops.reason'])
    .where('user_sessions.id', '=', sessionId)
    .executeTakeFirst()
  if (row === undefined)
    throw new GatewayError(
      'unauthorized',
      'The session ended before the change was made. Sign in again.',
    )
  if (row.stop !== null) throw stoppedError({ id: row.stop, reason: row.reason })
}

/**
 * The audit log does not contain passwords, so before and after are equal. A user without an
 * account has no audit log.
 */
async function recordPasswordChange(
  transaction: Transaction<Schema>,
  userId: UserId,
): Promise<void> {
  const member = await findMember(transaction, userId)
  if (member === undefined) return
  const { accountId } = member
  const change = { accountId, resourceId: userId, before: null, after: null }
  await recordChange(transaction, { ...change, action: 'user.set-password' })
}

function toPasswordLogin(userId: UserId, passwordHash: string, at: string) {
  return {
    id: `login_${userId}`,
    user_id: userId,
    issuer: PASSWORD_LOGIN.issuer,
    subject: userId,
    provider_id: PASSWORD_LOGIN.providerId,
    password: passwordHash,
    access_token: null,
    refresh_token: null,
    id_token: null,
    access_token_expires_at: null,
    refresh_token_expires_at: null,
    scope: null,
    created_at: at,
    updated_at: at,
  }
}
