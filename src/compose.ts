/** Constructs a whole gateway from its settings: the one place where ports meet what satisfies them. Does not listen. */
import packageJson from '../package.json' with { type: 'json' }
import type { ControlPlane } from './admin/router.ts'
import type { BudgetAlert } from './cluster/budget-counter.ts'
import { BudgetRegistry } from './cluster/budget-registry.ts'
import { GateRegistry } from './cluster/gate-registry.ts'
import { createKeyLimits } from './cluster/key-limits.ts'
import { KeyRegistry } from './cluster/key-registry.ts'
import { keepLoading, loadUsage } from './cluster/load-usage.ts'
import { OwnedModelRegistry } from './cluster/owned-model-registry.ts'
import { ProviderKeyRegistry } from './cluster/provider-key-registry.ts'
import { UsageLimits } from './cluster/usage-limits.ts'
import { type ComposedLimits, composeLimits, redisCheck } from './compose-limits.ts'
import { composeWebhooks, type Webhooks } from './compose-webhooks.ts'
import { loadMasterKeys, openVault } from './config/master-key.ts'
import type { Settings } from './config/settings.ts'
import { steadyClock } from './core/clock.ts'
import { type GatewayError, invalidRequest } from './core/errors.ts'
import type { KeyId } from './core/ids.ts'
import { OWNED_PREFIX, type OwnedModel } from './core/owned-model.ts'
import { createPlans, type Plans, type PlansSection } from './core/plan.ts'
import { shippedFile } from './core/shipped-files.ts'
import { createDashboard } from './dashboard/create-dashboard.ts'
import { authenticate } from './gateway/authenticate.ts'
import { createDataPlane } from './gateway/data-plane.ts'
import { healthKey, healthKeyPrefix, readHealthKey, TargetOrder } from './gateway/order-targets.ts'
import { createPipeline, type PipelinePorts } from './gateway/pipeline.ts'
import type { ReachableProvider } from './gateway/plan-targets.ts'
import type { Prices } from './gateway/ports.ts'
import { type ProbeResult, probeOwnedModel } from './gateway/probe-owned-model.ts'
import { TargetHealth } from './gateway/target-health.ts'
import { testGate } from './gateway/test-gate.ts'
import { Journal } from './ledger/journal.ts'
import type { LedgerEvent } from './ledger/ledger-event.ts'
import { PastUsage, type PastUsageOptions } from './ledger/past-usage.ts'
import { PriceBook } from './ledger/price-book.ts'
import { priceRecords } from './ledger/price-records.ts'
import { Retention } from './ledger/retention.ts'
import { Shipper } from './ledger/shipper.ts'
import { shipperLagSeconds } from './ledger/shipper-lag.ts'
import { catalog } from './providers/catalog.ts'
import { type Provider, pricingOf } from './providers/define.ts'
import { type AddressOf, createRouter } from './server.ts'
import { AuditRetention } from './store/audit-retention.ts'
import { lockDataFolder } from './store/data-folder.ts'
import { locateStore } from './store/open-database.ts'
import { openStore, type Store } from './store/open-store.ts'
import type { Log } from './telemetry/log.ts'
import { startTelemetry, type Telemetry } from './telemetry/start-telemetry.ts'
import { AddressGuard, AddressRefusedError, type ResolveHost } from './upstream/address-guard.ts'
import { Deadlines } from './upstream/deadlines.ts'
import { TrustedHosts } from './upstream/trusted-hosts.ts'
import { gatehouseChat } from './wire/gatehouse-chat/gatehouse-chat.ts'

export const VERSION = packageJson.version

const LOAD_PRICES_AFTER_MS = 1_000

export interface Gatehouse {
  readonly keys: KeyRegistry
  readonly gates: GateRegistry
  /** Every path of the gateway; the same in a server and in the command line's own process. */
  handle(request: Request, addressOf?: AddressOf): Promise<Response>
  /** For a listener of its own; undefined where `handle` serves it, or nobody does. */
  readonly metrics: Telemetry['metrics']
  /** Ends every wait for an upstream, so that open calls fail in their own dialect now rather than later. */
  cutOff(): void
  /** Flushes everything and gives the data folder back. */
  close(): Promise<void>
}

export interface ComposeOptions {
  readonly settings: Settings
  readonly log: Log
  /** Provider id → an address that the operator did not have to give (the mounted sandbox's). */
  readonly knownAddresses?: ReadonlyMap<string, string>
  /** From the operator's configuration file; absent: the plans that are built in. */
  readonly plans?: PlansSection | undefined
  /** The operating system's when absent. */
  readonly resolveHost?: ResolveHost
  /** Metrics, traces and the access log, as the settings say; a server has them, and the command line has not. */
  readonly hasTelemetry?: boolean
}

/** @throws DataFolderInUseError, NewerDatabaseError, MigrationFailedError or DatabaseUnreachableError: there is no serving then */
export async function composeGatehouse({
  settings,
  log,
  knownAddresses,
  plans: plansSection,
  resolveHost,
  hasTelemetry = false,
}: ComposeOptions): Promise<Gatehouse> {
  // Before anything is opened: a setting that is wrong leaves nothing behind.
  const trustedHosts = new TrustedHosts(settings.trustedHosts)
  const addresses = new AddressGuard({ trustedHosts, resolve: resolveHost })
  const { requestsPerMinute, concurrentCalls } = settings
  const plans = createPlans(plansSection, { requestsPerMinute, concurrentCalls })
  const limitsOf = createKeyLimits(plans)
  const state = await openState({ settings, log, plans, limitsOf, addresses })
  const { lock, store, keys, gates, ownedModels, providerKeys, usage, budgets, webhooks, health } = state
  const shared = await composeLimits(settings.redis, usage, log)
  const report = (event: LedgerEvent) => reportLedgerEvent(log, event)
  const journal = new Journal(settings.dataFolder, { onFailure: settings.ledgerFailure, report })
  const prices = new PriceBook({
    // Not the operator's own providers: no table knows what they charge.
    providers: new Map(catalog.map((provider) => [provider.id, pricingOf(provider)])),
    declaredPrices(accountId, slug) {
      const declared = ownedModels.pricesOf(accountId, `${OWNED_PREFIX}/${slug}`)
      if (declared === undefined) return undefined
      const { pricingInput, pricingOutput, pricingCachedInput } = declared
      return { input: pricingInput, output: pricingOutput, cachedInput: pricingCachedInput }
    },
  })
  const reportPricing = (error: unknown) => log.error({ err: error }, 'calls could not be priced')
  // What cannot be priced must not keep a call from its end.
  const callPrices: Prices = {
    priceOf: (call) => tryPrices(() => prices.costOf(call)),
  }
  // Ahead of the first call that needs it, and not in the way of the first of all.
  setTimeout(() => tryPrices(() => prices.load()), LOAD_PRICES_AFTER_MS).unref()
  const shipper = new Shipper(
    journal,
    (records, pauseMs) => store.calls.insertMany(priceRecords(prices, records, reportPricing), pauseMs),
    { report },
  )
  const auditRetention = new AuditRetention({
    days: settings.auditRetentionDays,
    auditLog: store.auditLog,
    onFailure: (error) => log.error({ err: error }, 'old rows of the audit log could not be deleted'),
  })
  auditRetention.start()
  const closing = new AbortController()
  const past = { segments: journal.closed.list(), nowMs: steadyClock.now(), signal: closing.signal }
  const loading = keepLoading({
    usage,
    load: async () => {
      const sums = await openPastUsage(store, log, { ...past, prices: callPrices })
      await loadUsage(usage, budgets, { sums, nowMs: past.nowMs })
    },
    signal: closing.signal,
    onFailure: (error) =>
      log.error({ err: error }, 'what was used before could not be read: calls with a quota or budget fail'),
  }).then((isLoaded) => {
    // Not before: what this process records is counted as it ends, and must not be in the sums as well.
    if (!isLoaded) return
    shipper.start()
    retention.start()
  })
  shared.recountWith(async () => {
    const { signal } = closing
    const sums = await openPastUsage(store, log, { segments: [], signal, prices: callPrices })
    await loadUsage(usage, budgets, { sums, nowMs: steadyClock.now() })
  })
  webhooks.sender.wake()
  const retention = new Retention({
    days: settings.retentionDays,
    store,
    ship: () => shipper.ship(),
    onFailure: (error) => log.error({ err: error }, 'old calls could not be deleted; tried again in an hour'),
  })
  const watched = { log, journal, health, redis: shared.redis }
  const telemetry = hasTelemetry ? await openTelemetry(settings, watched) : undefined
  const deadlines = new Deadlines()
  const providers = reachableProviders(settings, knownAddresses ?? new Map())
  const ports: PipelinePorts = {
    clock: steadyClock,
    keys,
    gates,
    ownedModels,
    addresses,
    limits: shared.limits,
    ledger: journal,
    prices: callPrices,
    credentials: providerKeys,
    providers,
    health,
    order: new TargetOrder(health),
    deadlines,
    timeouts: settings.timeouts,
    keepAliveMs: settings.keepAliveMs,
    bodyLimits: { maxBodyBytes: settings.maxBodyBytes, bodyTimeoutMs: settings.bodyTimeoutMs },
    observer: telemetry?.observer,
    reportFailure: (error, callId) => logFailure(log, error, callId),
  }

  const serveCall = createPipeline(ports)
  let controlPlane: Promise<ControlPlane> | undefined
  /** Loaded when first asked for: the data plane answers long before zod and OpenAPI are there. */
  async function loadControlPlane(): Promise<ControlPlane> {
    const { createControlPlane } = await import('./admin/router.ts')
    const { createIdentity } = await import('./identity/create-identity.ts')
    return createControlPlane({
      gates,
      ownedModels,
      checkAddress: (baseUrl) => checkAddress(addresses, baseUrl),
      probeOwnedModel: (model) => probe(ports, model),
      keys,
      providerKeys,
      calls: store.calls,
      auditLog: store.auditLog,
      accounts: store.accounts,
      members: store.members,
      invitations: store.invitations,
      users: store.users,
      callerOfUser: (accountId, userId) => ({
        accountId,
        keyId: userId as string as KeyId,
        limits: limitsOf(accountId),
      }),
      identity: createIdentity({
        store,
        settings: settings.users,
        masterKey: () => loadMasterKeys(settings, process.env)[0],
        report: (message, cause) => log.warn({ err: cause }, `sign-in: ${message}`),
      }),
      budgets,
      webhooks: webhooks.registry,
      testWebhook: (webhook) => webhooks.sender.sendTest(webhook),
      checkWebhookAddress: (url) => addresses.check(url),
      whenCounted: () => usage.whenCounted(),
      quotaOf: (accountId) => usage.quotaOf(accountId, steadyClock.now()),
      retention: { callLogDays: settings.retentionDays, auditLogDays: settings.auditRetentionDays },
      usage: store.usage,
      prices: {
        source: () => prices.source,
        recompute: (call) => prices.recompute(call, call.cost),
        partsOf: (call) => prices.partsOf(call, call.cost),
      },
      providers: settings.providers.map((provider) => describeProvider(provider, settings, providers)),
      modelsOf: (providerId) => prices.modelsOf(providerId, steadyClock.now()),
      seenOf: (accountId, target) => health.seenOf(healthKey({ accountId }, { model: target })),
      authenticate: (headers) => authenticate(ports, headers),
      testGate: (caller, gate) => testGate(ports, caller, gate),
      serveChat: (request, call) => serveCall(request, gatehouseChat, call),
      onAnswered: telemetry?.noteControlRequest,
      onFailure: (error, requestId) => logFailure(log, error, requestId),
    })
  }

  const hasOwnPort = settings.telemetry.metrics?.port !== undefined
  return {
    keys,
    gates,
    metrics: hasOwnPort ? telemetry?.metrics : undefined,
    handle: createRouter({
      dataPlane: createDataPlane(ports),
      controlPlane: () => {
        controlPlane ??= loadControlPlane()
        return controlPlane
      },
      dashboard: createDashboard(DASHBOARD_FOLDER),
      clientAddressHeader: settings.users.clientAddressHeader,
      version: VERSION,
      metrics: hasOwnPort ? undefined : telemetry?.metrics,
      readiness: () => readiness(journal.state(), shared.redis),
    }),
    cutOff: () => deadlines.expireAll(),
    async close() {
      await telemetry?.close()
      await shared.close()
      await keys.close()
      await providerKeys.close()
      await auditRetention.stop()
      closing.abort()
      await loading
      await retention.stop()
      await shipper.stop()
      // What a failing store leaves behind is shipped at the next start.
      await shipper
        .ship()
        .catch((error) => log.warn({ err: error }, 'the journal could not be shipped; it is kept'))
      journal.close()
      await webhooks.close()
      await store.close()
      lock.release()
    },
  }
}

interface StateOptions {
  readonly settings: Settings
  readonly log: Log
  readonly plans: Plans
  readonly limitsOf: ReturnType<typeof createKeyLimits>
  readonly addresses: AddressGuard
}

/** What is on disk, and its image in memory. Nothing stays open when one part of it fails. */
async function openState({ settings, log, plans, limitsOf, addresses }: StateOptions) {
  const lock = lockDataFolder(settings.dataFolder)
  let store: Store | undefined
  try {
    store = await openStore(locateStore(settings))
    // One for all that is sealed: it notices a rotation of the master key.
    const vault = openVault(settings)
    const gates = await GateRegistry.load({ gates: store.gates })
    const ownedModels = await OwnedModelRegistry.load({
      ownedModels: store.ownedModels,
      vault,
      onChanged: (accountId, slug) => health.forgetFailures(healthKeyPrefix(accountId, OWNED_PREFIX) + slug),
      onUnopened: ({ accountId, slug }, error) =>
        log.error(
          { accountId, slug, err: error },
          'the credential of an owned model cannot be decrypted: its calls fail',
        ),
    })
    const keys = await KeyRegistry.load({
      keys: store.keys,
      limitsOf,
      onFlushFailure: (error) =>
        log.error({ err: error }, 'last-used times could not be written; they are kept'),
    })
    const webhooks: Webhooks = await composeWebhooks({ store, vault, log, addresses })
    const health = new TargetHealth(steadyClock, (key, restsUntilMs) => {
      const { accountId, target } = readHealthKey(key)
      webhooks.degraded.note(accountId, target, restsUntilMs)
    })
    const providerKeys = await ProviderKeyRegistry.load({
      keys: store.providerKeys,
      vault,
      platform: settings.providerKeys,
      onFlushFailure: (error) =>
        log.error({ err: error }, 'last-used times of provider keys could not be written; they are kept'),
      // A target that rests because a key was refused is asked again with the next one at once.
      onChanged: (accountId, providerId) => health.forgetFailures(healthKeyPrefix(accountId, providerId)),
      onUnopened: ({ accountId, providerId }, error) =>
        log.error(
          { accountId, providerId, err: error },
          'a provider key cannot be decrypted: its calls fail',
        ),
    })
    const onAlert = (alert: BudgetAlert) => webhooks.publishBudgetAlert(alert)
    const usage = new UsageLimits({ plans, onAlert })
    const budgets = await BudgetRegistry.load({ budgets: store.budgets, usage })
    return { lock, store, keys, gates, ownedModels, providerKeys, usage, budgets, webhooks, health }
  } catch (error) {
    await store?.close()
    lock.release()
    throw error
  }
}

/** Where scripts/build-dashboard.ts puts it. */
const DASHBOARD_FOLDER = shippedFile('dist/dashboard')

/** A table that does not load is told with the next calls that are stored. @returns undefined then */
function tryPrices<Result>(ask: () => Result): Result | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}

function openPastUsage(
  store: Store,
  log: Log,
  past: Pick<PastUsageOptions, 'segments' | 'signal' | 'prices'>,
): Promise<PastUsage> {
  return PastUsage.open({
    sums: store.usageSums,
    beginnings: store.budgetBeginnings,
    segments: past.segments,
    signal: past.signal,
    prices: past.prices,
    onUnreadable: (path, cause) =>
      log.error(
        { path, err: cause },
        'a segment of the journal cannot be read: quotas do not count what it holds',
      ),
  })
}

/** @throws GatewayError `invalid_request` naming the field */
async function checkAddress(addresses: AddressGuard, baseUrl: string): Promise<void> {
  try {
    await addresses.check(baseUrl)
  } catch (thrown) {
    if (!(thrown instanceof AddressRefusedError)) throw thrown
    throw invalidRequest(`baseUrl: ${thrown.message}`, 'baseUrl')
  }
}

async function probe(ports: PipelinePorts, model: OwnedModel): Promise<ProbeResult> {
  const upstream = ports.ownedModels.find(model.accountId, model.slug)
  // Deleted in the same moment.
  if (upstream === undefined)
    return { status: 'unreachable', latencyMs: 0, detail: 'It is not registered any more.' }
  return await probeOwnedModel(ports, model, upstream)
}

interface Watched {
  readonly log: Log
  readonly journal: Journal
  readonly health: TargetHealth
  readonly redis: ComposedLimits['redis']
}

function openTelemetry(settings: Settings, { log, journal, health, redis }: Watched): Promise<Telemetry> {
  return startTelemetry(settings.telemetry, {
    log,
    version: VERSION,
    providerNames: new Map(settings.providers.map(({ id, telemetryName }) => [id, telemetryName ?? id])),
    sources: {
      journal: () => journal.state(),
      shipperLag: () => shipperLagSeconds(journal.closed),
      redis,
      openBreakers: () => Array.from(health.notWell(), (key) => readHealthKey(key).target),
    },
  })
}

function reachableProviders(
  settings: Settings,
  knownAddresses: ReadonlyMap<string, string>,
): ReadonlyMap<string, ReachableProvider> {
  const reachable = new Map<string, ReachableProvider>()
  for (const provider of settings.providers) {
    const baseUrl =
      settings.providerBaseUrls.get(provider.id) ?? knownAddresses.get(provider.id) ?? provider.baseUrl
    if (baseUrl !== undefined) reachable.set(provider.id, { ...provider, baseUrl })
  }
  return reachable
}

function describeProvider(
  provider: Provider,
  settings: Settings,
  reachable: ReadonlyMap<string, ReachableProvider>,
) {
  const { id, name, docs, endpoints } = provider
  const hasAddress = reachable.has(id)
  const configured = settings.providerKeys.has(id) && hasAddress
  return { id, name, docs: docs ?? null, dialects: Object.keys(endpoints), configured, hasAddress }
}

function readiness(journal: ReturnType<Journal['state']>, redis: ComposedLimits['redis']) {
  const { writable, ...figures } = journal
  const ledger = { status: writable ? 'ok' : 'failing', ...figures }
  if (redis === undefined) return { isReady: writable, checks: { ledger } }
  const state = redis()
  return { isReady: writable && state.mode !== 'closed', checks: { ledger, redis: redisCheck(state) } }
}

function logFailure(log: Log, error: GatewayError, requestId: string): void {
  log.error({ requestId, err: error.cause ?? error }, 'a request failed inside the gateway')
}

function reportLedgerEvent(log: Log, event: LedgerEvent): void {
  const { type, ...fields } = event
  const described = 'cause' in fields ? { ...fields, cause: undefined, err: fields.cause } : fields
  const isGood = type === 'write-recovered' || type === 'ship-recovered'
  if (isGood) log.info(described, `ledger: ${type}`)
  else log.error(described, `ledger: ${type}`)
}
