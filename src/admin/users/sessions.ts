import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import {
  type CurrentSessionBody,
  currentSessionBody,
  type SessionBody,
  sessionList,
} from '../../contract/users.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Account } from '../../store/users/accounts.ts'
import type { UserSession } from '../../store/users/users.ts'
import {
  assertUser,
  type ControlPlaneApp,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { toAccountNameBody } from './account.ts'

const tags = ['Sign-in']

const showRoute = createRoute({
  method: 'get',
  path: '/v1/session',
  operationId: 'getSession',
  summary: 'Show the current user or key',
  tags,
  request: { query: noQuery },
  responses: {
    200: jsonContent(currentSessionBody, 'The user or the key, and the account.'),
    ...errorAnswers(),
  },
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/sessions',
  operationId: 'listSessions',
  summary: 'List your sessions, newest first',
  tags,
  security: [{ session: [] }],
  request: { query: noQuery },
  responses: {
    200: jsonContent(sessionList, 'All entries; there is one page.'),
    ...errorAnswers(403),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/sessions/{id}',
  operationId: 'deleteSession',
  summary: 'End one of your sessions',
  description: 'After this answer, no request with the cookie of the session is accepted.',
  tags,
  security: [{ session: [] }],
  request: { params: z.object({ id: z.string() }), query: noQuery },
  responses: { 204: { description: 'It has ended.' }, ...errorAnswers(403, 404) },
})

export function bindSessions(
  app: ControlPlaneApp,
  {
    accounts,
    users,
    keys,
    gates,
  }: Pick<ControlPlaneDependencies, 'accounts' | 'users' | 'keys' | 'gates'>,
): void {
  app.openapi(showRoute, async (c) => {
    const caller = callerOf(c.env)
    const body = toCurrentSessionBody(caller, await accounts.find(caller.accountId))
    const { accountId, actor, token } = caller
    if (actor.type === 'user') return c.json(body, 200)
    const record = keys.recordOf(accountId, actor.keyId)
    const accessToken =
      token === undefined
        ? null
        : {
            name: record?.name ?? '',
            gates:
              token.gates === null
                ? null
                : token.gates.filter((id) => gates.find(accountId, id) !== undefined),
          }
    const expiresAt = record?.expiresAt ?? null
    return c.json(
      {
        ...body,
        accessToken,
        expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      },
      200,
    )
  })

  app.openapi(listRoute, async (c) => {
    const { userId, sessionId } = assertUser(callerOf(c.env).actor)
    const sessions = await users.listSessions(userId, systemClock.now())
    return c.json(
      { data: sessions.map((each) => toSessionBody(each, sessionId)), nextCursor: null },
      200,
    )
  })

  app.openapi(deleteRoute, async (c) => {
    const { userId } = assertUser(callerOf(c.env).actor)
    const wasThere = await users.deleteSession(userId, c.req.valid('param').id)
    if (!wasThere) throw new GatewayError('not_found', 'There is no session with this id.')
    return c.body(null, 204)
  })
}

export function toCurrentSessionBody(
  { accountId, actor }: Pick<ControlPlaneCaller, 'accountId' | 'actor'>,
  account: Account | undefined,
): CurrentSessionBody {
  const isUser = actor.type === 'user'
  return {
    account: toAccountNameBody(account, accountId),
    user: isUser ? { id: actor.userId, email: actor.member.email, name: actor.member.name } : null,
    role: isUser ? actor.member.role : null,
    keyId: isUser ? null : actor.keyId,
    accessToken: null,
    expiresAt: isUser ? new Date(actor.sessionExpiresAt).toISOString() : null,
  }
}

function toSessionBody(session: UserSession, currentId: string): SessionBody {
  return { ...session, current: session.id === currentId }
}
