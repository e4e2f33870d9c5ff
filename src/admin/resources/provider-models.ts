/** `/v1/provider-models`: what is known of the providers' models, and whose credential is used. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRoute } from '@hono/zod-openapi'
import {
  type ProviderModelBody,
  providerModelDetails,
  providerModelList,
  providerModelParameters,
  providerModelsQuery,
  type RequestRuleBody,
} from '../../contract/providers.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AccountId } from '../../core/ids.ts'
import type { KnownModel } from '../../core/known-model.ts'
import { toPublicModelPrice } from '../../core/model-price.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import type { ListedRule } from '../../wire/fit/request-rules.ts'
import {
  type ControlPlaneApp,
  type ControlPlaneDependencies,
  callerOf,
  errorAnswers,
  jsonContent,
} from '../control-plane-app.ts'
import { refuse } from '../refusals.ts'
import { maySetPrices } from './may-set-prices.ts'
import { credentialsOf } from './providers.ts'
import { toHealth } from './targets.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/provider-models',
  operationId: 'listProviderModels',
  summary: 'List the models that are known of the providers',
  description:
    'From the price table that is part of this version of the gateway, without what was ' +
    "withdrawn, and from the operator's entries. Targets may name models that are not listed.",
  tags: ['Providers'],
  request: { query: providerModelsQuery },
  responses: {
    200: jsonContent(providerModelList, 'A page of models, or all.'),
    ...errorAnswers(400),
  },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/provider-models/{provider}/{model}',
  operationId: 'getProviderModel',
  summary: "Show a provider's model",
  description: 'Also a model that is not listed, if its price or another fact is known.',
  tags: ['Providers'],
  request: { params: providerModelParameters },
  responses: { 200: jsonContent(providerModelDetails, 'The model.'), ...errorAnswers(400, 404) },
})

type Dependencies = Pick<
  ControlPlaneDependencies,
  | 'providers'
  | 'providerKeys'
  | 'modelsOf'
  | 'describeModel'
  | 'rulesOf'
  | 'modelPrices'
  | 'operatorAccount'
  | 'hasOperatorApi'
  | 'seenOf'
>

interface Found {
  readonly provider: string
  readonly id: string
  readonly name: string | undefined
  readonly listed: KnownModel | undefined
}

export function bindProviderModels(app: ControlPlaneApp, dependencies: Dependencies): void {
  const { providers, modelsOf, describeModel, rulesOf, modelPrices, seenOf } = dependencies

  const toBody = (
    { provider, id, name, listed }: Found,
    accountId: AccountId,
    credential: ProviderModelBody['credential'],
  ): ProviderModelBody => {
    const target = `${provider}/${id}`
    const { facts = {}, ...details } = describeModel(target, listed)
    const seen = seenOf(accountId, target)
    return {
      ...{ provider, id, name: name ?? null },
      contextTokens: facts.contextTokens ?? null,
      maxOutputTokens: facts.maxOutputTokens ?? null,
      inputModalities: copyOf(facts.inputModalities),
      outputModalities: copyOf(facts.outputModalities),
      reasoningEfforts: copyOf(facts.reasoningEfforts),
      inputUsdPerMillion: details.inputUsdPerMillion ?? null,
      cachedInputUsdPerMillion: details.cachedInputUsdPerMillion ?? null,
      outputUsdPerMillion: details.outputUsdPerMillion ?? null,
      priceSource: details.priceSource ?? null,
      priceFrom: details.priceFrom ?? null,
      isPriceEstimated: details.isPriceEstimated,
      isAlias: details.isAlias,
      retiresOn: details.retiresOn ?? null,
      credential,
      health: seen === undefined ? null : toHealth(seen),
    }
  }

  app.openapi(listRoute, async (c) => {
    const { provider, search = '', limit, cursor } = c.req.valid('query')
    const after = cursor === undefined ? undefined : decodeCursor(cursor)
    const words = search.toLowerCase().split(/\s+/)
    const asked = providers.filter(({ id }) => provider === undefined || id === provider)
    const order = new Map(providers.map(({ id }, index) => [id, index]))
    const found = asked
      .flatMap(({ id: provider }) =>
        modelsOf(provider).map((listed) => ({
          provider,
          id: listed.id,
          name: listed.name,
          listed,
        })),
      )
      .filter((model) => contains(model, words))
      .toSorted((one, other) => compare(order, one, other))
    const rest =
      after === undefined ? found : found.filter((model) => compare(order, model, after) > 0)
    const page = limit === undefined ? rest : rest.slice(0, limit)
    const last = page.at(-1)
    const { accountId } = callerOf(c.env)
    const credentials = credentialsOf(dependencies, accountId)
    const data: ProviderModelBody[] = []
    for (const model of page) {
      data.push(toBody(model, accountId, credentials(model.provider)))
      if (data.length % ROWS_PER_TURN === 0) await nextTurn()
    }
    const hasMore = last !== undefined && page.length < rest.length
    const nextCursor = hasMore ? encodeCursor(last) : null
    return c.json(
      { data, nextCursor, maySetPrices: maySetPrices(callerOf(c.env), dependencies) },
      200,
    )
  })

  app.openapi(showRoute, (c) => {
    const { provider, model } = c.req.valid('param')
    assertProvider(providers, provider)
    const listed = modelsOf(provider).find(({ id }) => id === model)
    const { accountId } = callerOf(c.env)
    const credentials = credentialsOf(dependencies, accountId)
    const found = { provider, id: model, name: listed?.name, listed }
    const body = toBody(found, accountId, credentials(provider))
    if (listed === undefined && body.priceSource === null && body.contextTokens === null)
      throw new GatewayError('not_found', UNKNOWN_MODEL, { param: 'model' })
    const stored = modelPrices.find(`${provider}/${model}`)
    const storedPrice = stored === undefined ? null : toPublicModelPrice(stored)
    const rules = rulesOf(`${provider}/${model}`).map(toRuleBody)
    return c.json({ ...body, rules, storedPrice }, 200)
  })
}

/** @throws GatewayError `not_found` */
export function assertProvider(providers: Dependencies['providers'], provider: string): void {
  const ids = providers.map(({ id }) => id)
  if (ids.includes(provider)) return
  throw new GatewayError(
    'not_found',
    `provider: there is no such provider.${didYouMean(provider, ids)}`,
    { param: 'provider' },
  )
}

const UNKNOWN_MODEL =
  'model: nothing is known of this model. Targets may name it, and its price can be declared in ' +
  'the section models of the configuration file.'

function toRuleBody({ name, value, row }: ListedRule): RequestRuleBody {
  return {
    name,
    value: structuredClone(value) as RequestRuleBody['value'],
    source: row?.source ?? null,
    checked: row?.checked ?? null,
  }
}

function copyOf<Item>(items: readonly Item[] | undefined): Item[] | null {
  return items === undefined ? null : [...items]
}

function contains({ provider, id, name = '' }: Found, words: readonly string[]): boolean {
  const text = `${provider}/${id} ${name}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

type Position = Pick<Found, 'provider' | 'id'>

/** Providers in their own order, and the models of each by id. */
function compare(order: ReadonlyMap<string, number>, one: Position, other: Position): number {
  const difference = (order.get(one.provider) ?? 0) - (order.get(other.provider) ?? 0)
  if (difference !== 0 || one.id === other.id) return difference
  return one.id < other.id ? -1 : 1
}

function encodeCursor({ provider, id }: Position): string {
  return Buffer.from(`${provider}/${id}`).toString('base64url')
}

/** @throws GatewayError `invalid_request` for anything not made by `encodeCursor` */
function decodeCursor(cursor: string): Position {
  const text = cursor.length > MAX_CURSOR ? '' : Buffer.from(cursor, 'base64url').toString()
  const slash = text.indexOf('/')
  const position = { provider: text.slice(0, slash), id: text.slice(slash + 1) }
  if (slash < 1 || encodeCursor(position) !== cursor)
    throw refuse([{ field: 'cursor', message: 'is not a cursor of this list' }])
  return position
}

const MAX_CURSOR = 1_000
/** Describing so many takes some milliseconds. */
const ROWS_PER_TURN = 100
