/**
 * `/v1/members`: who belongs to the account. The owner alone removes others and hands the account
 * on.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../../contract/lists.ts'
import { type MemberBody, memberBody, memberList, updateMemberBody } from '../../contract/users.ts'
import { GatewayError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { type Member, toPublicMember } from '../../store/members.ts'
import { assertOwner, assertUser } from '../authenticate-caller.ts'
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
  path: '/v1/members',
  operationId: 'listMembers',
  summary: 'List members, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(memberList, 'A page of members.'), ...errorAnswers(400) },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/members/{id}',
  operationId: 'updateMember',
  summary: 'Hand the account on to a member',
  description: 'The owner alone can, and becomes a member by it.',
  tags,
  security: [{ session: [] }],
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateMemberBody, 'What changes.'), required: true },
  },
  responses: {
    200: jsonContent(memberBody, 'The changed member.'),
    ...errorAnswers(400, 403, 404, 413),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/members/{id}',
  operationId: 'deleteMember',
  summary: 'Remove a member, or leave',
  description:
    'The owner alone removes others; whoever is not the owner can remove themselves. The user ' +
    'is gone, with every session and the invitations they left open. API keys belong to the ' +
    'account and stay: revoke those that the user knew.',
  tags,
  security: [{ session: [] }],
  request: { params, query: noQuery },
  responses: { 204: { description: 'The member is removed.' }, ...errorAnswers(403, 404, 409) },
})

export function bindMembers(
  app: ControlPlaneApp,
  { members }: Pick<ControlPlaneDependencies, 'members'>,
): void {
  app.openapi(listRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const before = decodeCursor(cursor)
    const rows = await members.list(callerOf(c.env).accountId, {
      limit: limit + 1,
      ...(before === undefined ? {} : { before }),
    })
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toMemberBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(updateRoute, async (c) => {
    const { accountId, actor } = callerOf(c.env)
    const member = await findMember(accountId, c.req.valid('param').id)
    const { userId } = assertOwner(actor)
    if (member.role !== 'owner') {
      const isDone = await members.transferOwnership(accountId, { from: userId, to: member.userId })
      if (!isDone)
        throw new GatewayError('conflict', 'The members have changed meanwhile. Look again.')
    }
    return c.json(toMemberBody({ ...member, role: 'owner' }), 200)
  })

  app.openapi(deleteRoute, async (c) => {
    const { accountId, actor } = callerOf(c.env)
    const member = await findMember(accountId, c.req.valid('param').id)
    if (assertUser(actor).userId !== member.userId) assertOwner(actor)
    if (member.role === 'owner')
      throw new GatewayError('conflict', 'The owner cannot be removed: hand the account on first.')
    if (!(await members.remove(accountId, member.userId))) throw memberNotFound()
    return c.body(null, 204)
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

function toPosition(member: Member): Position {
  return { at: member.createdAt, id: member.userId }
}

function toMemberBody(member: Member): MemberBody {
  return toPublicMember(member)
}
