/**
 * PUT and DELETE of `/v1/provider-models/{provider}/{model}`: the operator prices a model that
 * neither the configuration file nor the price table prices.
 */
import { createRoute } from '@hono/zod-openapi'
import { noQuery } from '../../contract/lists.ts'
import {
  modelPriceBody,
  setModelPriceBody,
  setModelPriceNotes,
} from '../../contract/model-prices.ts'
import { modelName } from '../../contract/models-section.ts'
import { providerModelParameters } from '../../contract/providers.ts'
import { GatewayError } from '../../core/errors.ts'
import { toPublicModelPrice } from '../../core/model-price.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
  jsonRequest,
} from '../control-plane-app.ts'
import { refuse, refuseProblems } from '../refusals.ts'
import { ifMatched, ROUTE_DESCRIPTION, tagged } from '../resource-routes.ts'
import { assertMaySet } from './may-set-prices.ts'
import { assertProvider } from './provider-models.ts'

const path = '/v1/provider-models/{provider}/{model}'
const FOR_WHOM =
  'For keys of the first account and for its owner, if the server has `GATEHOUSE_OPERATOR_API=on`.'

const setRoute = createRoute({
  method: 'put',
  path,
  operationId: 'setModelPrice',
  summary: 'Set or replace the price of a model without any other price',
  description:
    `${FOR_WHOM} The price applies to calls of every account that begin after the answer, on ` +
    'every node. A price of the configuration file or of the price table can only be changed in ' +
    'the configuration file.',
  tags: ['Operator'],
  request: {
    params: providerModelParameters,
    ...jsonRequest(setModelPriceBody, 'The price.'),
  },
  responses: {
    200: jsonContent(modelPriceBody, 'It was replaced.'),
    201: jsonContent(modelPriceBody, 'It was set.'),
    ...errorAnswers(400, 403, 404, 409, 413),
  },
  [ROUTE_DESCRIPTION]: { isVersioned: true, takesVersion: true },
})

const deleteRoute = createRoute({
  method: 'delete',
  path,
  operationId: 'deleteModelPrice',
  summary: 'Delete the stored price of a model',
  description: `${FOR_WHOM} Calls that begin after the answer have no known price.`,
  tags: ['Operator'],
  request: { params: providerModelParameters, query: noQuery },
  responses: {
    204: { description: 'The model has no stored price.' },
    ...errorAnswers(403, 404),
  },
  [ROUTE_DESCRIPTION]: { takesVersion: true },
})

type Dependencies = Pick<
  ControlPlaneDependencies,
  'providers' | 'modelPrices' | 'operatorAccount' | 'hasOperatorApi'
>

export function bindModelPrices(app: ControlPlaneApp, dependencies: Dependencies): void {
  const { providers, modelPrices } = dependencies

  app.openapi(
    setRoute,
    async (c) => {
      const caller = assertMaySet(callerOf(c.env), dependencies)
      const { provider, model } = c.req.valid('param')
      assertProvider(providers, provider)
      const name = modelName.safeParse(`${provider}/${model}`)
      if (!name.success)
        throw refuse([
          { field: 'model', message: 'must have no spaces, no *, at most 260 characters' },
        ])
      const body = c.req.valid('json')
      assertUnpriced(name.data, modelPrices.sourceOf(name.data))
      if (body.like !== undefined && modelPrices.sourceOf(body.like) === undefined)
        throw refuse([{ field: 'like', message: UNPRICED_LIKE }])
      const thing = { accountId: caller.accountId, id: name.data }
      let isNew = false
      const saved = await ifMatched(c.env, { word: 'model-price', id: thing.id }, async () => {
        const result = await modelPrices.set(thing, body)
        isNew = result.isNew
        return toPublicModelPrice(result.saved)
      })
      return c.json(saved, isNew ? 201 : 200, tagged('model-price', saved))
    },
    refuseProblems(setModelPriceNotes),
  )

  app.openapi(deleteRoute, async (c) => {
    const { accountId } = assertMaySet(callerOf(c.env), dependencies)
    const { provider, model } = c.req.valid('param')
    const id = `${provider}/${model}`
    await ifMatched(c.env, { word: 'model-price', id }, () => modelPrices.delete({ accountId, id }))
    return c.body(null, 204)
  })
}

const UNPRICED_LIKE =
  'is not a model with a price in the configuration file or the price table: see ' +
  'GET /v1/provider-models'

/** @throws GatewayError `conflict` */
function assertUnpriced(target: string, source: string | undefined): void {
  if (source === undefined) return
  throw new GatewayError(
    'conflict',
    `model: ${target} has a price (${source}). Change it in the section models of gatehouse.yaml, ` +
      'then run gatehouse reload.',
    { param: 'model' },
  )
}
