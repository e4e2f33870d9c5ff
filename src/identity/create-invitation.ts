/** Creates an invitation and its token. Only the answer to the creation contains the token. */
import { hash, randomBytes } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { type AccountId, createInvitationId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import type { Invitation, InvitationTableStore } from '../store/users/invitations.ts'
import type { MemberTableStore } from '../store/users/members.ts'

const VALID_MS = 7 * 24 * 3_600_000

export interface NewInvitation {
  readonly accountId: AccountId
  readonly email: string
  readonly invitedBy: string
}

export interface InvitationStores {
  readonly invitations: Pick<InvitationTableStore, 'insert'>
  readonly members: Pick<MemberTableStore, 'findGiven'>
}

/**
 * @param now milliseconds since the Unix epoch
 * @throws GatewayError `conflict` when the account has this member, or too many open invitations
 */
export async function createInvitation(
  { invitations, members }: InvitationStores,
  { accountId, email, invitedBy }: NewInvitation,
  now: number,
): Promise<{ readonly invitation: Invitation; readonly token: Secret }> {
  const known = await members.findGiven(accountId, [email])
  const member = known.find((one) => one.email === email.toLowerCase())
  if (member !== undefined)
    throw new GatewayError('conflict', `'${member.email}' is a member already.`)
  const token = `inv-${randomBytes(32).toString('hex')}`
  const invitation: Invitation = {
    id: createInvitationId(),
    accountId,
    email: email.toLowerCase(),
    invitedBy,
    createdAt: now,
    expiresAt: now + VALID_MS,
    acceptedAt: null,
  }
  await invitations.insert(invitation, hash('sha256', token, 'hex'))
  return { invitation, token: new Secret(token) }
}

/**
 * @param origin where browsers reach the gateway; the token is after the `#`, so that no server or
 * proxy logs the token
 */
export function toInvitationLink(origin: string, token: Secret): string {
  return `${origin}/dashboard/sign-up#invitation=${token.reveal()}`
}
