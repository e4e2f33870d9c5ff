import { createRoute, z } from '@hono/zod-openapi'
import { type defaultsBody, gateResource } from '../../contract/gates.ts'
import { noQuery } from '../../contract/lists.ts'
import { gateTestBody, testGateBody } from '../../contract/target-health.ts'
import type { Budget } from '../../core/budget.ts'
import type { FuseOwner } from '../../core/fuse.ts'
import { type Gate, type GateDefaults, type GateTarget, toPublicGate } from '../../core/gate.ts'
import { resolveFacts } from '../../core/gate-facts.ts'
import type { AccountId, GateId } from '../../core/ids.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import { OWNED_PREFIX } from '../../core/owned-model.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { bindResource } from '../resource-routes.ts'
import { bindFusedStops } from './fused-stops.ts'
import { NAME_LIKE } from './provider-keys.ts'

export function bindGates(app: ControlPlaneApp, dependencies: ControlPlaneDependencies): void {
  const { gates, ownedModels, budgets, providers, factsOf, stops } = dependencies
  const providerIds = [...providers.map((provider) => provider.id), OWNED_PREFIX]

  const assertUsable = (accountId: AccountId, gateId: string | undefined, targets: Targets) => {
    assertKnownOwnedModels(ownedModels, accountId, targets)
    assertCountingBudgets(budgets.list(accountId), gateId, targets)
  }

  const toBody = (gate: Gate) => ({
    ...toPublicGate(gate),
    resolvedFacts: resolveFacts(gate, factsOf),
  })

  bindResource(app, gateResource, {
    word: 'gate',
    list: (accountId) => gates.list(accountId),
    show: (accountId, id) => gates.get(accountId, id),
    async create(accountId, { id, defaults, ...settings }) {
      assertKnownProviders(settings.targets, providerIds)
      const created = { ...settings, id: id as GateId | undefined, defaults: toDefaults(defaults) }
      const gate = await gates.create(accountId, created, () =>
        assertUsable(accountId, id, settings.targets),
      )
      return toBody(gate)
    },
    async update(accountId, id, { defaults, ...settings }) {
      const { targets } = settings
      if (targets !== undefined) assertKnownProviders(targets, providerIds)
      const changes = {
        ...settings,
        defaults: defaults === undefined ? undefined : toDefaults(defaults),
      }
      const gate = await gates.update(accountId, id, changes, () =>
        assertUsable(accountId, id, targets ?? []),
      )
      if (gate.fuse === null) await stops.followFused(accountId, toFuseOwner(gate))
      return toBody(gate)
    },
    async delete(accountId, id) {
      const owner = toFuseOwner(gates.get(accountId, id))
      await gates.delete(accountId, id)
      await stops.followFused(accountId, owner)
    },
    idOf: ({ id }) => id,
    toBody,
    bindOthers: () =>
      bindFusedStops(app, dependencies, {
        ...{ path: '/v1/gates', name: 'Gate', one: 'gate', group: 'Gates' },
        get: (accountId, id) => toFuseOwner(gates.get(accountId, id)),
      }),
  })
}

function toFuseOwner({ id }: Gate): FuseOwner {
  return { type: 'gate', id }
}

type Targets = readonly Pick<GateTarget, 'model' | 'when'>[]

/** @param gateId undefined: a new id, of which no budget can be */
function assertCountingBudgets(
  budgets: readonly Budget[],
  gateId: string | undefined,
  targets: Targets,
): void {
  const problems = targets.flatMap(({ when }, index) => {
    if (when === undefined) return []
    const field = `targets[${index}].when.budget`
    const found = budgets.find(({ id }) => id === when.budget)
    if (found === undefined) {
      const message = 'names no budget of this account. List the budgets with GET /v1/budgets'
      return [{ field, message }]
    }
    const { scope } = found
    if (scope.type !== 'gate' || scope.gateId === gateId) return []
    const message = `names a budget of the gate ${scope.gateId}, which counts no calls of this gate`
    return [{ field, message }]
  })
  if (problems.length > 0) throw refuse(problems)
}

function assertKnownProviders(
  targets: readonly { readonly model: string }[],
  providerIds: readonly string[],
): void {
  const problems = targets.flatMap((target, index) => {
    const providerId = target.model.slice(0, target.model.indexOf('/'))
    if (providerIds.includes(providerId)) return []
    const named = NAME_LIKE.test(providerId)
      ? `the provider '${providerId}', which`
      : 'a provider that'
    const message = `names ${named} is not known.${didYouMean(providerId, providerIds)} The known providers are ${providerIds.join(', ')}`
    return [{ field: `targets[${index}].model`, message }]
  })
  if (problems.length > 0) throw refuse(problems)
}

function assertKnownOwnedModels(
  ownedModels: ControlPlaneDependencies['ownedModels'],
  accountId: AccountId,
  targets: readonly { readonly model: string }[],
): void {
  const problems = targets.flatMap(({ model }, index) => {
    const [prefix, ...rest] = model.split('/')
    const slug = rest.join('/')
    const isKnown = prefix !== OWNED_PREFIX || ownedModels.show(accountId, slug) !== undefined
    if (isKnown) return []
    const slugs = ownedModels.list(accountId).map((known) => known.slug)
    const message =
      `names an owned model that does not exist in this account.${didYouMean(slug, slugs)} ` +
      'Register it with POST /v1/owned-models; GET /v1/owned-models lists them'
    return [{ field: `targets[${index}].model`, message }]
  })
  if (problems.length > 0) throw refuse(problems)
}

function toDefaults(defaults: z.infer<typeof defaultsBody>): GateDefaults | null {
  const given = Object.entries(defaults).filter(([, value]) => value !== undefined)
  return given.length === 0 ? null : Object.fromEntries(given)
}

const testRoute = createRoute({
  method: 'post',
  path: '/v1/gates/{id}/test',
  operationId: 'testGate',
  summary: 'Test a gate',
  description:
    'Sends every target one small request, in parallel. The request is an ordinary call: it ' +
    'counts for the limits and is in the log. A failed target is a result, not an error.',
  tags: ['Gates'],
  request: {
    params: z.object({ id: z.string() }),
    query: noQuery,
    body: {
      ...jsonContent(testGateBody, 'Limits of the test; the body is optional.'),
      required: false,
    },
  },
  responses: {
    200: jsonContent(gateTestBody, 'The result for each target.'),
    ...errorAnswers(400, 404, 413),
  },
})

export function bindGateTests(
  app: ControlPlaneApp,
  { gates, testGate }: ControlPlaneDependencies,
): void {
  app.openapi(testRoute, async (c) => {
    const caller = callerOf(c.env)
    const gate = gates.get(caller.accountId, c.req.valid('param').id)
    return c.json({ gateId: gate.id, results: [...(await testGate(caller, gate))] }, 200)
  })
}
