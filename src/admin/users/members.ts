/**
 * `/v1/members`: the account's members. Only the owner removes others and transfers the account.
 */
import { invitationResource, memberResource } from '../../contract/users.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { toPublicStop } from '../../core/stop.ts'
import { createInvitation, toInvitationLink } from '../../identity/create-invitation.ts'
import { type Invitation, toPublicInvitation } from '../../store/users/invitations.ts'
import { type Member, toPublicMember } from '../../store/users/members.ts'
import {
  actorId,
  assertMayGiveAccess,
  assertOwner,
  assertUser,
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
} from '../control-plane-app.ts'
import { bindResource } from '../resource-routes.ts'
import { bindStops } from '../stop-routes.ts'

export function bindMembers(
  app: ControlPlaneApp,
  dependencies: Pick<ControlPlaneDependencies, 'members' | 'stops' | 'endCalls'>,
): void {
  const { members, stops } = dependencies
  const toBody = (member: Member) => {
    const stop = stops.find(member.accountId, member.userId)
    return { ...toPublicMember(member), stop: stop === undefined ? null : toPublicStop(stop) }
  }

  bindResource(app, memberResource, {
    word: 'member',
    list: (accountId, part) => members.list(accountId, part),
    async update(accountId, id, _, { actor }) {
      const member = await findMember(accountId, id)
      const { userId } = assertOwner(actor)
      if (member.role !== 'owner') {
        if (stops.find(accountId, member.userId) !== undefined)
          throw new GatewayError(
            'conflict',
            'A stopped member cannot become the owner: lift the stop first.',
          )
        const isDone = await members.transferOwnership(accountId, {
          from: userId,
          to: member.userId,
        })
        if (!isDone)
          throw new GatewayError(
            'conflict',
            'The members have changed in the meantime. Load them again.',
          )
      }
      return toBody({ ...member, role: 'owner' })
    },
    async delete(accountId, id, { actor }) {
      const member = await findMember(accountId, id)
      if (assertUser(actor).userId !== member.userId) assertOwner(actor)
      if (member.role === 'owner')
        throw new GatewayError(
          'conflict',
          'The owner cannot be removed: transfer the account first.',
        )
      if (!(await members.remove(accountId, member.userId))) throw memberNotFound()
    },
    idOf: ({ userId }) => userId,
    toBody,
  })

  bindStops(app, dependencies, {
    ...{ path: memberResource.path, name: 'Member', one: 'member', group: memberResource.group },
    description:
      'An API key or the owner stops a member. Calls with the access tokens that the member owns, ' +
      "calls of the playground and the member's sessions are refused with 403 and the reason. API " +
      'keys belong to the account and keep working: revoke the keys that the member knows.',
    async assertMay(act, caller, id) {
      const member = await findMember(caller.accountId, id)
      if (caller.actor.type === 'user') assertOwner(caller.actor)
      if (act === 'lift') assertMayGiveAccess(caller)
      else if (member.role === 'owner')
        throw new GatewayError(
          'conflict',
          'The owner cannot be stopped: transfer the account first.',
        )
    },
  })

  async function findMember(accountId: Member['accountId'], id: string): Promise<Member> {
    const member = await members.find(accountId, id as UserId)
    if (member === undefined) throw memberNotFound()
    return member
  }
}

function memberNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no member with this id.')
}

/**
 * `/v1/invitations`: invites others to the account, without sending mail. Only the answer to a
 * creation contains the token.
 */
export function bindInvitations(
  app: ControlPlaneApp,
  dependencies: Pick<ControlPlaneDependencies, 'invitations' | 'members' | 'identity'>,
): void {
  const { invitations, identity } = dependencies
  const toBody = (invitation: Invitation) => toPublicInvitation(invitation, systemClock.now())

  bindResource(app, invitationResource, {
    word: 'invitation',
    list: (accountId, part) => invitations.list(accountId, part),
    async create(accountId, { email }, bindings) {
      if (identity.signUpPolicy === 'closed')
        throw new GatewayError(
          'forbidden',
          'Sign-up is closed on this gateway, so an invitation could not be used.',
        )
      const caller = callerOf(bindings)
      assertMayGiveAccess(caller)
      const invitedBy = actorId(caller.actor)
      const { invitation, token } = await createInvitation(
        dependencies,
        { accountId, email, invitedBy },
        systemClock.now(),
      )
      const origin = identity.publicOrigin ?? new URL(bindings.request.url).origin
      const link = toInvitationLink(origin, token)
      return { ...toBody(invitation), token: token.reveal(), link }
    },
    async show(accountId, id) {
      const invitation = await invitations.find(accountId, id)
      if (invitation === undefined) throw invitationNotFound()
      return invitation
    },
    async delete(accountId, id) {
      if (!(await invitations.delete(accountId, id))) throw invitationNotFound()
    },
    idOf: ({ id }) => id,
    toBody,
  })
}

function invitationNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no invitation with this id.')
}
