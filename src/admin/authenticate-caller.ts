/**
 * Finds the caller of the control plane: an API key in `Authorization`, or else a session's cookie.
 * A key wins: a browser never sends one by itself. A request that changes something and carries a
 * cookie has to come from the gateway's own pages.
 */
import { GatewayError } from '../core/errors.ts'
import type { AccountId, KeyId, SessionId, UserId } from '../core/ids.ts'
import type { Caller } from '../gateway/ports.ts'
import type { Identity } from '../identity/identity.ts'
import { assertSameOrigin } from '../identity/same-origin.ts'
import type { Member } from '../store/users/members.ts'

/**
 * A user too can make calls here and there, such as a gate's test: they are counted under the
 * user's id.
 */
export interface ControlPlaneCaller extends Caller {
  readonly actor: Actor
}

/** The caller who acted: some acts are for some kinds only, and the audit log names each. */
export type Actor =
  | { readonly type: 'key'; readonly keyId: KeyId }
  | {
      readonly type: 'user'
      readonly userId: UserId
      readonly sessionId: SessionId
      readonly member: Member
      /** Milliseconds since the Unix epoch. */
      readonly sessionExpiresAt: number
    }

export interface CallerSources {
  /** @throws GatewayError `unauthorized` (rejects) */
  readonly authenticate: (headers: Headers) => Caller | Promise<Caller>
  /** The caller that a signed-in user is. */
  readonly callerOfUser: (accountId: AccountId, userId: UserId) => Caller
  readonly identity: Pick<Identity, 'hasSessionCookie' | 'findSession' | 'publicOrigin'>
}

/** @throws GatewayError `unauthorized`, `forbidden` */
export async function authenticateCaller(
  { authenticate, callerOfUser, identity }: CallerSources,
  request: Request,
): Promise<ControlPlaneCaller> {
  const { headers } = request
  if (headers.has('authorization') || !identity.hasSessionCookie(headers)) {
    const caller = await authenticate(headers)
    return { ...caller, actor: { type: 'key', keyId: caller.keyId } }
  }
  const session = await identity.findSession(headers)
  if (session === undefined)
    throw new GatewayError('unauthorized', 'The session has ended or is not valid: sign in again.')
  assertSameOrigin(request, identity.publicOrigin)
  const { id, member, expiresAt } = session
  return {
    ...callerOfUser(member.accountId, member.userId),
    owner: id,
    actor: {
      type: 'user',
      userId: member.userId,
      sessionId: id,
      member,
      sessionExpiresAt: expiresAt,
    },
  }
}

/** The id that is written down as whose doing it was. */
export function actorId(actor: Actor): string {
  return actor.type === 'key' ? actor.keyId : actor.userId
}

/**
 * A key is rotated because its old text may be in other hands. Those must not outlive it: by taking
 * over the new text, or by a key or a member of their own.
 * @throws GatewayError `forbidden`
 */
export function assertMayGiveAccess({ isOldText }: Pick<ControlPlaneCaller, 'isOldText'>): void {
  if (isOldText === true)
    throw new GatewayError(
      'forbidden',
      'This key was rotated, and its old text gives nobody access until it ends: use the new one.',
    )
}

/** @throws GatewayError `forbidden` for an API key: it is nobody's own */
export function assertUser(actor: Actor): Extract<Actor, { type: 'user' }> {
  if (actor.type !== 'user')
    throw new GatewayError('forbidden', 'This takes a signed-in user, not an API key.')
  return actor
}

/** @throws GatewayError `forbidden` for all but the signed-in owner of the account */
export function assertOwner(actor: Actor): Extract<Actor, { type: 'user' }> {
  if (actor.type !== 'user' || actor.member.role !== 'owner')
    throw new GatewayError('forbidden', 'Only the owner of the account may do this, signed in.')
  return actor
}
