import { createRoute } from '@hono/zod-openapi'
import { verifiedCostsBody, verifyCostsBody } from '../../contract/costs.ts'
import { noQuery } from '../../contract/lists.ts'
import type { CallRecord } from '../../core/call.ts'
import { type Cost, USES_IN_SOURCE } from '../../core/cost.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, encodeCursor } from '../paging.ts'
import { toCostBody } from './log-body.ts'

const CALLS_PER_REQUEST = 1_000

const verifyRoute = createRoute({
  method: 'post',
  path: '/v1/costs/verify',
  operationId: 'verifyCosts',
  summary: 'Compute costs again and compare',
  description:
    'Checks some calls at a time; go on with `nextCursor`. A call priced from another ' +
    'version of the price table is counted, not compared. The cost of an owned model is ' +
    'computed from the prices declared at the time.',
  tags: ['Costs'],
  request: {
    query: noQuery,
    body: { content: { 'application/json': { schema: verifyCostsBody } }, required: true },
  },
  responses: { 200: jsonContent(verifiedCostsBody, 'The differences.'), ...errorAnswers(400, 413) },
})

export function bindCosts(app: ControlPlaneApp, { calls, prices }: ControlPlaneDependencies): void {
  app.openapi(verifyRoute, async (c) => {
    const { from, to, fix, cursor } = c.req.valid('json')
    const { accountId } = callerOf(c.env)
    const after = decodeCursor(cursor)
    const page = await calls.findPage(
      accountId,
      {
        ...(from === undefined ? {} : { fromMs: from }),
        ...(to === undefined ? {} : { toMs: to }),
      },
      {
        limit: CALLS_PER_REQUEST,
        ...(after === undefined ? {} : { before: { startedAt: after.at, id: after.id } }),
      },
    )
    const { differing, incomparable } = compareCosts(page.calls, prices)
    const fixed = fix ? await calls.correctCosts(accountId, differing.map(toCorrected)) : 0
    const last = page.calls.length < CALLS_PER_REQUEST ? undefined : page.calls.at(-1)
    const body = {
      source: prices.source(),
      checked: page.calls.length,
      fixed,
      incomparable: [...incomparable].map(([source, count]) => ({ source, calls: count })),
      differences: differing.map(({ call, computed }) => ({
        id: call.id,
        target: call.target,
        stored: toCostBody(call.cost),
        computed: toCostBody(computed),
      })),
      nextCursor: last === undefined ? null : encodeCursor({ at: last.startedAt, id: last.id }),
    }
    return c.json(body, 200)
  })
}

interface Difference {
  readonly call: CallRecord
  readonly computed: Cost
}

function compareCosts(calls: readonly CallRecord[], prices: ControlPlaneDependencies['prices']) {
  const differing: Difference[] = []
  const incomparable = new Map<string | null, number>()
  for (const call of calls) {
    const computed = prices.recompute(call)
    if (computed === undefined) {
      const source = call.cost?.source?.replaceAll(USES_IN_SOURCE, '') ?? null
      incomparable.set(source, (incomparable.get(source) ?? 0) + 1)
    } else if (!isSame(call.cost, computed)) differing.push({ call, computed })
  }
  return { differing, incomparable }
}

function isSame(stored: Cost | undefined, computed: Cost): boolean {
  const { nanoUsd = null, status = 'unknown', source = null } = stored ?? {}
  return nanoUsd === computed.nanoUsd && status === computed.status && source === computed.source
}

function toCorrected({ call, computed }: Difference): CallRecord {
  return { ...call, cost: computed }
}
