/**
 * The control plane: the middlewares of every request, and the resources. Loading zod and schemas
 * takes time, so import this file when first needed; a resource loads with its first request.
 */
import { OpenAPIHono } from '@hono/zod-openapi'
import { getPath } from 'hono/utils/url'
import { PLAIN_PLACES } from '../contract/plain-resources.ts'
import type { CallId } from '../core/ids.ts'
import type {
  ControlPlaneApp,
  ControlPlaneBindings,
  ControlPlaneDependencies,
} from './control-plane-app.ts'
import { holdToken } from './hold-token.ts'
import {
  answerErrors,
  authenticate,
  type ControlRequest,
  confirmChanges,
  findRoute,
  limitRate,
  limitSignIns,
  type Middleware,
  readBody,
  refuseOtherSites,
  reportAnswer,
  setHeaders,
} from './middlewares.ts'
import { answerError, refuseProblems } from './refusals.ts'

export interface ControlPlane {
  /** Answers every request, including unknown paths (404); never rejects. */
  handle(request: Request, requestId: CallId, clientAddress?: string): Promise<Response>
}

type Bind = (app: ControlPlaneApp, dependencies: ControlPlaneDependencies) => void

interface Resource {
  readonly places: string
  readonly load: () => Promise<Bind>
}

/** The document describes all resources, and so loads all of them. */
const DOCUMENT = 'openapi.json'

/** In the order of the OpenAPI document. The first route that matches a path answers. */
const RESOURCES: readonly Resource[] = [
  at('gates', () => import('./resources/gates.ts'), 'bindGates'),
  at('gates', () => import('./resources/gates.ts'), 'bindGateTests'),
  at('fuse-stops', () => import('./resources/fuse-stops.ts'), 'bindFuseStops'),
  at('targets', () => import('./resources/targets.ts'), 'bindTargetHealth'),
  at('targets', () => import('./resources/targets.ts'), 'bindGateFallbacks'),
  at('playground', () => import('./resources/playground.ts'), 'bindPlayground'),
  at('keys', () => import('./resources/keys.ts'), 'bindKeys'),
  at('access-tokens', () => import('./resources/access-tokens.ts'), 'bindAccessTokens'),
  at('owned-models', () => import('./resources/owned-models.ts'), 'bindOwnedModels'),
  at('provider-keys', () => import('./resources/provider-keys.ts'), 'bindProviderKeys'),
  // The export comes before the route of a single call, because the path of that route matches the
  // export too.
  at('logs', () => import('./calls/logs.ts'), 'bindLogExport'),
  at('logs', () => import('./calls/logs.ts'), 'bindLogs'),
  at('analytics', () => import('./calls/analytics.ts'), 'bindAnalytics'),
  at('usage', () => import('./calls/sessions.ts'), 'bindUsageSessions'),
  at('usage', () => import('./calls/usage-export.ts'), 'bindUsageExport'),
  at('costs', () => import('./calls/costs.ts'), 'bindCosts'),
  at('providers', () => import('./resources/providers.ts'), 'bindProviders'),
  at('provider-models', () => import('./resources/provider-models.ts'), 'bindProviderModels'),
  at('provider-models', () => import('./resources/model-prices.ts'), 'bindModelPrices'),
  at('reload', () => import('./resources/reload.ts'), 'bindReload'),
  at('audit-log', () => import('./resources/audit-log.ts'), 'bindAuditLog'),
  at('account', () => import('./users/account.ts'), 'bindAccount'),
  at('budgets', () => import('./resources/budgets.ts'), 'bindBudgets'),
  at('budgets', () => import('./calls/simulate-budget.ts'), 'bindBudgetSimulation'),
  at('webhooks', () => import('./resources/webhooks.ts'), 'bindWebhooks'),
  ...PLAIN_PLACES.map(([word, resource]) => ({
    places: resource.place,
    load: async () => (await import('./resource-routes.ts')).plainResource(word, resource),
  })),
  at('conformance', () => import('./openapi/conformance.ts'), 'bindConformance'),
  at('account', () => import('./users/account.ts'), 'bindAccountName'),
  at('account', () => import('./users/attribution.ts'), 'bindAttribution'),
  at('account', () => import('./users/end-users.ts'), 'bindEndUsers'),
  at('members', () => import('./users/members.ts'), 'bindMembers'),
  at('invitations', () => import('./users/members.ts'), 'bindInvitations'),
  at('auth session', () => import('./users/sign-in.ts'), 'bindSignIn'),
  at('session sessions', () => import('./users/sessions.ts'), 'bindSessions'),
  at(DOCUMENT, () => import('./openapi/openapi.ts'), 'bindOpenApi'),
  at('docs', () => import('./openapi/docs-page.ts'), 'bindDocs'),
]

function at<Name extends string, Part extends Readonly<Record<Name, Bind>>>(
  places: string,
  load: () => Promise<Part>,
  name: Name,
): Resource {
  return { places, load: async () => (await load())[name] }
}

export function createControlPlane(dependencies: ControlPlaneDependencies): ControlPlane {
  const apps = new Map<string, Promise<ControlPlaneApp>>()

  const loadRoutes: Middleware = async (context, next) => {
    context.routes = await routesAt(getPath(context.request))
    return await next()
  }

  const middlewares = [
    setHeaders,
    reportAnswer,
    answerErrors,
    loadRoutes,
    findRoute,
    refuseOtherSites,
    authenticate,
    holdToken,
    limitRate,
    limitSignIns,
    readBody,
    confirmChanges,
  ]
  const answer = middlewares.reduceRight(
    (next: (context: ControlRequest) => Promise<Response>, middleware) => (context) =>
      middleware(context, () => next(context), dependencies),
    runHandler,
  )
  return {
    handle: (request, requestId, clientAddress) => answer({ request, requestId, clientAddress }),
  }

  function routesAt(path: string): Promise<ControlPlaneApp> | undefined {
    const place = placeOf(path)
    const resources =
      place === DOCUMENT
        ? RESOURCES
        : RESOURCES.filter(({ places }) => places.split(' ').includes(place))
    if (resources.length === 0) return undefined
    const loaded = apps.get(place) ?? bindAll(resources)
    apps.set(place, loaded)
    return loaded
  }

  async function bindAll(resources: readonly Resource[]): Promise<ControlPlaneApp> {
    const app: ControlPlaneApp = new OpenAPIHono<{ Bindings: ControlPlaneBindings }>({
      defaultHook: refuseProblems(),
    })
    const binds = await Promise.all(resources.map(({ load }) => load()))
    for (const bind of binds) bind(app, dependencies)
    app.onError((error, c) => {
      const { requestId, request } = c.env
      if (error === request.signal.reason) return new Response(null, { status: CLIENT_LEFT })
      return answerError(error, requestId, dependencies)
    })
    return app
  }
}

/** For the request log only: the client left before the answer. */
const CLIENT_LEFT = 499

function placeOf(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3)
  return first === 'v1' ? second : first
}

async function runHandler(context: ControlRequest): Promise<Response> {
  const { routes, checked, caller, request, requestId, clientAddress } = context
  if (routes === undefined || checked === undefined) throw new Error('a middleware is missing')
  const bindings: ControlPlaneBindings = {
    requestId,
    request,
    clientAddress,
    ...(caller === undefined ? {} : { caller }),
  }
  return await routes.fetch(checked, bindings)
}
