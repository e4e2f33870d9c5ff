/** Which address shows which page. Pages are fetched when they are first visited; none is imported here at start. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { operationQuery } from '../api/operation-query.ts'
import { readLogSearch } from '../features/logs/log-filter.ts'
import { ErrorState } from '../ui/states.tsx'
import { NotFound } from './not-found.tsx'
import { queryClient } from './query-client.ts'
import { Shell } from './shell.tsx'
import { toSignInSearch } from './sign-in-address.ts'

export const BASE_PATH = '/dashboard'

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

/** For who is not signed in. */
const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { returnTo?: string; error?: string } => ({
    ...(typeof search.returnTo === 'string' ? { returnTo: search.returnTo } : {}),
    ...(typeof search.error === 'string' ? { error: search.error } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/sign-in/sign-in-page.tsx'), 'SignInPage'),
})
const signUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('../features/sign-in/sign-up-page.tsx'), 'SignUpPage'),
})
const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('../features/sign-in/welcome-page.tsx'), 'WelcomePage'),
})

/** Everything else: with the menu at its side, and for members only. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    const session = await queryClient
      .ensureQueryData(operationQuery('GET /v1/session'))
      .catch(() => undefined)
    if (session !== undefined) return
    const options = await queryClient.ensureQueryData(operationQuery('GET /v1/auth'))
    if (!options.hasOwner) throw redirect({ to: '/welcome' })
    throw redirect({ to: '/sign-in', search: toSignInSearch(BASE_PATH + location.href) })
  },
  component: Shell,
  errorComponent: ({ error, reset }) => <ErrorState error={error} retry={reset} />,
})

/** Pages whose choices are in their address, so that a view can be shared: they judge by themselves what it says. */
function textSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  const texts = Object.entries(search).filter(([, value]) => ['string', 'number'].includes(typeof value))
  return Object.fromEntries(texts.map(([name, value]) => [name, String(value)]))
}

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: textSearch,
  component: lazyRouteComponent(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
})

const analyticsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/analytics',
  validateSearch: textSearch,
  component: lazyRouteComponent(() => import('../features/analytics/analytics-page.tsx'), 'AnalyticsPage'),
})

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('../features/keys/keys-page.tsx'), 'KeysPage'),
})

const gatesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gates',
  component: lazyRouteComponent(() => import('../features/gates/gates-page.tsx'), 'GatesPage'),
})
const newGateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gates/new',
  component: lazyRouteComponent(() => import('../features/gates/new-gate-page.tsx'), 'NewGatePage'),
})
const gateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gates/$gateId',
  validateSearch: (search: Record<string, unknown>): { tab?: 'test' | 'snippets' } =>
    search.tab === 'test' || search.tab === 'snippets' ? { tab: search.tab } : {},
  component: lazyRouteComponent(() => import('../features/gates/gate-page.tsx'), 'GatePage'),
})
const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('../features/settings/settings-layout.tsx'), 'SettingsLayout'),
})
const settingsRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/',
    component: lazyRouteComponent(() => import('../features/settings/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/members',
    component: lazyRouteComponent(() => import('../features/settings/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/limits',
    component: lazyRouteComponent(() => import('../features/settings/limits-page.tsx'), 'LimitsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/budgets',
    component: lazyRouteComponent(() => import('../features/settings/budgets-page.tsx'), 'BudgetsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('../features/settings/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/audit-log',
    component: lazyRouteComponent(() => import('../features/settings/audit-log-page.tsx'), 'AuditLogPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/security',
    component: lazyRouteComponent(() => import('../features/settings/security-page.tsx'), 'SecurityPage'),
  }),
] as const

const docsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/docs',
  component: lazyRouteComponent(() => import('../features/docs/docs-layout.tsx'), 'DocsLayout'),
})
const docsRoutes = [
  createRoute({
    getParentRoute: () => docsRoute,
    path: '/',
    component: lazyRouteComponent(() => import('../features/docs/quick-start-page.tsx'), 'QuickStartPage'),
  }),
  createRoute({
    getParentRoute: () => docsRoute,
    path: '/errors',
    component: lazyRouteComponent(() => import('../features/docs/errors-page.tsx'), 'ErrorsPage'),
  }),
  createRoute({
    getParentRoute: () => docsRoute,
    path: '/conformance',
    component: lazyRouteComponent(() => import('../features/docs/conformance-page.tsx'), 'ConformancePage'),
  }),
] as const
const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: (search: Record<string, unknown>): { gate?: string; compare?: string } => ({
    // An id of digits alone is read as a number.
    ...(isName(search.gate) ? { gate: String(search.gate) } : {}),
    ...(isName(search.compare) ? { compare: String(search.compare) } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/playground/playground-page.tsx'), 'PlaygroundPage'),
})

function isName(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
const providerKeysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/provider-keys',
  component: lazyRouteComponent(
    () => import('../features/provider-keys/provider-keys-page.tsx'),
    'ProviderKeysPage',
  ),
})

const ownedModelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/owned-models',
  component: lazyRouteComponent(
    () => import('../features/owned-models/owned-models-page.tsx'),
    'OwnedModelsPage',
  ),
})
const registerOwnedModelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/owned-models/new',
  component: lazyRouteComponent(
    () => import('../features/owned-models/register-page.tsx'),
    'RegisterOwnedModelPage',
  ),
})
const ownedModelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/owned-models/$slug',
  component: lazyRouteComponent(
    () => import('../features/owned-models/owned-model-page.tsx'),
    'OwnedModelPage',
  ),
})
const logsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/logs',
  validateSearch: readLogSearch,
  component: lazyRouteComponent(() => import('../features/logs/logs-page.tsx'), 'LogsPage'),
})
/** The list's page shows it too: beside the list, or instead of it. */
const callRoute = createRoute({ getParentRoute: () => logsRoute, path: '$callId', component: () => null })

const routeTree = rootRoute.addChildren([
  signInRoute,
  signUpRoute,
  welcomeRoute,
  shellRoute.addChildren([
    overviewRoute,
    playgroundRoute,
    gatesRoute,
    newGateRoute,
    gateRoute,
    ownedModelsRoute,
    registerOwnedModelRoute,
    ownedModelRoute,
    keysRoute,
    providerKeysRoute,
    logsRoute.addChildren([callRoute]),
    analyticsRoute,
    settingsRoute.addChildren(settingsRoutes),
    docsRoute.addChildren(docsRoutes),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: BASE_PATH,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} retry={reset} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
