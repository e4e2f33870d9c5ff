/** `/v1/usage/sessions`: the sessions of an account, and the calls of each. */
import { createRoute, z } from '@hono/zod-openapi'
import { pageQuery } from '../../contract/lists.ts'
import {
  type SessionBody,
  sessionDetails,
  sessionList,
  sessionsQuery,
} from '../../contract/sessions.ts'
import { GatewayError } from '../../core/errors.ts'
import { toUsd } from '../../core/money.ts'
import type { AgentSum, SessionFilter, SessionRow } from '../../store/usage/sessions.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, encodeCursor, toPage } from '../paging.ts'
import { toCallerFilter } from './caller-filter.ts'
import { CallerNames } from './caller-names.ts'
import { toLogBody } from './log-body.ts'
import { PeopleView } from './people-view.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/usage/sessions',
  operationId: 'listUsageSessions',
  summary: 'List sessions, with their sums',
  description:
    'A session belongs to a caller: the same id from two keys is two sessions. A session is retained as ' +
    'long as its last call, and its sums count all of its calls.',
  tags: ['Analytics'],
  request: { query: sessionsQuery },
  responses: { 200: jsonContent(sessionList, 'A page of sessions.'), ...errorAnswers(400) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/usage/sessions/{id}',
  operationId: 'getUsageSession',
  summary: 'Show a session, its agents and its calls',
  tags: ['Analytics'],
  request: { params: z.object({ id: z.string() }), query: pageQuery },
  responses: { 200: jsonContent(sessionDetails, 'The session.'), ...errorAnswers(400, 404) },
})

const HASH = /^[0-9a-f]{16}$/

export function bindUsageSessions(
  app: ControlPlaneApp,
  dependencies: ControlPlaneDependencies,
): void {
  const { sessions } = dependencies

  app.openapi(listRoute, async (c) => {
    const { limit, cursor, order, ...query } = c.req.valid('query')
    const { accountId } = callerOf(c.env)
    const people = new PeopleView(callerOf(c.env), dependencies)
    const { userId, sessionIds } = await toCallerFilter(dependencies, accountId, {
      ...query,
      people,
    })
    const filter: SessionFilter = {
      ...(query.from !== undefined && { fromMs: query.from }),
      ...(query.to !== undefined && { toMs: query.to }),
      ...(query.key !== undefined && { keyId: query.key }),
      ...(userId !== undefined && { userId }),
      ...(sessionIds !== undefined && { sessionIds }),
    }
    const place = decodeCursor(cursor)
    const after = place && { value: place.at, id: place.id }
    const found = await sessions.list(accountId, filter, { order, limit, after })
    const names = new CallerNames(dependencies, accountId)
    const seen = people.ofSessions(found.sessions)
    await findNames(names, seen)
    const { next } = found
    return c.json(
      {
        data: seen.map((session) => toSessionBody(session, names)),
        nextCursor: next === undefined ? null : encodeCursor({ at: next.value, id: next.id }),
      },
      200,
    )
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { limit, cursor } = c.req.valid('query')
    const { accountId } = callerOf(c.env)
    const found = HASH.test(id) ? await sessions.find(accountId, [id]) : []
    const [session] = found
    const people = new PeopleView(callerOf(c.env), dependencies)
    const [seen] = people.ofSessions(found)
    if (session === undefined || seen === undefined)
      throw new GatewayError('not_found', 'There is no session with this id.')
    const place = decodeCursor(cursor)
    const after = place && { startedAt: place.at, id: place.id }
    const calls = await sessions.readCalls(session, { limit: limit + 1, after })
    const page = toPage(calls, limit, (call) => ({ at: call.startedAt, id: call.id }))
    const agents = await sessions.readAgents(session)
    const names = new CallerNames(dependencies, accountId)
    const seenCalls = people.ofCalls(page.items)
    await findNames(names, [seen])
    await names.findOfCalls(seenCalls)
    return c.json(
      {
        ...toSessionBody(seen, names),
        agents: agents.map(toAgentBody),
        data: seenCalls.map((call) => toLogBody(call, names.ofCall(call))),
        nextCursor: page.nextCursor,
      },
      200,
    )
  })
}

async function findNames(names: CallerNames, sessions: readonly SessionRow[]): Promise<void> {
  await names.find(sessions.map(({ key_id }) => key_id))
  await names.findUsers(sessions.flatMap(({ user_id }) => user_id ?? []))
}

export function toSessionBody(session: SessionRow, names: CallerNames): SessionBody {
  const { user_id } = session
  return {
    id: session.session_id,
    keyId: session.key_id,
    keyName: names.of(session.key_id),
    user: user_id,
    userName: user_id === null ? null : names.userOf(user_id),
    firstAt: toTime(session.first_at),
    lastAt: toTime(session.last_at),
    calls: session.calls,
    errors: session.failed,
    refused: session.refused,
    cancelled: session.cancelled,
    tokens: {
      input: session.input_tokens,
      output: session.output_tokens,
      cachedInput: session.cached_input_tokens,
      cacheWrite: session.cache_write_tokens,
      reasoning: session.reasoning_tokens,
      largestInput: session.largest_input,
    },
    cost: {
      usd: toUsd(session.cost_nano_usd),
      estimatedCalls: session.cost_estimated,
      unknownCalls: session.cost_unknown,
    },
  }
}

function toAgentBody(sum: AgentSum) {
  return {
    agent: sum.agent,
    parentAgent: sum.parentAgent,
    firstAt: toTime(sum.firstAt),
    lastAt: toTime(sum.lastAt),
    calls: sum.calls,
    errors: sum.failed,
    refused: sum.refused,
    tokens: {
      input: sum.inputTokens,
      output: sum.outputTokens,
      cachedInput: sum.cachedInputTokens,
    },
    cost: { usd: toUsd(sum.costNanoUsd) },
  }
}

function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
