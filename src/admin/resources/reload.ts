/**
 * `/v1/reload`: every node reads its configuration file again. Must not know the file's contents.
 */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import { type ReloadBody, reloadBody, reloadRequestBody } from '../../contract/reload.ts'
import type { ReloadedProcess } from '../../core/configuration-report.ts'
import {
  assertOperator,
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'

const reloadRoute = createRoute({
  method: 'post',
  path: '/v1/reload',
  operationId: 'reload',
  summary: 'Reload the configuration file on every node',
  description:
    'For keys of the first account and for its owner. Each node reads its own `gatehouse.yaml`. ' +
    'A node whose file has faults keeps its settings. Waits some seconds for the nodes.',
  tags: ['Operator'],
  request: {
    query: noQuery,
    body: { ...jsonContent(reloadRequestBody, 'May be left out.'), required: false },
  },
  responses: {
    200: jsonContent(reloadBody, 'The result of every node.'),
    ...errorAnswers(400, 403, 413, 503),
  },
})

export function bindReload(
  app: ControlPlaneApp,
  { reload, operatorAccount }: ControlPlaneDependencies,
): void {
  app.openapi(reloadRoute, async (c) => {
    const caller = callerOf(c.env)
    assertOperator(caller, operatorAccount)
    const { id, nodes } = await reload(caller.accountId)
    const shown = nodes.map(toNodeBody)
    const isDone =
      shown.every(({ status }) => status === 'reloaded') &&
      new Set(shown.map(({ digest }) => digest)).size === 1
    const status = isDone ? ('reloaded' as const) : ('incomplete' as const)
    return c.json({ id, status, nodes: shown }, 200)
  })
}

function toNodeBody({ node, host, worker, report }: ReloadedProcess): ReloadBody['nodes'][number] {
  const { digest = null, faults = [], changed = [], needsRestart = [] } = report ?? {}
  return {
    ...{ node, host, worker },
    status: report === undefined ? 'no_answer' : faults.length > 0 ? 'refused' : 'reloaded',
    digest,
    faults: faults.map(({ file = null, line = null, message }) => ({ file, line, message })),
    changed: [...changed],
    needsRestart: [...needsRestart],
  }
}
