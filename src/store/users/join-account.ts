import type { Kysely, Transaction } from 'kysely'
import { type AccountId, createAccountId, type UserId } from '../../core/ids.ts'
import type { AccountCaps } from '../../core/plan.ts'
import { recordChange } from '../changes/audit-log.ts'
import { lockAccount } from '../changes/change-account.ts'
import { assertWithinCap } from '../database/insert-within-cap.ts'
import type { Schema } from '../schema.ts'
import { findMember, hasMembers, toPublicMember } from './members.ts'
import type { Role } from './user-schema.ts'

export type Joining =
  /** Becomes the owner of an account without members. */
  | { readonly type: 'first'; readonly accountId: AccountId }
  /** With the token of an invitation to the user's address, which is then used up. */
  | { readonly type: 'invitation'; readonly tokenSha256: string }
  | { readonly type: 'own'; readonly accountName: string }

export type JoiningRefusal = 'email-taken' | 'not-first' | 'not-invited'

export class Refused extends Error {
  readonly refusal: JoiningRefusal

  constructor(refusal: JoiningRefusal) {
    super(refusal)
    this.refusal = refusal
  }
}

export async function joinAccount(
  transaction: Transaction<Schema>,
  user: { readonly id: UserId; readonly email: string },
  {
    joining,
    now,
    caps,
  }: { readonly joining: Joining; readonly now: number; readonly caps: AccountCaps },
): Promise<void> {
  const accountId = await findAccount(transaction, user.email, joining, now)
  await lockAccount(transaction, accountId)
  const hasOthers = await hasMembers(transaction, accountId)
  if (joining.type === 'first' && hasOthers) throw new Refused('not-first')
  const role: Role = hasOthers ? 'member' : 'owner'
  const joined = await transaction
    .insertInto('members')
    .values({ user_id: user.id, account_id: accountId, role, created_at: now })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .executeTakeFirst()
  // A user who accepts two invitations at once joins one account, and the other invitation stays
  // open.
  if (Number(joined.numInsertedOrUpdatedRows ?? 0) !== 1) throw new Refused('not-invited')
  await assertWithinCap(transaction, { thing: 'members', accountId, caps })
  const member = await findMember(transaction, user.id)
  if (member === undefined) throw new Error('a member that was just made is not there')
  await recordChange(transaction, {
    accountId,
    action: 'member.create',
    resourceId: user.id,
    before: null,
    after: toPublicMember(member),
    actor: { type: 'user', id: user.id, name: user.email },
  })
}

async function findAccount(
  transaction: Kysely<Schema>,
  email: string,
  joining: Joining,
  now: number,
): Promise<AccountId> {
  if (joining.type === 'first') return joining.accountId
  if (joining.type === 'own') {
    const id = createAccountId()
    await transaction
      .insertInto('accounts')
      .values({ id, name: joining.accountName, created_at: now })
      .execute()
    return id
  }
  const invitation = await findOpenInvitation(transaction, email, joining.tokenSha256, now)
  if (invitation === undefined) throw new Refused('not-invited')
  const used = await transaction
    .updateTable('invitations')
    .set({ accepted_at: now })
    .where('id', '=', invitation.id)
    .where('accepted_at', 'is', null)
    .executeTakeFirst()
  if (Number(used.numUpdatedRows) !== 1) throw new Refused('not-invited')
  return invitation.account_id
}

/**
 * Anyone may invite an address, and only the person decides which account to join, so joining
 * requires the token.
 */
export async function findOpenInvitation(
  database: Kysely<Schema>,
  email: string,
  tokenSha256: string,
  now: number,
) {
  return await database
    .selectFrom('invitations')
    .select(['id', 'account_id'])
    .where('token_sha256', '=', tokenSha256)
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}
