/**
 * Lists the resources of the control plane: the addresses of each, and how to load it. Loading one
 * builds its schemas, and all of them together take 40 ms, so each waits for its first request.
 * Knows nothing of requests.
 */
import { PLAIN_PLACES } from '../contract/plain-resources.ts'
import type { ControlPlaneApp, ControlPlaneDependencies } from './control-plane-app.ts'
import { bindDocs } from './openapi/docs-page.ts'
import { bindPlayground } from './resources/playground.ts'

type Bind = (app: ControlPlaneApp, dependencies: ControlPlaneDependencies) => void

interface Resource {
  /** The first word of its paths, behind `/v1/` but for the documents. Several may share one. */
  readonly at: readonly string[]
  readonly load: () => Promise<Bind>
}

/** It describes all of them, so it is loaded with all of them. */
const DOCUMENT = 'openapi.json'

/** In the order of the OpenAPI document. Of two that would answer the same path the first does. */
const RESOURCES: readonly Resource[] = [
  { at: ['gates'], load: async () => (await import('./resources/gates.ts')).bindGates },
  { at: ['gates'], load: async () => (await import('./resources/gates.ts')).bindGateTests },
  {
    at: ['targets'],
    load: async () => (await import('./resources/targets.ts')).bindTargetHealth,
  },
  {
    at: ['targets'],
    load: async () => (await import('./resources/targets.ts')).bindGateFallbacks,
  },
  { at: ['playground'], load: async () => bindPlayground },
  { at: ['keys'], load: async () => (await import('./resources/keys.ts')).bindKeys },
  {
    at: ['owned-models'],
    load: async () => (await import('./resources/owned-models.ts')).bindOwnedModels,
  },
  {
    at: ['provider-keys'],
    load: async () => (await import('./resources/provider-keys.ts')).bindProviderKeys,
  },
  // Before the single call, whose path would match it.
  { at: ['logs'], load: async () => (await import('./calls/logs.ts')).bindLogExport },
  { at: ['logs'], load: async () => (await import('./calls/logs.ts')).bindLogs },
  { at: ['analytics'], load: async () => (await import('./calls/analytics.ts')).bindAnalytics },
  { at: ['costs'], load: async () => (await import('./calls/costs.ts')).bindCosts },
  { at: ['providers'], load: async () => (await import('./resources/providers.ts')).bindProviders },
  {
    at: ['provider-models'],
    load: async () => (await import('./resources/providers.ts')).bindProviderModels,
  },
  { at: ['audit-log'], load: async () => (await import('./resources/audit-log.ts')).bindAuditLog },
  { at: ['account'], load: async () => (await import('./users/account.ts')).bindAccount },
  { at: ['budgets'], load: async () => (await import('./resources/budgets.ts')).bindBudgets },
  { at: ['webhooks'], load: async () => (await import('./resources/webhooks.ts')).bindWebhooks },
  ...PLAIN_PLACES.map(([word, resource]) => ({
    at: [resource.place],
    load: async () => (await import('./resource-routes.ts')).plainResource(word, resource),
  })),
  {
    at: ['conformance'],
    load: async () => (await import('./openapi/conformance.ts')).bindConformance,
  },
  { at: ['account'], load: async () => (await import('./users/account.ts')).bindAccountName },
  { at: ['members'], load: async () => (await import('./users/members.ts')).bindMembers },
  {
    at: ['invitations'],
    load: async () => (await import('./users/members.ts')).bindInvitations,
  },
  { at: ['auth', 'session'], load: async () => (await import('./users/sign-in.ts')).bindSignIn },
  {
    at: ['session', 'sessions'],
    load: async () => (await import('./users/sessions.ts')).bindSessions,
  },
  { at: [DOCUMENT], load: async () => (await import('./openapi/openapi.ts')).bindOpenApi },
  { at: ['docs'], load: async () => bindDocs },
]

/** The word of a path that `at` of its resource names. */
export function placeOf(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3)
  return first === 'v1' ? second : first
}

/** The resources that an address may belong to; none when nothing is there. */
export function resourcesAt(place: string): readonly Resource[] {
  return place === DOCUMENT ? RESOURCES : RESOURCES.filter(({ at }) => at.includes(place))
}
