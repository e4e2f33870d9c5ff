/**
 * The address of each page. Pages are loaded at the first visit, so this file must not import a
 * page.
 */
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { ApiError } from '../api/api-error.ts'
import { operationQuery } from '../api/operation-query.ts'
import { readLogSearch } from '../features/logs/log-filter.ts'
import { type SignInReason, toSignInReason } from '../features/sign-in/sign-in-reason.ts'
import { LinkButton } from '../ui/button.tsx'
import { useDocumentTitle } from '../ui/page.tsx'
import { ErrorState } from '../ui/states.tsx'
import { forgetSession, loadPart, rememberSession } from './connection.ts'
import { queryClient } from './query-client.ts'
import { Shell } from './shell.tsx'
import { toSignInSearch } from './sign-in-address.ts'

export const BASE_PATH = '/dashboard'

/**
 * Waits for a page's file that cannot be loaded. If the file is gone, the router loads the
 * dashboard anew, once.
 */
function lazyPage<Part extends Record<string, unknown>, Name extends keyof Part>(
  load: () => Promise<Part>,
  name: Name,
) {
  return lazyRouteComponent<Part, Name>(() => loadPart(load), name)
}

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

function RouteError({ error, reset }: ErrorComponentProps) {
  const again = () => {
    reset()
    void router.invalidate()
  }
  return <ErrorState error={error} retry={again} />
}

function pagesUnder<const Parent extends AnyRoute>(parent: Parent) {
  return <const Path extends string, Part extends Record<string, unknown>, Name extends keyof Part>(
    path: Path,
    load: () => Promise<Part>,
    name: Name,
  ) => createRoute({ getParentRoute: () => parent, path, component: lazyPage(load, name) })
}

interface SignInSearch {
  readonly returnTo?: string
  readonly error?: string
  readonly reason?: SignInReason
}

function readSignInSearch(search: Record<string, unknown>): SignInSearch {
  const reason = toSignInReason(search.reason)
  return {
    ...(typeof search.returnTo === 'string' ? { returnTo: search.returnTo } : {}),
    ...(typeof search.error === 'string' ? { error: search.error } : {}),
    ...(reason === undefined ? {} : { reason }),
  }
}

const outerPage = pagesUnder(rootRoute)
const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readSignInSearch,
  component: lazyPage(() => import('../features/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    const session = await queryClient
      .ensureQueryData(operationQuery('GET /v1/session'))
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) return undefined
        throw error
      })
    if (session !== undefined) {
      rememberSession()
      return
    }
    const options = await queryClient.ensureQueryData(operationQuery('GET /v1/auth'))
    if (!options.hasOwner) throw redirect({ to: '/welcome' })
    const hadSession = forgetSession()
    throw redirect({
      to: '/sign-in',
      search: {
        ...toSignInSearch(BASE_PATH + location.href),
        ...(hadSession ? { reason: 'ended' } : {}),
      },
    })
  },
  component: Shell,
  errorComponent: RouteError,
})

/**
 * Reads the choices that a page keeps in its address, so that a view can be shared. Each page
 * checks its own choices.
 */
function textSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  const texts = Object.entries(search).filter(([, value]) =>
    ['string', 'number'].includes(typeof value),
  )
  return Object.fromEntries(texts.map(([name, value]) => [name, String(value)]))
}

const page = pagesUnder(shellRoute)

const logsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/logs',
  validateSearch: readLogSearch,
  component: lazyPage(() => import('../features/logs/logs-page.tsx'), 'LogsPage'),
})
const callRoute = createRoute({
  getParentRoute: () => logsRoute,
  path: '$callId',
  component: () => null,
})
const settingsRoute = page(
  '/settings',
  () => import('../features/settings/settings-layout.tsx'),
  'SettingsLayout',
)
const settingsPage = pagesUnder(settingsRoute)
const docsRoute = page('/docs', () => import('../features/docs/docs-layout.tsx'), 'DocsLayout')
const docsPage = pagesUnder(docsRoute)

function isName(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

const shellRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/playground',
    validateSearch: (search: Record<string, unknown>): { gate?: string; compare?: string } => ({
      // The router parses an id of digits as a number.
      ...(isName(search.gate) ? { gate: String(search.gate) } : {}),
      ...(isName(search.compare) ? { compare: String(search.compare) } : {}),
    }),
    component: lazyPage(
      () => import('../features/playground/playground-page.tsx'),
      'PlaygroundPage',
    ),
  }),
  page('/gates', () => import('../features/gates/gates-page.tsx'), 'GatesPage'),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/gates/new',
    validateSearch: (search: Record<string, unknown>): { model?: string } =>
      typeof search.model === 'string' ? { model: search.model } : {},
    component: lazyPage(() => import('../features/gates/new-gate-page.tsx'), 'NewGatePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/gates/$gateId',
    validateSearch: (search: Record<string, unknown>): { tab?: 'test' | 'snippets' } =>
      search.tab === 'test' || search.tab === 'snippets' ? { tab: search.tab } : {},
    component: lazyPage(() => import('../features/gates/gate-page.tsx'), 'GatePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/models',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/models/models-page.tsx'), 'ModelsPage'),
  }),
  page(
    '/owned-models',
    () => import('../features/owned-models/owned-models-page.tsx'),
    'OwnedModelsPage',
  ),
  page(
    '/owned-models/new',
    () => import('../features/owned-models/register-page.tsx'),
    'RegisterOwnedModelPage',
  ),
  page(
    '/owned-models/$slug',
    () => import('../features/owned-models/owned-model-page.tsx'),
    'OwnedModelPage',
  ),
  page('/keys', () => import('../features/keys/keys-page.tsx'), 'KeysPage'),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/keys/$keyId',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/keys/key-page.tsx'), 'KeyPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/connect',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/connect/connect-page.tsx'), 'ConnectPage'),
  }),
  page(
    '/provider-keys',
    () => import('../features/provider-keys/provider-keys-page.tsx'),
    'ProviderKeysPage',
  ),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/people',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/callers/people-page.tsx'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/people/$user',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/callers/person-page.tsx'), 'PersonPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/sessions',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/callers/sessions-page.tsx'), 'SessionsPage'),
  }),
  page('/sessions/$sessionId', () => import('../features/callers/session-page.tsx'), 'SessionPage'),
  logsRoute.addChildren([callRoute]),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/analytics',
    validateSearch: textSearch,
    component: lazyPage(() => import('../features/analytics/analytics-page.tsx'), 'AnalyticsPage'),
  }),
  settingsRoute.addChildren([
    settingsPage('/', () => import('../features/settings/account-page.tsx'), 'AccountPage'),
    settingsPage('/members', () => import('../features/settings/members-page.tsx'), 'MembersPage'),
    settingsPage('/limits', () => import('../features/settings/limits-page.tsx'), 'LimitsPage'),
    settingsPage('/budgets', () => import('../features/settings/budgets-page.tsx'), 'BudgetsPage'),
    settingsPage(
      '/webhooks',
      () => import('../features/settings/webhooks-page.tsx'),
      'WebhooksPage',
    ),
    settingsPage(
      '/audit-log',
      () => import('../features/settings/audit-log-page.tsx'),
      'AuditLogPage',
    ),
    settingsPage(
      '/security',
      () => import('../features/settings/security-page.tsx'),
      'SecurityPage',
    ),
    settingsPage('/$place', () => import('../features/settings/plain-page.tsx'), 'PlainPage'),
  ]),
  docsRoute.addChildren([
    docsPage('/', () => import('../features/docs/quick-start-page.tsx'), 'QuickStartPage'),
    docsPage('/errors', () => import('../features/docs/errors-page.tsx'), 'ErrorsPage'),
    docsPage(
      '/conformance',
      () => import('../features/docs/conformance-page.tsx'),
      'ConformancePage',
    ),
  ]),
] as const

const routeTree = rootRoute.addChildren([
  signInRoute,
  outerPage('/sign-up', () => import('../features/sign-in/sign-up-page.tsx'), 'SignUpPage'),
  outerPage('/welcome', () => import('../features/sign-in/welcome-page.tsx'), 'WelcomePage'),
  shellRoute.addChildren(shellRoutes),
])

export const router = createRouter({
  routeTree,
  basepath: BASE_PATH,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: RouteError,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

function NotFound() {
  useDocumentTitle('Not found')
  return (
    <main className="flex min-h-[60dvh] flex-col items-center justify-center gap-3 px-6 text-center">
      <p className="font-mono text-sm text-ink-faint">404</p>
      <h1 className="text-lg font-semibold text-ink">There is no page here</h1>
      <p className="max-w-sm text-sm text-ink-soft">The page may have been renamed or deleted.</p>
      <LinkButton to="/" className="mt-2">
        To the overview
      </LinkButton>
    </main>
  )
}
