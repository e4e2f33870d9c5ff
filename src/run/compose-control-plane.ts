/**
 * Connects the control plane with everything that it shows and changes. Called at the first
 * request, because the data plane starts long before zod and OpenAPI are loaded.
 */

import type { ControlPlane } from '../admin/router.ts'
import { loadMasterKeys } from '../config/master-key.ts'
import type { Settings } from '../config/settings.ts'
import type { DialectId } from '../core/dialects.ts'
import { type GatewayError, invalidRequest } from '../core/errors.ts'
import { factsOfTarget } from '../core/gate-facts.ts'
import { DEFAULT_ACCOUNT, type KeyId } from '../core/ids.ts'
import { kindOf } from '../gateway/admit.ts'
import { authenticate, whenFresh } from '../gateway/authenticate.ts'
import type { RevokedCalls } from '../gateway/end-revoked-calls.ts'
import { completeFacts, createRulesOf } from '../gateway/models/rules-of-target.ts'
import { createPipeline, type Pipeline, type PipelinePorts } from '../gateway/pipeline.ts'
import type { ReachableProvider } from '../gateway/plan/compile-target.ts'
import { healthKey } from '../gateway/plan/order-targets.ts'
import { probeProviderKey } from '../gateway/probe/probe-provider-key.ts'
import { testGate } from '../gateway/probe/test-gate.ts'
import { type AddressGuard, AddressRefusedError } from '../net/address-guard.ts'
import { toResponse } from '../net/messages.ts'
import type { Provider } from '../providers/define.ts'
import type { createKeyLimits } from '../snapshots/key-limits.ts'
import type { OwnedModelChecks } from '../snapshots/owned-model-checks.ts'
import { publishReload } from '../store/changes/publish-reload.ts'
import type { Log } from '../telemetry/log.ts'
import type { Telemetry } from '../telemetry/start-telemetry.ts'
import { gatehouseChat } from '../wire/gatehouse-chat/index.ts'
import type { ComposedLedger } from './compose-ledger.ts'
import type { JoinedNode } from './compose-nodes.ts'
import type { State } from './compose-state.ts'
import type { NodeReload } from './reload-nodes.ts'

export interface ControlPlaneParts {
  readonly settings: Settings
  readonly log: Log
  readonly state: State
  readonly ledger: Pick<ComposedLedger, 'prices' | 'show' | 'raise' | 'keepEntries'>
  readonly ports: PipelinePorts
  readonly limitsOf: ReturnType<typeof createKeyLimits>
  readonly addresses: AddressGuard
  readonly checks: OwnedModelChecks
  readonly node: JoinedNode | undefined
  readonly nodeReload: Pick<NodeReload, 'runEverywhere'>
  readonly revoked: RevokedCalls
  readonly telemetry: Telemetry | undefined
  readonly reportFailure: (error: GatewayError, requestId: string) => void
}

export async function composeControlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { settings, log, state, ports, limitsOf, addresses, node, telemetry } = parts
  const { store, keys, gates, ownedModels, providerKeys, usage, budgets, webhooks, breakers } =
    state
  const { prices } = parts.ledger
  const rulesOf = createRulesOf(settings.providers, () => prices.overlay)
  const { providers } = ports
  const pipeline = createPipeline(ports)
  const serveCall = async (...call: Parameters<Pipeline>) => toResponse(await pipeline(...call))
  const { createControlPlane } = await import('../admin/router.ts')
  const { RequestRates } = await import('../admin/request-rates.ts')
  const { createIdentity } = await import('../identity/identity.ts')
  return createControlPlane({
    gates,
    ownedModels,
    checkAddress: (baseUrl) => checkAddress(addresses, baseUrl),
    checkOwnedModel: (model) => parts.checks.check(model),
    keys,
    providerKeys,
    probeProviderKey: (providerId, key) => probeProviderKey(providers.get(providerId), key),
    calls: store.calls,
    auditLog: store.auditLog,
    attribution: state.attribution,
    accounts: store.accounts,
    members: store.members,
    invitations: store.invitations,
    users: store.users,
    async callerOfUser(accountId, userId) {
      await whenFresh(ports)
      ports.freshness?.assertKnown(accountId)
      const stop = state.stops.find(accountId, userId)
      const limits = limitsOf(accountId)
      const fixed = { user: userId, tags: [] }
      return { accountId, keyId: userId as string as KeyId, limits, fixed, stop }
    },
    stops: state.stops,
    async endCalls(id) {
      const here = parts.revoked.end().find((ended) => ended.id === id)?.calls ?? 0
      const all = await node?.confirmEnd(id)
      return { callsEnded: here + (all?.callsEnded ?? 0), nodesNotHeard: all?.nodesNotHeard ?? 0 }
    },
    identity: createIdentity({
      store,
      settings: settings.users,
      masterKey: () =>
        loadMasterKeys({ dataFolder: settings.homeFolder, masterKeys: settings.masterKeys })[0],
      report: (message, cause) => log.warn({ err: cause }, `sign-in: ${message}`),
      // A new account gets its hash key before its first call.
      onMember: (accountId) => void state.attribution.settingsOf(accountId),
    }),
    budgets,
    webhooks: webhooks.registry,
    plain: state.plain,
    testWebhook: (webhook) => webhooks.sender.sendTest(webhook),
    checkWebhookAddress: (url) => addresses.check(url),
    whenCounted: (accountId, shown) => parts.ledger.show(accountId, shown),
    quotaOf: (accountId) => usage.quotaOf(accountId, ports.clock.now()),
    bodyTime: { clock: ports.clock, timeoutMs: settings.bodyTimeoutMs },
    retention: {
      callLogDays: settings.retentionDays,
      hourlySumsDays: settings.hourlyDays,
      auditLogDays: settings.auditRetentionDays,
    },
    usage: store.usage,
    sessions: store.sessions,
    endUsers: store.endUsers,
    nameHashes: state.attribution,
    callerNames: store.callerNames,
    operatorAccount: ports.operatorAccount,
    raiseLimits: (accountId) => parts.ledger.raise(accountId),
    hasOperatorApi: settings.hasOperatorApi,
    modelPrices: {
      find: (target) => state.modelPrices.find(DEFAULT_ACCOUNT, target),
      sourceOf: (target) => prices.sourceWithoutAdded(target, ports.clock.now()),
      set: (thing, price) => state.modelPrices.set(thing, price),
      delete: (thing) => state.modelPrices.delete(thing),
    },
    reload: (accountId) =>
      parts.nodeReload.runEverywhere((published) =>
        publishReload(store.database, { ...published, accountId }),
      ),
    prices: {
      source: () => prices.source,
      recompute: (call, wrong) => prices.recompute(call, call.cost, wrong),
      partsOf: (call) => prices.partsOf(call, call.cost),
      estimateAt: ({ accountId, dialect, usage, startedAt }, target) =>
        prices.costOf({
          ...{ accountId, target, usage, startedAt },
          estimateAs: kindOf({ id: dialect as DialectId }),
        }).nanoUsd,
      knownAt: ({ accountId, usage, startedAt }, target) =>
        prices.isPriced(accountId, target, { at: startedAt })
          ? (prices.costOf({ accountId, target, usage, startedAt }).nanoUsd ?? undefined)
          : undefined,
      keepEntries: () => parts.ledger.keepEntries(),
    },
    providers: settings.providers.map((provider) =>
      describeProvider(provider, providerKeys, providers),
    ),
    factsOf: (target) => factsOfTarget(ports.facts, target),
    rulesOf,
    modelsOf: (providerId) => prices.modelsOf(providerId, ports.clock.now()),
    describeModel(target, listed) {
      const details = prices.describe(target, ports.clock.now(), listed)
      return { ...details, facts: completeFacts(details.facts, rulesOf(target)) }
    },
    seenOf: (accountId, target) => breakers.seenOf(healthKey({ accountId }, { model: target })),
    seenSinceMs: breakers.sinceMs,
    async authenticate(headers, address) {
      await whenFresh(ports)
      return authenticate(ports, headers, () => address)
    },
    requestRates: new RequestRates({
      perAccount: settings.controlPlane.accountRequestsPerMinute,
      perAddress: settings.controlPlane.addressRequestsPerMinute,
      clock: ports.clock,
    }),
    confirmChanges: node?.confirm,
    testGate: (caller, gate) => testGate(ports, caller, gate),
    serveChat: (request, call) => serveCall(request, gatehouseChat, call),
    onAnswered: telemetry?.noteControlRequest,
    onFailure: parts.reportFailure,
  })
}

async function checkAddress(addresses: AddressGuard, baseUrl: string): Promise<void> {
  try {
    await addresses.check(baseUrl)
  } catch (thrown) {
    if (!(thrown instanceof AddressRefusedError)) throw thrown
    throw invalidRequest(`baseUrl: ${thrown.message}`, 'baseUrl')
  }
}

function describeProvider(
  provider: Provider,
  keys: Pick<State['providerKeys'], 'hasPlatform'>,
  reachable: ReadonlyMap<string, ReachableProvider>,
) {
  const { id, name, docs, endpoints } = provider
  const hasAddress = reachable.has(id)
  return {
    ...{ id, name, docs: docs ?? null, dialects: Object.keys(endpoints), hasAddress },
    /** A reload may bring the first key. */
    get configured() {
      return keys.hasPlatform(id) && hasAddress
    },
  }
}
