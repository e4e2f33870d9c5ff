/**
 * `/v1/invitations`: lets others join the account. A token leaves by the answer to its creation and
 * by no other; no mail is sent.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../../contract/lists.ts'
import {
  createdInvitationBody,
  createInvitationBody,
  type InvitationBody,
  invitationBody,
  invitationList,
} from '../../contract/users.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { createInvitation, toInvitationLink } from '../../identity/create-invitation.ts'
import { type Invitation, toPublicInvitation } from '../../store/invitations.ts'
import { actorId } from '../authenticate-caller.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, type Position, toPage } from '../paging.ts'

const tags = ['Members']
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  method: 'get',
  path: '/v1/invitations',
  operationId: 'listInvitations',
  summary: 'List invitations, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(invitationList, 'A page of invitations.'), ...errorAnswers(400) },
})

const createInvitationRoute = createRoute({
  method: 'post',
  path: '/v1/invitations',
  operationId: 'createInvitation',
  summary: 'Invite somebody to the account',
  description:
    'No mail is sent: hand the link or the token on yourself. It works once, for seven days.',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(createInvitationBody, 'Whom.'), required: true },
  },
  responses: {
    201: jsonContent(createdInvitationBody, 'The invitation, with its token, shown this once.'),
    ...errorAnswers(400, 403, 409, 413),
  },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/invitations/{id}',
  operationId: 'getInvitation',
  summary: 'Show an invitation',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(invitationBody, 'The invitation.'), ...errorAnswers(404) },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/invitations/{id}',
  operationId: 'deleteInvitation',
  summary: 'Withdraw an invitation',
  tags,
  request: { params, query: noQuery },
  responses: { 204: { description: 'It is withdrawn.' }, ...errorAnswers(404) },
})

export function bindInvitations(
  app: ControlPlaneApp,
  { invitations, identity }: Pick<ControlPlaneDependencies, 'invitations' | 'identity'>,
): void {
  app.openapi(listRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const before = decodeCursor(cursor)
    const rows = await invitations.list(callerOf(c.env).accountId, {
      limit: limit + 1,
      ...(before === undefined ? {} : { before }),
    })
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toInvitationBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(createInvitationRoute, async (c) => {
    const { accountId, actor } = callerOf(c.env)
    if (identity.signUpPolicy === 'closed')
      throw new GatewayError(
        'forbidden',
        'Sign-up is closed on this gateway: an invitation could not be used.',
      )
    const { invitation, token } = await createInvitation(
      invitations,
      { accountId, email: c.req.valid('json').email, invitedBy: actorId(actor) },
      systemClock.now(),
    )
    const origin = identity.publicOrigin ?? new URL(c.req.url).origin
    const link = toInvitationLink(origin, token)
    return c.json({ ...toInvitationBody(invitation), token: token.reveal(), link }, 201)
  })

  app.openapi(showRoute, async (c) => {
    const invitation = await invitations.find(callerOf(c.env).accountId, c.req.valid('param').id)
    if (invitation === undefined) throw invitationNotFound()
    return c.json(toInvitationBody(invitation), 200)
  })

  app.openapi(deleteRoute, async (c) => {
    const wasThere = await invitations.delete(callerOf(c.env).accountId, c.req.valid('param').id)
    if (!wasThere) throw invitationNotFound()
    return c.body(null, 204)
  })
}

function invitationNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no invitation with this id.')
}

function toPosition({ createdAt, id }: Invitation): Position {
  return { at: createdAt, id }
}

function toInvitationBody(invitation: Invitation): InvitationBody {
  return toPublicInvitation(invitation, systemClock.now())
}
