/** `/v1/gates`: reads and writes gates. What a gate is for is not known here. */
import { createRoute, z } from '@hono/zod-openapi'
import { gateNotFound } from '../cluster/gate-registry.ts'
import type { defaultsBody } from '../contract/gate-defaults.ts'
import {
  createGateBody,
  createGateNotes,
  type GateBody,
  gateBody,
  gateList,
  updateGateBody,
  updateGateNotes,
} from '../contract/gates.ts'
import { noQuery, pageQuery } from '../contract/lists.ts'
import { type Gate, type GateDefaults, toPublicGate } from '../core/gate.ts'
import type { GateId } from '../core/ids.ts'
import { OWNED_PREFIX } from '../core/owned-model.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from './control-plane-app.ts'
import { assertKnownOwnedModels } from './owned-models.ts'
import { decodeCursor, isAfter, type Position, toPage } from './paging.ts'
import { refuse, refuseProblems } from './refusals.ts'

const tags = ['Gates']
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  method: 'get',
  path: '/v1/gates',
  operationId: 'listGates',
  summary: 'List gates, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(gateList, 'A page of gates.'), ...errorAnswers(400) },
})

const createGateRoute = createRoute({
  method: 'post',
  path: '/v1/gates',
  operationId: 'createGate',
  summary: 'Create a gate',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(createGateBody, 'The new gate.'), required: true },
  },
  responses: { 201: jsonContent(gateBody, 'The gate.'), ...errorAnswers(400, 409, 413) },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/gates/{id}',
  operationId: 'getGate',
  summary: 'Show a gate',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(gateBody, 'The gate.'), ...errorAnswers(404) },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/gates/{id}',
  operationId: 'updateGate',
  summary: 'Change a gate',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateGateBody, 'What changes.'), required: true },
  },
  responses: { 200: jsonContent(gateBody, 'The changed gate.'), ...errorAnswers(400, 404, 413) },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/gates/{id}',
  operationId: 'deleteGate',
  summary: 'Delete a gate',
  tags,
  request: { params, query: noQuery },
  responses: { 204: { description: 'It is gone.' }, ...errorAnswers(404) },
})

export function bindGates(
  app: ControlPlaneApp,
  { gates, ownedModels, providers }: ControlPlaneDependencies,
): void {
  const providerIds = [...providers.map((provider) => provider.id), OWNED_PREFIX]

  app.openapi(listRoute, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = gates
      .list(callerOf(c.env).accountId)
      .filter((gate) => isAfter(toPosition(gate), after))
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toGateBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(
    createGateRoute,
    async (c) => {
      const { id, defaults, ...settings } = c.req.valid('json')
      assertKnownProviders(settings.targets, providerIds)
      const { accountId } = callerOf(c.env)
      const created = {
        ...settings,
        id: id as GateId | undefined,
        defaults: toDefaults(defaults),
      }
      const gate = await gates.create(accountId, created, () =>
        assertKnownOwnedModels(ownedModels, accountId, settings.targets),
      )
      return c.json(toGateBody(gate), 201)
    },
    refuseProblems(createGateNotes),
  )

  app.openapi(showRoute, (c) => {
    const gate = gates.find(callerOf(c.env).accountId, c.req.valid('param').id)
    if (gate === undefined) throw gateNotFound()
    return c.json(toGateBody(gate), 200)
  })

  app.openapi(
    updateRoute,
    async (c) => {
      const { defaults, ...settings } = c.req.valid('json')
      const { targets } = settings
      if (targets !== undefined) assertKnownProviders(targets, providerIds)
      const { accountId } = callerOf(c.env)
      const changes = {
        ...settings,
        defaults: defaults === undefined ? undefined : toDefaults(defaults),
      }
      const gate = await gates.update(accountId, c.req.valid('param').id, changes, () =>
        assertKnownOwnedModels(ownedModels, accountId, targets ?? []),
      )
      return c.json(toGateBody(gate), 200)
    },
    refuseProblems(updateGateNotes),
  )

  app.openapi(deleteRoute, async (c) => {
    await gates.delete(callerOf(c.env).accountId, c.req.valid('param').id)
    return c.body(null, 204)
  })
}

function assertKnownProviders(
  targets: readonly { readonly model: string }[],
  providerIds: readonly string[],
): void {
  const message = `names a provider that is not known; known are ${providerIds.join(', ')}`
  const problems = targets.flatMap((target, index) => {
    const providerId = target.model.slice(0, target.model.indexOf('/'))
    return providerIds.includes(providerId) ? [] : [{ field: `targets[${index}].model`, message }]
  })
  if (problems.length > 0) throw refuse(problems)
}

/** The hot path asks whether there are any. */
function toDefaults(defaults: z.infer<typeof defaultsBody>): GateDefaults | null {
  const given = Object.entries(defaults).filter(([, value]) => value !== undefined)
  return given.length === 0 ? null : Object.fromEntries(given)
}

function toPosition(gate: Gate): Position {
  return { at: gate.createdAt, id: gate.id }
}

function toGateBody(gate: Gate): GateBody {
  return toPublicGate(gate)
}
