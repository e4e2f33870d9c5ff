/**
 * `/v1/logs`: the calls that the ledger has brought into the store. Holds no prompt and no
 * completion.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { logDetailsBody, logList, logQuery } from '../../contract/logs.ts'
import { GatewayError } from '../../core/errors.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, encodeCursor, toPage } from '../paging.ts'
import { CallerNames } from './caller-names.ts'
import { toFilter, toLogBody, toLogDetailsBody } from './log-body.ts'

const tags = ['Logs']

/**
 * The database is not asked for what cannot be a call's id: Postgres refuses a NUL in text, for
 * one.
 */
const CALL_ID = /^[\w-]{1,100}$/

const listRoute = createRoute({
  method: 'get',
  path: '/v1/logs',
  operationId: 'listLogs',
  summary: 'List calls, newest first',
  description:
    'Every filter given must match. A page may hold fewer calls than `limit`, even none, ' +
    'while there is a `nextCursor`: only without one is it the last.',
  tags,
  request: { query: logQuery },
  responses: { 200: jsonContent(logList, 'A page of calls.'), ...errorAnswers(400) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/logs/{id}',
  operationId: 'getLog',
  summary: 'Show a call',
  tags,
  request: { params: z.object({ id: z.string() }), query: noQuery },
  responses: { 200: jsonContent(logDetailsBody, 'The call.'), ...errorAnswers(404) },
})

export function bindLogs(
  app: ControlPlaneApp,
  { calls, prices, keys, members }: ControlPlaneDependencies,
): void {
  app.openapi(listRoute, async (c) => {
    const { limit, cursor, ...query } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const { accountId } = callerOf(c.env)
    const found = await calls.findPage(accountId, toFilter(query), {
      limit: limit + 1,
      ...(after === undefined ? {} : { before: { startedAt: after.at, id: after.id } }),
    })
    const page = toPage(found.calls, limit, (call) => ({ at: call.startedAt, id: call.id }))
    const { goOnBefore } = found
    const goOn = goOnBefore && encodeCursor({ at: goOnBefore.startedAt, id: goOnBefore.id })
    const names = new CallerNames({ keys, members }, accountId)
    await names.find(page.items.map(({ keyId }) => keyId))
    const data = page.items.map((call) => toLogBody(call, names.of(call.keyId)))
    return c.json({ data, nextCursor: page.nextCursor ?? goOn ?? null }, 200)
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { accountId } = callerOf(c.env)
    const call = CALL_ID.test(id) ? await calls.find(accountId, id) : undefined
    if (call === undefined) throw new GatewayError('not_found', 'There is no call with this id.')
    const names = new CallerNames({ keys, members }, accountId)
    await names.find([call.keyId])
    return c.json(toLogDetailsBody(call, prices.partsOf(call), names.of(call.keyId)), 200)
  })
}
