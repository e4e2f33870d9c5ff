/** `/v1/logs`: the calls that the ledger has brought into the store. Holds no prompt and no completion. */
import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../contract/lists.ts'
import { type LogBody, logBody, logList } from '../contract/logs.ts'
import type { CallRecord } from '../core/call.ts'
import { GatewayError } from '../core/errors.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from './control-plane-app.ts'
import { decodeCursor, toPage } from './paging.ts'

const tags = ['Logs']

/** What no call can be named after is not asked of the database: Postgres refuses a NUL in text, for one. */
const CALL_ID = /^[\w-]{1,100}$/

const listRoute = createRoute({
  method: 'get',
  path: '/v1/logs',
  operationId: 'listLogs',
  summary: 'List calls, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(logList, 'A page of calls.'), ...errorAnswers(400) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/logs/{id}',
  operationId: 'getLog',
  summary: 'Show a call',
  tags,
  request: { params: z.object({ id: z.string() }), query: noQuery },
  responses: { 200: jsonContent(logBody, 'The call.'), ...errorAnswers(404) },
})

export function bindLogs(app: ControlPlaneApp, { calls }: ControlPlaneDependencies): void {
  app.openapi(listRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = await calls.list(callerOf(c.env).accountId, {
      limit: limit + 1,
      ...(after === undefined ? {} : { before: { startedAt: after.at, id: after.id } }),
    })
    const page = toPage(rows, limit, (call) => ({ at: call.startedAt, id: call.id }))
    return c.json({ data: page.items.map(toLogBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const call = CALL_ID.test(id) ? await calls.find(callerOf(c.env).accountId, id) : undefined
    if (call === undefined) throw new GatewayError('not_found', 'There is no call with this id.')
    return c.json(toLogBody(call), 200)
  })
}

function toLogBody(call: CallRecord): LogBody {
  return {
    id: call.id,
    keyId: call.keyId,
    gateId: call.gateId,
    dialect: call.dialect,
    stream: call.stream,
    target: call.target,
    attempts: call.attempts,
    outcome: call.outcome,
    status: call.status,
    errorKind: call.errorKind,
    startedAt: new Date(call.startedAt).toISOString(),
    firstByteMs: call.firstByteMs,
    durationMs: call.durationMs,
    usage: call.usage,
    credential: call.credential,
  }
}
