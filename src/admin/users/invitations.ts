/**
 * `/v1/invitations`: lets others join the account. A token leaves by the answer to its creation and
 * by no other; no mail is sent.
 */
import { invitationResource } from '../../contract/users.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { createInvitation, toInvitationLink } from '../../identity/create-invitation.ts'
import { type Invitation, toPublicInvitation } from '../../store/users/invitations.ts'
import { actorId, assertMayGiveAccess } from '../authenticate-caller.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
} from '../control-plane-app.ts'
import { bindResource } from '../resource-routes.ts'

export function bindInvitations(
  app: ControlPlaneApp,
  { invitations, identity }: Pick<ControlPlaneDependencies, 'invitations' | 'identity'>,
): void {
  const toBody = (invitation: Invitation) => toPublicInvitation(invitation, systemClock.now())

  bindResource(app, invitationResource, {
    word: 'invitation',
    list: (accountId, part) => invitations.list(accountId, part),
    async create(accountId, { email }, bindings) {
      if (identity.signUpPolicy === 'closed')
        throw new GatewayError(
          'forbidden',
          'Sign-up is closed on this gateway: an invitation could not be used.',
        )
      const caller = callerOf(bindings)
      assertMayGiveAccess(caller)
      const invitedBy = actorId(caller.actor)
      const { invitation, token } = await createInvitation(
        invitations,
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
