/**
 * `/v1/audit-log`: who changed what in the account. Read only, because the store writes the rows.
 */
import { createRoute } from '@hono/zod-openapi'
import { type AuditEntryBody, auditLogList, auditLogQuery } from '../../contract/audit-log.ts'
import { AUDITED_ACTIONS, type AuditRecord } from '../../core/audit.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, toPage } from '../paging.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/audit-log',
  operationId: 'listAuditLog',
  summary: 'List changes, newest first',
  description:
    'Every successful change in the account, through the interface or the command line, with the ' +
    'key or user that made it.',
  tags: ['Audit log'],
  request: { query: auditLogQuery(AUDITED_ACTIONS) },
  responses: { 200: jsonContent(auditLogList, 'A page of changes.'), ...errorAnswers(400) },
})

export function bindAuditLog(
  app: ControlPlaneApp,
  { auditLog }: Pick<ControlPlaneDependencies, 'auditLog'>,
): void {
  app.openapi(listRoute, async (c) => {
    const { limit, cursor, action, ...filter } = c.req.valid('query')
    const known = AUDITED_ACTIONS.find((candidate) => candidate === action)
    const rows = await auditLog.list(
      callerOf(c.env).accountId,
      { ...filter, action: known },
      { limit: limit + 1, before: decodeCursor(cursor) },
    )
    const page = toPage(rows, limit, ({ at, id }) => ({ at, id }))
    return c.json({ data: page.items.map(toAuditEntryBody), nextCursor: page.nextCursor }, 200)
  })
}

function toAuditEntryBody(record: AuditRecord): AuditEntryBody {
  return {
    id: record.id,
    at: new Date(record.at).toISOString(),
    actor: record.actor,
    action: record.action,
    resourceType: record.resourceType,
    resourceId: record.resourceId,
    before: record.before,
    after: record.after,
    requestId: record.requestId,
    clientAddress: record.clientAddress,
  }
}
