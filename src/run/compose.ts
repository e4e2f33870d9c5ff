/**
 * Constructs a whole gateway from its settings: the only place where ports meet their
 * implementations.
 */
import { hostname } from 'node:os'
import packageJson from '../../package.json' with { type: 'json' }
import type { ControlPlane } from '../admin/router.ts'
import type { Settings } from '../config/settings.ts'
import { systemClock, type Timekeeper } from '../core/clock.ts'
import type { ConfigurationReport } from '../core/configuration-report.ts'
import type { GatewayError } from '../core/errors.ts'
import { isHttps } from '../core/http.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { createPlans, type PlansSection, ReplaceablePlans } from '../core/plan.ts'
import { shippedFile } from '../core/shipped-files.ts'
import { createDashboard } from '../dashboard/create-dashboard.ts'
import { CallHeaders } from '../gateway/attempt/call-headers.ts'
import type { CircuitBreakers } from '../gateway/attempt/circuit-breakers.ts'
import { RefusedMembers } from '../gateway/attempt/refused-members.ts'
import { BodyBudget } from '../gateway/call.ts'
import { createDataPlane } from '../gateway/data-plane.ts'
import { RevokedCalls } from '../gateway/end-revoked-calls.ts'
import { UsualOutput } from '../gateway/estimate-output.ts'
import { completeFacts, createRulesOf } from '../gateway/models/rules-of-target.ts'
import type { PipelinePorts } from '../gateway/pipeline.ts'
import type { ReachableProvider } from '../gateway/plan/compile-target.ts'
import { readHealthKey, TargetOrder } from '../gateway/plan/order-targets.ts'
import { probeOwnedModel } from '../gateway/probe/probe-owned-model.ts'
import { SeenReasoning } from '../gateway/settle/seen-reasoning.ts'
import { TurnTargets } from '../gateway/turn-targets.ts'
import type { Journal } from '../ledger/journal.ts'
import type { PriceBook } from '../ledger/price-book.ts'
import { shipperLagSeconds } from '../ledger/shipper.ts'
import { AddressGuard, type ResolveHost } from '../net/address-guard.ts'
import type { AddressOf } from '../net/client-address.ts'
import { ConnectionPools, Routes } from '../net/connection-pools.ts'
import { Deadlines } from '../net/deadlines.ts'
import { type Answer, type HttpRequest, toResponse } from '../net/messages.ts'
import { areUsedUp, type DescriptorFigures, ownDescriptors } from '../net/open-descriptors.ts'
import { Proxies } from '../net/proxies.ts'
import { SocketExchange } from '../net/socket-exchange.ts'
import { TrustedHosts } from '../net/trusted-hosts.ts'
import type { GateRegistry } from '../snapshots/gate-registry.ts'
import { createKeyLimits } from '../snapshots/key-limits.ts'
import type { KeyRegistry } from '../snapshots/key-registry.ts'
import { OwnedModelChecks } from '../snapshots/owned-model-checks.ts'
import type { InstallationWatch } from '../store/installation/watch-installation.ts'
import type { LeveledLog, Log } from '../telemetry/log.ts'
import { tellMetricsPort } from '../telemetry/metrics.ts'
import {
  startTelemetry,
  type Telemetry,
  type TelemetryOfWorker,
} from '../telemetry/start-telemetry.ts'
import type { TagLabels } from '../telemetry/tag-labels.ts'
import { refuseForwarding } from './check-settings.ts'
import { composeControlPlane } from './compose-control-plane.ts'
import { composeFuses } from './compose-fuses.ts'
import { type ComposedLedger, composeLedger } from './compose-ledger.ts'
import { type ComposedLimits, composeLimits } from './compose-limits.ts'
import type { JoinedNode } from './compose-nodes.ts'
import { abandonState, joinNodes, openState } from './compose-state.ts'
import { followCosts } from './follow-costs.ts'
import { createReadiness } from './readiness.ts'
import { ConfigurationReload } from './reload-configuration.ts'
import { NodeReload } from './reload-nodes.ts'
import { createRouter } from './server.ts'

export const VERSION = packageJson.version

export interface Gatehouse {
  readonly keys: KeyRegistry
  readonly gates: GateRegistry
  handle(request: Request, addressOf?: AddressOf): Promise<Response>
  readonly serve: (request: HttpRequest, addressOf?: AddressOf) => Promise<Answer>
  /** A handler for a separate metrics listener; undefined without such a listener. */
  readonly metrics: Telemetry['metrics']
  beginDraining(): void
  readonly renderMetrics: Telemetry['renderMetrics']
  /** Reloads the configuration file in this process; never rejects. */
  reload(): Promise<ConfigurationReport>
  catchUp(): Promise<void>
  cutOff(): void
  close(): Promise<void>
}

export interface ComposeOptions {
  readonly settings: Settings
  readonly log: LeveledLog
  /** Reads the source of `settings` again, and throws on errors. Defaults to `settings`. */
  readonly readSettings?: () => Promise<Settings>
  /** Called with the ids of reloads of all nodes that this process begins. */
  readonly onReloadBegun?: ((ids: readonly string[]) => void) | undefined
  readonly knownAddresses?: ReadonlyMap<string, string>
  readonly plans?: PlansSection | undefined
  readonly clock?: Timekeeper
  readonly resolveHost?: ResolveHost
  readonly hasTelemetry?: boolean
  readonly worker?: TelemetryOfWorker | undefined
}

/**
 * @throws DataFolderInUseError, NewerDatabaseError, MigrationFailedError or
 * DatabaseUnreachableError, when the gateway cannot serve
 */
export async function composeGatehouse({
  settings,
  log,
  readSettings = async () => settings,
  onReloadBegun,
  knownAddresses,
  plans: plansSection,
  clock = systemClock,
  resolveHost,
  hasTelemetry = false,
  worker,
}: ComposeOptions): Promise<Gatehouse> {
  // Checked before anything is opened, so that a wrong setting leaves nothing behind.
  const trustedHosts = new TrustedHosts(settings.trustedHosts)
  refuseForwarding(settings.forwardedHeaders)
  const proxies = new Proxies(settings.proxyVariables)
  if (proxies.hasUnusable) log.warn({}, UNUSABLE_PROXY)
  const addresses = new AddressGuard({
    trustedHosts,
    resolve: resolveHost,
    isProxied: (url) => proxies.find(url) !== undefined,
  })
  const { requestsPerMinute, concurrentCalls } = settings
  const plansOf = (section: PlansSection | undefined) =>
    createPlans(section, { requestsPerMinute, concurrentCalls })
  const plans = new ReplaceablePlans(plansOf(plansSection))
  const limitsOf = createKeyLimits(plans)
  // Changes before the price book exists are in what it begins with.
  let prices: PriceBook | undefined
  const replacePrices = ({ models }: Settings) =>
    prices?.replaceOverlay(models.current, state.modelPrices.entries())
  const state = await openState({
    settings,
    version: VERSION,
    log,
    plans,
    limitsOf,
    addresses,
    clock,
    onPricesChanged: () => prices && replacePrices(reload.settings),
  })
  const { lock, store, keys, gates, ownedModels, providerKeys, usage, webhooks, breakers } = state
  const shared = await composeLimits(settings.redis, {
    usage,
    log,
    clock,
    installationId: settings.database === undefined ? undefined : state.installationId,
    onOther: (found) => webhooks.publishOtherRedis({ found, expected: state.installationId }),
  }).catch(async (error: unknown) => {
    await abandonState(state)
    throw error
  })
  const addressesKnown = knownAddresses ?? new Map<string, string>()
  const providers = reachableProviders(settings, addressesKnown)
  const deadlines = new Deadlines()
  const revoked = new RevokedCalls({
    clock,
    keys,
    stops: state.stops,
    sessions: {
      findThere: (ids) => store.users.findSessions(ids),
      reportFailure: (cause) =>
        log.warn({ err: cause }, 'sessions of open calls were not looked up'),
    },
    deadlines,
    withinMs: settings.revokedCallsMs,
  })
  const reload = new ConfigurationReload({
    ...{ log, settings, read: readSettings },
    apply(next, changed) {
      plans.replace(plansOf(next.plans))
      keys.renewLimits()
      providerKeys.replacePlatform(next.providerKeys)
      moveProviders(providers, next, addressesKnown)
      if (changed.includes('models')) replacePrices(next)
    },
    // The supervisor, not a worker, records the file in the shared data folder.
    ownsFolder: worker === undefined,
  })
  const nodeReload = new NodeReload({
    ...{ reload, log, host: hostname(), onBegun: onReloadBegun },
    worker: worker?.index ?? null,
  })
  // Corrections before the ledger exists are in the sums that the ledger reads first.
  let raise: ComposedLedger['raise'] = async () => {}
  const costs = followCosts((accountId) => raise(accountId), log)
  const node = await joinNodes(state, shared, settings, { reload: nodeReload, costs, revoked })
  await nodeReload.join(node)
  // A reload may have been followed meanwhile, so the settings come from `reload`.
  const ledger = composeLedger({ settings: reload.settings, log, state, limits: shared, clock })
  const { journal } = ledger
  prices = ledger.prices
  raise = (accountId) => ledger.raise(accountId)
  node?.onBack(() => {
    ledger.hurry()
    void nodeReload.report()
  })
  webhooks.sender.wake()
  webhooks.tokenEnds.start()
  const pools = new ConnectionPools(clock, settings.connections)
  const descriptors = ownDescriptors()
  const watched = {
    ...{ log, journal, breakers, pools, worker, descriptors },
    ...{ watch: state.watch, tagLabels: state.tagLabels, redis: shared.redis, node: node?.state },
    // The supervisor reads the file first and counts the reloads of all workers, so a worker counts
    // none.
    reloads: worker === undefined ? reload : undefined,
  }
  const telemetry = hasTelemetry ? await openTelemetry(settings, watched) : undefined
  const rulesOf = createRulesOf(settings.providers, () => ledger.prices.overlay)
  const exchangePorts = { deadlines, routes: new Routes(proxies), pools }
  const reportFailure = (error: GatewayError, requestId: string) =>
    logFailure(log, error, requestId)
  const ports: PipelinePorts = {
    clock,
    keys,
    freshness: node?.freshness,
    attributions: state.attributions,
    gates,
    ownedModels,
    addresses,
    limits: shared.limits,
    ledger: journal,
    refusals: ledger.refusals,
    prices: ledger.callPrices,
    facts: {
      factsOf: (providerId, model) =>
        completeFacts(ledger.prices.factsOf(providerId, model), rulesOf(`${providerId}/${model}`)),
    },
    overlay: () => ledger.prices.overlay,
    credentials: providerKeys,
    providers,
    breakers,
    unusable: webhooks.unusable,
    refusedMembers: new RefusedMembers(clock),
    reasoning: new SeenReasoning(),
    usualOutput: new UsualOutput(),
    turns: new TurnTargets(),
    fuses: composeFuses(state, log, clock),
    order: new TargetOrder(breakers),
    upstream: { open: (request) => new SocketExchange(exchangePorts, request) },
    deadlines,
    revoked,
    isOutOfDescriptors: descriptors === undefined ? undefined : () => areUsedUp(descriptors),
    timeouts: settings.timeouts,
    keepAliveMs: settings.keepAliveMs,
    commitAfterMs: settings.commitAfterMs,
    callHeaders: new CallHeaders(settings.forwardedHeaders),
    operatorAccount: settings.defaultAccount === 'operator' ? DEFAULT_ACCOUNT : undefined,
    bodyBudget: new BodyBudget(settings.maxHeldBodyBytes),
    bodyLimits: { maxBodyBytes: settings.maxBodyBytes, bodyTimeoutMs: settings.bodyTimeoutMs },
    observer: telemetry?.observer,
    reportFailure,
  }
  const stopEnding = revoked.start()
  const checks = new OwnedModelChecks({
    ownedModels,
    clock: clock,
    probe: (model, owned, options) =>
      probeOwnedModel(ports, model, owned, { ...options, timeoutMs: settings.probeTimeoutMs }),
    onFailure: (error, { slug }) =>
      log.error({ slug, err: error }, "the result of an owned model's check could not be stored"),
  })
  const parts = {
    ...{ settings, log, state, ledger, ports, checks },
    ...{ limitsOf, addresses, node, nodeReload, telemetry, reportFailure, revoked },
  }
  let controlPlane: Promise<ControlPlane> | undefined
  let isDraining = false
  const hasOwnPort = settings.telemetry.metrics?.port !== undefined
  const serve = createRouter({
    dataPlane: createDataPlane(ports),
    controlPlane: () => {
      controlPlane ??= composeControlPlane(parts)
      return controlPlane
    },
    dashboard: createDashboard(DASHBOARD_FOLDER),
    clientAddressHeader: settings.users.clientAddressHeader,
    isSecure: isHttps(settings.users.publicOrigin),
    version: VERSION,
    metrics: hasOwnPort ? tellMetricsPort : telemetry?.metrics,
    readiness: createReadiness({
      ...{ journal, usage, watch: state.watch, redis: shared.redis, node, reload: nodeReload },
    }),
    isDraining: () => isDraining,
  })
  return {
    keys,
    gates,
    metrics: hasOwnPort ? telemetry?.metrics : undefined,
    renderMetrics: telemetry?.renderMetrics,
    serve,
    handle: async (request, addressOf) => toResponse(await serve(request, addressOf)),
    beginDraining() {
      isDraining = true
    },
    reload: () => nodeReload.run(),
    catchUp: async () => await node?.catchUp(),
    cutOff: () => deadlines.expireAll(),
    async close() {
      stopEnding()
      await checks.close()
      await telemetry?.close()
      pools.close()
      await shared.close()
      await keys.close()
      await state.callerNames.close()
      await providerKeys.close()
      await ledger.close()
      await webhooks.close()
      await state.node?.close()
      await state.watch.close()
      await store.close()
      lock.release()
    },
  }
}

const DASHBOARD_FOLDER = shippedFile('dist/dashboard')

interface Watched {
  readonly log: Log
  readonly journal: Journal
  readonly breakers: CircuitBreakers
  readonly watch: InstallationWatch
  readonly redis: ComposedLimits['redis']
  readonly worker: TelemetryOfWorker | undefined
  readonly node: JoinedNode['state'] | undefined
  readonly pools: ConnectionPools
  readonly descriptors: DescriptorFigures | undefined
  readonly reloads: { readonly refused: number } | undefined
  readonly tagLabels: TagLabels | undefined
}

function openTelemetry(
  settings: Settings,
  {
    log,
    journal,
    breakers,
    watch,
    redis,
    node,
    worker,
    pools,
    descriptors,
    reloads,
    tagLabels,
  }: Watched,
): Promise<Telemetry> {
  return startTelemetry(settings.telemetry, {
    log,
    version: VERSION,
    worker,
    tagLabels,
    providerNames: new Map(
      settings.providers.map(({ id, telemetryName }) => [id, telemetryName ?? id]),
    ),
    sources: {
      connections: () => pools.counts(),
      handles: descriptors,
      reloads,
      journal: () => journal.state(),
      shipperLag: () => shipperLagSeconds(journal.closed),
      redis,
      node,
      installation: () => ({ isRight: watch.standing === 'ok', setBacks: watch.setBacks }),
      openBreakers: () => Array.from(breakers.notWell(), (key) => readHealthKey(key).target),
    },
  })
}

function reachableProviders(
  settings: Settings,
  knownAddresses: ReadonlyMap<string, string>,
): Map<string, ReachableProvider> {
  const reachable = new Map<string, ReachableProvider>()
  for (const provider of settings.providers) {
    const baseUrl =
      settings.providerBaseUrls.get(provider.id) ??
      knownAddresses.get(provider.id) ??
      provider.baseUrl
    if (baseUrl !== undefined) reachable.set(provider.id, { ...provider, baseUrl })
  }
  return reachable
}

/**
 * Gives the known providers the addresses of a reloaded file. An unchanged provider stays the same
 * object, so its compiled targets stay too; calls in flight keep theirs.
 */
function moveProviders(
  providers: Map<string, ReachableProvider>,
  next: Settings,
  knownAddresses: ReadonlyMap<string, string>,
): void {
  for (const { id, baseUrl } of reachableProviders(next, knownAddresses).values()) {
    const current = providers.get(id)
    if (current !== undefined && current.baseUrl !== baseUrl)
      providers.set(id, { ...current, baseUrl })
  }
}

/** TLS inside TLS hangs in this runtime, so such calls are refused (docs/decisions/0043). */
const UNUSABLE_PROXY =
  'the proxy for https upstreams itself has an https:// address: calls that need it will ' +
  'fail. Give it as http://'

function logFailure(log: Log, error: GatewayError, requestId: string): void {
  log.error({ requestId, err: error.cause ?? error }, 'a request failed inside the gateway')
}
