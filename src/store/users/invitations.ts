import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId, InvitationId, KeyId, UserId } from '../../core/ids.ts'
import { type AccountCaps, DEFAULT_ACCOUNT_CAPS } from '../../core/plan.ts'
import type { InvitationStatus } from '../../core/user.ts'
import { recordChange } from '../changes/audit-log.ts'
import { insertWithinCap } from '../database/insert-within-cap.ts'
import type { Schema } from '../schema.ts'
import type { ListPage } from './members.ts'
import type { InvitationTable } from './user-schema.ts'

export interface Invitation {
  readonly id: InvitationId
  readonly accountId: AccountId
  readonly email: string
  /** The id of a user or a key, or `command-line`. */
  readonly invitedBy: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly acceptedAt: number | null
}

export interface InvitationOffer {
  readonly accountName: string
  readonly email: string
  readonly expiresAt: number
  readonly invitedBy: string | null
}

export class InvitationTableStore {
  readonly #database: Kysely<Schema>
  readonly #caps: AccountCaps

  constructor(database: Kysely<Schema>, caps: AccountCaps = DEFAULT_ACCOUNT_CAPS) {
    this.#database = database
    this.#caps = caps
  }

  /**
   * Keeps as many closed invitations as may be open, the newest.
   * @throws GatewayError `conflict` when the account has too many open invitations
   */
  async insert(invitation: Invitation, tokenSha256: string): Promise<void> {
    const { accountId } = invitation
    const capped = { thing: 'invitations', accountId, caps: this.#caps } as const
    await insertWithinCap(this.#database, capped, async (transaction) => {
      await forgetClosed(transaction, accountId, {
        now: invitation.createdAt,
        kept: this.#caps.invitations,
      })
      await transaction
        .insertInto('invitations')
        .values({
          id: invitation.id,
          account_id: invitation.accountId,
          email: invitation.email,
          token_sha256: tokenSha256,
          invited_by: invitation.invitedBy,
          created_at: invitation.createdAt,
          expires_at: invitation.expiresAt,
          accepted_at: invitation.acceptedAt,
        })
        .execute()
      await recordChange(transaction, {
        accountId,
        action: 'invitation.create',
        resourceId: invitation.id,
        before: null,
        after: toPublicInvitation(invitation, invitation.createdAt),
      })
      return true
    })
  }

  async find(accountId: AccountId, id: string): Promise<Invitation | undefined> {
    const row = await this.#database
      .selectFrom('invitations')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '=', id as InvitationId)
      .executeTakeFirst()
    return row === undefined ? undefined : toInvitation(row)
  }

  async findOffer(tokenSha256: string, now: number): Promise<InvitationOffer | undefined> {
    const row = await this.#database
      .selectFrom('invitations')
      .innerJoin('accounts', 'accounts.id', 'invitations.account_id')
      .leftJoin('users', (join) => join.on('users.id', '=', sql<UserId>`invitations.invited_by`))
      .leftJoin('api_keys', (join) =>
        join.on('api_keys.id', '=', sql<KeyId>`invitations.invited_by`),
      )
      .select([
        'accounts.name as account_name',
        'invitations.email',
        'invitations.expires_at',
        'users.name as user_name',
        'users.email as user_email',
        'api_keys.name as key_name',
      ])
      .where('invitations.token_sha256', '=', tokenSha256)
      .where('invitations.accepted_at', 'is', null)
      .where('invitations.expires_at', '>', now)
      .executeTakeFirst()
    if (row === undefined) return undefined
    return {
      accountName: row.account_name,
      email: row.email,
      expiresAt: row.expires_at,
      invitedBy: toInviter(row),
    }
  }

  async list(accountId: AccountId, page: ListPage): Promise<Invitation[]> {
    let query = this.#database
      .selectFrom('invitations')
      .selectAll()
      .where('account_id', '=', accountId)
    const { before } = page
    if (before !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '<', tuple(before.at, before.id as InvitationId)),
      )
    }
    const rows = await query
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(page.limit)
      .execute()
    return rows.map(toInvitation)
  }

  async delete(accountId: AccountId, id: string): Promise<boolean> {
    return await this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .deleteFrom('invitations')
        .where('account_id', '=', accountId)
        .where('id', '=', id as InvitationId)
        .where('accepted_at', 'is', null)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) {
        await assertNotAccepted(transaction, accountId, id as InvitationId)
        return false
      }
      const before = toPublicInvitation(toInvitation(row), Date.now())
      await recordChange(transaction, {
        accountId,
        action: 'invitation.delete',
        resourceId: id,
        before,
        after: null,
      })
      return true
    })
  }
}

async function assertNotAccepted(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  id: InvitationId,
): Promise<void> {
  const row = await transaction
    .selectFrom('invitations')
    .select('email')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('accepted_at', 'is not', null)
    .executeTakeFirst()
  if (row === undefined) return
  throw new GatewayError(
    'conflict',
    `The invitation of ${row.email} was accepted already: remove the member to end their access.`,
  )
}

async function forgetClosed(
  transaction: Transaction<Schema>,
  accountId: AccountId,
  { now, kept }: { readonly now: number; readonly kept: number },
): Promise<void> {
  const closed = transaction
    .selectFrom('invitations')
    .where('account_id', '=', accountId)
    .where((eb) => eb.or([eb('accepted_at', 'is not', null), eb('expires_at', '<=', now)]))
  const last = await closed
    .select(['created_at', 'id'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return
  await transaction
    .deleteFrom('invitations')
    .where('account_id', '=', accountId)
    .where((eb) => eb.or([eb('accepted_at', 'is not', null), eb('expires_at', '<=', now)]))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '<=', tuple(last.created_at, last.id)),
    )
    .execute()
}

interface InviterRow {
  readonly user_name: string | null
  readonly user_email: string | null
  readonly key_name: string | null
}

function toInviter({ user_name, user_email, key_name }: InviterRow): string | null {
  if (user_email !== null) return `${user_name} (${user_email})`
  return key_name === null ? null : `the API key "${key_name}"`
}

export function toPublicInvitation(invitation: Invitation, now: number) {
  const { id, email, invitedBy, createdAt, expiresAt, acceptedAt } = invitation
  const status: InvitationStatus =
    acceptedAt !== null ? 'accepted' : expiresAt <= now ? 'expired' : 'open'
  return {
    id,
    email,
    invitedBy,
    status,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }
}

function toInvitation(row: Selectable<InvitationTable>): Invitation {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    acceptedAt: row.accepted_at,
  }
}
