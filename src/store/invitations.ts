/** Invitations in the database: by the hash of their token only. The token itself never comes this far. */
import type { Kysely, Selectable } from 'kysely'
import type { AccountId, InvitationId } from '../core/ids.ts'
import { recordChange } from './audit-log.ts'
import type { Schema } from './schema.ts'
import type { InvitationTable } from './user-schema.ts'

export interface Invitation {
  readonly id: InvitationId
  readonly accountId: AccountId
  /** Lower case. */
  readonly email: string
  /** The id of a user or a key, or `command-line`. */
  readonly invitedBy: string
  /** Milliseconds since the Unix epoch, as the two below. */
  readonly createdAt: number
  readonly expiresAt: number
  readonly acceptedAt: number | null
}

export interface InvitationPage {
  readonly limit: number
  /** Only what comes after this place in the order newest first. */
  readonly before?: { readonly at: number; readonly id: string }
}

export class InvitationTableStore {
  readonly #database: Kysely<Schema>

  constructor(database: Kysely<Schema>) {
    this.#database = database
  }

  async insert(invitation: Invitation, tokenSha256: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
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
        accountId: invitation.accountId,
        action: 'invitation.create',
        resourceId: invitation.id,
        before: null,
        after: toPublicInvitation(invitation, invitation.createdAt),
      })
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

  /** Newest first; accepted and expired ones too. */
  async list(accountId: AccountId, page: InvitationPage): Promise<Invitation[]> {
    let query = this.#database.selectFrom('invitations').selectAll().where('account_id', '=', accountId)
    const { before } = page
    if (before !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '<', tuple(before.at, before.id as InvitationId)),
      )
    }
    const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute()
    return rows.map(toInvitation)
  }

  /** @returns false when there is none */
  async delete(accountId: AccountId, id: string): Promise<boolean> {
    return await this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .deleteFrom('invitations')
        .where('account_id', '=', accountId)
        .where('id', '=', id as InvitationId)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return false
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

/** As it may be read at a time (milliseconds since the Unix epoch), field by field: its token is in none of them. */
export function toPublicInvitation(invitation: Invitation, now: number) {
  const { id, email, invitedBy, createdAt, expiresAt, acceptedAt } = invitation
  const status: 'accepted' | 'expired' | 'open' =
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
