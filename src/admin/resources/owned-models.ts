import { createRoute, z } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import {
  type OwnedModelBody,
  ownedModelResource,
  type SavedOwnedModelBody,
} from '../../contract/owned-models.ts'
import { formOfDialect, OWNED_MODEL_DIALECTS } from '../../core/dialects.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Gate } from '../../core/gate.ts'
import { withoutTrailingSlashes } from '../../core/http.ts'
import type { AccountId } from '../../core/ids.ts'
import {
  isSameQuestion,
  OWNED_PREFIX,
  type OwnedModel,
  toPublicOwnedModel,
} from '../../core/owned-model.ts'
import { Secret } from '../../core/secret.ts'
import { fimTemplateOf } from '../../providers/owned.ts'
import { ownedModelNotFound } from '../../snapshots/owned-model-registry.ts'
import { present } from '../../wire/read-json.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { bindResource, ifMatched, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'

const tags = [ownedModelResource.group]
const params = z.object({ slug: z.string() })
const known = jsonContent(ownedModelResource.updated, 'The model and its state.')

const probeRoute = createRoute({
  method: 'post',
  path: '/v1/owned-models/{slug}/probe',
  operationId: 'probeOwnedModel',
  summary: 'Probe an owned model again',
  description:
    'The question is that of its registration. A result that takes longer than a few seconds ' +
    'has the status `checking`; `GET /v1/owned-models/{slug}` shows it when it is found.',
  tags,
  request: { params, query: noQuery },
  responses: {
    200: known,
    ...errorAnswers(400, 404),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true },
})

const deleteCredentialRoute = createRoute({
  method: 'delete',
  path: '/v1/owned-models/{slug}/credential',
  operationId: 'deleteOwnedModelCredential',
  summary: 'Delete the credential of an owned model',
  description:
    'From then on no header carries one, for a server that takes none; the model is asked ' +
    'again. Nothing changes if there is none.',
  tags,
  request: { params, query: noQuery },
  responses: {
    200: known,
    ...errorAnswers(404),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true, takesVersion: true },
})

export function bindOwnedModels(
  app: ControlPlaneApp,
  { gates, ownedModels, checkAddress, checkOwnedModel }: ControlPlaneDependencies,
): void {
  bindResource(app, ownedModelResource, {
    word: 'owned-model',
    list: (accountId) => ownedModels.list(accountId),
    async create(accountId, { credential, displayName, pricingCachedInput, baseUrl, ...given }) {
      assertFimFits(given)
      await checkAddress(baseUrl)
      const model = await ownedModels.create(accountId, {
        ...given,
        baseUrl: withoutTrailingSlashes(baseUrl),
        displayName: displayName ?? given.slug,
        pricingCachedInput: pricingCachedInput ?? given.pricingInput,
        credential: credential === undefined ? undefined : new Secret(credential),
      })
      return await checked(model)
    },
    show,
    async update(accountId, slug, { credential, ...changes }) {
      const before = ownedModels.show(accountId, slug)
      if (before !== undefined) assertFimFits({ ...before, ...present(changes) })
      const model = await ownedModels.update(accountId, slug, {
        ...changes,
        credential: credential === undefined ? undefined : new Secret(credential),
      })
      const isKnown = before !== undefined && isSameQuestion(before, model)
      return isKnown ? toOwnedModelBody(model) : await checked(model)
    },
    delete: (accountId, slug) =>
      gates.whileUnchanged(() =>
        ownedModels.delete(accountId, slug, () => assertUnused(gates.list(accountId), slug)),
      ),
    idOf: ({ slug }) => slug,
    toBody: toOwnedModelBody,
  })

  app.openapi(probeRoute, async (c) => {
    const model = show(callerOf(c.env).accountId, c.req.valid('param').slug)
    const body = await checked(model)
    return c.json(body, 200, tagged('owned-model', body))
  })

  app.openapi(deleteCredentialRoute, async (c) => {
    const { accountId } = callerOf(c.env)
    const { slug } = c.req.valid('param')
    const body = await ifMatched(c.env, { word: 'owned-model', id: slug }, async () => {
      const before = ownedModels.show(accountId, slug)
      if (before?.hasCredential === false) return toOwnedModelBody(before)
      return await checked(await ownedModels.update(accountId, slug, { credential: null }))
    })
    return c.json(body, 200, tagged('owned-model', body))
  })

  function show(accountId: AccountId, slug: string): OwnedModel {
    const model = ownedModels.show(accountId, slug)
    if (model === undefined) throw ownedModelNotFound()
    return model
  }

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

function assertUnused(gates: readonly Gate[], slug: string): void {
  const target = `${OWNED_PREFIX}/${slug}`
  const users = gates
    .filter((gate) => gate.targets.some(({ model }) => model === target))
    .map(({ id }) => id)
  if (users.length === 0) return
  const named = users.length === 1 ? `the gate ${users[0]}` : `the gates ${users.sort().join(', ')}`
  throw new GatewayError(
    'conflict',
    `The owned model is still a target of ${named}: remove it there first.`,
    {
      details: { gates: users },
    },
  )
}

const FIM_DIALECTS = OWNED_MODEL_DIALECTS.filter((id) => formOfDialect(id).id === 'fim')

function assertFimFits(
  model: Pick<OwnedModel, 'dialect' | 'upstreamModelId' | 'fimEndpoint' | 'fimTemplate'>,
): void {
  const { dialect, upstreamModelId, fimEndpoint, fimTemplate } = model
  if (!FIM_DIALECTS.includes(dialect)) {
    const set = (['fimEndpoint', 'fimTemplate'] as const).filter((field) => model[field] !== 'auto')
    if (set.length === 0) return
    throw refuse(
      set.map((field) => ({
        field,
        message: `is for models of the dialect ${FIM_DIALECTS.join(', ')} alone`,
      })),
    )
  }
  if (fimEndpoint !== 'completions-template' || fimTemplate !== 'auto') return
  if (fimTemplateOf(upstreamModelId) !== undefined) return
  const message =
    'is required: the name of this model does not identify the family whose tokens it takes'
  throw refuse([{ field: 'fimTemplate', message }])
}
