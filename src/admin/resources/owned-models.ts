/**
 * `/v1/owned-models`: registers, reads, changes and deletes the models that an account brings
 * itself.
 */

import { createRoute, z } from '@hono/zod-openapi'
import { noQuery, pageQuery } from '../../contract/lists.ts'
import {
  createOwnedModelBody,
  createOwnedModelNotes,
  type OwnedModelBody,
  ownedModelBody,
  ownedModelList,
  type SavedOwnedModelBody,
  savedOwnedModelBody,
  updateOwnedModelBody,
  updateOwnedModelNotes,
} from '../../contract/owned-models.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Gate } from '../../core/gate.ts'
import {
  isSameQuestion,
  OWNED_PREFIX,
  type OwnedModel,
  toPublicOwnedModel,
} from '../../core/owned-model.ts'
import { Secret } from '../../core/secret.ts'
import { withoutTrailingSlashes } from '../../core/without-trailing-slashes.ts'
import { ownedModelNotFound } from '../../snapshots/owned-model-registry.ts'
import { present } from '../../wire/read-json.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { decodeCursor, isAfter, type Position, toPage } from '../paging.ts'
import { refuse, refuseProblems } from '../refusals.ts'
import { assertFimFits } from './assert-fim-fits.ts'

const tags = ['Owned models']
const params = z.object({ slug: z.string() })

const listRoute = createRoute({
  method: 'get',
  path: '/v1/owned-models',
  operationId: 'listOwnedModels',
  summary: 'List owned models, newest first',
  tags,
  request: { query: pageQuery },
  responses: { 200: jsonContent(ownedModelList, 'A page of owned models.'), ...errorAnswers(400) },
})

const createOwnedModelRoute = createRoute({
  method: 'post',
  path: '/v1/owned-models',
  operationId: 'createOwnedModel',
  summary: 'Register an owned model',
  description:
    'It is asked for one token to see whether it answers, and saved whether or not it does. A ' +
    'result that takes longer than a few seconds has the status `checking`; the registration ' +
    'shows it when it is found.',
  tags,
  request: {
    query: noQuery,
    body: { ...jsonContent(createOwnedModelBody, 'The new model.'), required: true },
  },
  responses: {
    201: jsonContent(savedOwnedModelBody, 'The model, and what the probe found.'),
    ...errorAnswers(400, 409, 413),
  },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/owned-models/{slug}',
  operationId: 'getOwnedModel',
  summary: 'Show an owned model',
  tags,
  request: { params, query: noQuery },
  responses: { 200: jsonContent(ownedModelBody, 'The model.'), ...errorAnswers(404) },
})

const updateRoute = createRoute({
  method: 'patch',
  path: '/v1/owned-models/{slug}',
  operationId: 'updateOwnedModel',
  summary: 'Change an owned model',
  description:
    'A new credential replaces the stored one. It, another upstreamModelId, credentialHeader, ' +
    'fimEndpoint or fimTemplate is tried at once, and kept whether or not the model answers.',
  tags,
  request: {
    params,
    query: noQuery,
    body: { ...jsonContent(updateOwnedModelBody, 'What changes.'), required: true },
  },
  responses: {
    200: jsonContent(savedOwnedModelBody, 'The changed model, and what is known of it.'),
    ...errorAnswers(400, 404, 413),
  },
})

const probeRoute = createRoute({
  method: 'post',
  path: '/v1/owned-models/{slug}/probe',
  operationId: 'probeOwnedModel',
  summary: 'Ask an owned model again whether it answers',
  description:
    'The question is that of its registration. A result that takes longer than a few seconds ' +
    'has the status `checking`; `GET /v1/owned-models/{slug}` shows it when it is found.',
  tags,
  request: { params, query: noQuery },
  responses: {
    200: jsonContent(savedOwnedModelBody, 'The model, and what is known of it.'),
    ...errorAnswers(400, 404),
  },
})

const deleteCredentialRoute = createRoute({
  method: 'delete',
  path: '/v1/owned-models/{slug}/credential',
  operationId: 'deleteOwnedModelCredential',
  summary: 'Take away the credential of an owned model',
  description:
    'From then on no header carries one, for a server that takes none; the model is asked ' +
    'again. Nothing changes if there is none.',
  tags,
  request: { params, query: noQuery },
  responses: {
    200: jsonContent(savedOwnedModelBody, 'The model, and what is known of it.'),
    ...errorAnswers(404),
  },
})

const deleteRoute = createRoute({
  method: 'delete',
  path: '/v1/owned-models/{slug}',
  operationId: 'deleteOwnedModel',
  summary: 'Delete an owned model that no gate uses',
  tags,
  request: { params, query: noQuery },
  responses: {
    204: { description: 'It is gone, and its credential with it.' },
    ...errorAnswers(404, 409),
  },
})

export function bindOwnedModels(
  app: ControlPlaneApp,
  { gates, ownedModels, checkAddress, checkOwnedModel }: ControlPlaneDependencies,
): void {
  app.openapi(listRoute, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const after = decodeCursor(cursor)
    const rows = ownedModels
      .list(callerOf(c.env).accountId)
      .filter((model) => isAfter(toPosition(model), after))
    const page = toPage(rows, limit, toPosition)
    return c.json({ data: page.items.map(toOwnedModelBody), nextCursor: page.nextCursor }, 200)
  })

  app.openapi(
    createOwnedModelRoute,
    async (c) => {
      const { credential, displayName, pricingCachedInput, baseUrl, ...given } = c.req.valid('json')
      assertFimFits(given)
      await checkAddress(baseUrl)
      const model = await ownedModels.create(callerOf(c.env).accountId, {
        ...given,
        baseUrl: withoutTrailingSlashes(baseUrl),
        displayName: displayName ?? given.slug,
        pricingCachedInput: pricingCachedInput ?? given.pricingInput,
        credential: credential === undefined ? undefined : new Secret(credential),
      })
      return c.json(await checked(model), 201)
    },
    refuseProblems(createOwnedModelNotes),
  )

  app.openapi(showRoute, (c) => {
    const model = ownedModels.show(callerOf(c.env).accountId, c.req.valid('param').slug)
    if (model === undefined) throw ownedModelNotFound()
    return c.json(toOwnedModelBody(model), 200)
  })

  app.openapi(
    updateRoute,
    async (c) => {
      const { credential, ...changes } = c.req.valid('json')
      const { accountId } = callerOf(c.env)
      const { slug } = c.req.valid('param')
      const before = ownedModels.show(accountId, slug)
      if (before !== undefined) assertFimFits({ ...before, ...present(changes) })
      const model = await ownedModels.update(accountId, slug, {
        ...changes,
        credential: credential === undefined ? undefined : new Secret(credential),
      })
      const isKnown = before !== undefined && isSameQuestion(before, model)
      return c.json(isKnown ? toOwnedModelBody(model) : await checked(model), 200)
    },
    refuseProblems(updateOwnedModelNotes),
  )

  app.openapi(probeRoute, async (c) => {
    const model = ownedModels.show(callerOf(c.env).accountId, c.req.valid('param').slug)
    if (model === undefined) throw ownedModelNotFound()
    return c.json(await checked(model), 200)
  })

  app.openapi(deleteCredentialRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { slug } = c.req.valid('param')
    const before = ownedModels.show(accountId, slug)
    if (before?.hasCredential === false) return c.json(toOwnedModelBody(before), 200)
    return c.json(
      await checked(await ownedModels.update(accountId, slug, { credential: null })),
      200,
    )
  })

  app.openapi(deleteRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { slug } = c.req.valid('param')
    await gates.whileUnchanged(() =>
      ownedModels.delete(accountId, slug, () => assertUnused(gates.list(accountId), slug)),
    )
    return c.body(null, 204)
  })

  function toOwnedModelBody(model: OwnedModel): OwnedModelBody {
    const probe = ownedModels.probeOf(model)
    const checkedAt = new Date(probe?.checkedAt ?? 0).toISOString()
    return { ...toPublicOwnedModel(model), probe: probe && { ...probe, checkedAt } }
  }

  async function checked(model: OwnedModel): Promise<SavedOwnedModelBody> {
    const known = toOwnedModelBody(await checkOwnedModel(model))
    const { status, detail = '' } = known.probe ?? {}
    const message = `The model was saved, but a test call to it failed. ${detail}`.trim()
    return {
      ...known,
      warnings: status === 'unreachable' ? [{ code: 'probe_failed', message }] : [],
    }
  }
}

/** For gates: a target `owned/<slug>` must name a model of the account. */
export function assertKnownOwnedModels(
  ownedModels: ControlPlaneDependencies['ownedModels'],
  accountId: Gate['accountId'],
  targets: Gate['targets'],
): void {
  const message =
    'names an owned model that does not exist in this account; ' +
    'register it with POST /v1/owned-models'
  const problems = targets.flatMap(({ model }, index) => {
    const [prefix, ...rest] = model.split('/')
    const isKnown =
      prefix !== OWNED_PREFIX || ownedModels.show(accountId, rest.join('/')) !== undefined
    return isKnown ? [] : [{ field: `targets[${index}].model`, message }]
  })
  if (problems.length > 0) throw refuse(problems)
}

function assertUnused(gates: readonly Gate[], slug: string): void {
  const target = `${OWNED_PREFIX}/${slug}`
  const users = gates
    .filter((gate) => gate.targets.some(({ model }) => model === target))
    .map(({ id }) => id)
  if (users.length === 0) return
  const named = users.length === 1 ? `the gate ${users[0]}` : `the gates ${users.sort().join(', ')}`
  throw new GatewayError(
    'conflict',
    `The owned model is still a target of ${named}: take it out there first.`,
    {
      details: { gates: users },
    },
  )
}

function toPosition(model: OwnedModel): Position {
  return { at: model.createdAt, id: model.slug }
}
