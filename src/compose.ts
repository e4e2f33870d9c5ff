/** Constructs a whole gateway from its settings: the one place where ports meet what satisfies them. Does not listen. */
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import type { ControlPlane } from './admin/router.ts'
import { GateRegistry } from './cluster/gate-registry.ts'
import { KeyRegistry } from './cluster/key-registry.ts'
import { MemoryLimits } from './cluster/memory-limits.ts'
import { ProviderKeyRegistry } from './cluster/provider-key-registry.ts'
import { loadMasterKeys, openVault } from './config/master-key.ts'
import type { Settings } from './config/settings.ts'
import { steadyClock } from './core/clock.ts'
import type { GatewayError } from './core/errors.ts'
import type { KeyId } from './core/ids.ts'
import { authenticate } from './gateway/authenticate.ts'
import { createDataPlane } from './gateway/data-plane.ts'
import { healthKeyPrefix, TargetOrder } from './gateway/order-targets.ts'
import type { PipelinePorts } from './gateway/pipeline.ts'
import type { ReachableProvider } from './gateway/plan-targets.ts'
import { TargetHealth } from './gateway/target-health.ts'
import { testGate } from './gateway/test-gate.ts'
import { Journal } from './ledger/journal.ts'
import type { LedgerEvent } from './ledger/ledger-event.ts'
import { Shipper } from './ledger/shipper.ts'
import type { Provider } from './providers/define.ts'
import { type AddressOf, createRouter } from './server.ts'
import { lockDataFolder } from './store/data-folder.ts'
import { openStore, type Store } from './store/open-store.ts'
import type { Log } from './telemetry/log.ts'
import { Deadlines } from './upstream/deadlines.ts'

export const VERSION = packageJson.version

export interface Gatehouse {
  readonly keys: KeyRegistry
  readonly gates: GateRegistry
  /** Every path of the gateway; the same in a server and in the command line's own process. */
  handle(request: Request, addressOf?: AddressOf): Promise<Response>
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
}

/** @throws DataFolderInUseError, NewerDatabaseError or MigrationFailedError: there is no serving then */
export async function composeGatehouse({
  settings,
  log,
  knownAddresses,
}: ComposeOptions): Promise<Gatehouse> {
  const health = new TargetHealth(steadyClock)
  const { lock, store, keys, gates, providerKeys } = await openState(settings, log, health)
  const report = (event: LedgerEvent) => reportLedgerEvent(log, event)
  const journal = new Journal(settings.dataFolder, { onFailure: settings.ledgerFailure, report })
  const shipper = new Shipper(journal, (records) => store.calls.insertMany(records), { report })
  shipper.start()

  const deadlines = new Deadlines()
  const providers = reachableProviders(settings, knownAddresses ?? new Map())
  const ports: PipelinePorts = {
    clock: steadyClock,
    keys,
    gates,
    limits: new MemoryLimits(),
    ledger: journal,
    credentials: providerKeys,
    providers,
    health,
    order: new TargetOrder(health),
    deadlines,
    timeouts: settings.timeouts,
    keepAliveMs: settings.keepAliveMs,
    bodyLimits: { maxBodyBytes: settings.maxBodyBytes, bodyTimeoutMs: settings.bodyTimeoutMs },
    reportFailure: (error, callId) => logFailure(log, error, callId),
  }

  let controlPlane: Promise<ControlPlane> | undefined
  /** Loaded when first asked for: the data plane answers long before zod and OpenAPI are there. */
  async function loadControlPlane(): Promise<ControlPlane> {
    const { createControlPlane } = await import('./admin/router.ts')
    const { createIdentity } = await import('./identity/create-identity.ts')
    return createControlPlane({
      gates,
      keys,
      providerKeys,
      calls: store.calls,
      accounts: store.accounts,
      members: store.members,
      invitations: store.invitations,
      users: store.users,
      callerOfUser: (accountId, userId) => ({
        accountId,
        keyId: userId as string as KeyId,
        limits: { requestsPerMinute: settings.requestsPerMinute, concurrentCalls: settings.concurrentCalls },
      }),
      identity: createIdentity({
        store,
        settings: settings.users,
        masterKey: () => loadMasterKeys(settings, process.env)[0],
        report: (message, cause) => log.warn({ err: cause }, `sign-in: ${message}`),
      }),
      providers: settings.providers.map((provider) => describeProvider(provider, settings, providers)),
      authenticate: (headers) => authenticate(ports, headers),
      testGate: (caller, gate) => testGate(ports, caller, gate),
      onFailure: (error, requestId) => logFailure(log, error, requestId),
    })
  }

  return {
    keys,
    gates,
    handle: createRouter({
      dataPlane: createDataPlane(ports),
      controlPlane: () => {
        controlPlane ??= loadControlPlane()
        return controlPlane
      },
      clientAddressHeader: settings.users.clientAddressHeader,
      version: VERSION,
      readiness: () => readiness(journal.state()),
    }),
    cutOff: () => deadlines.expireAll(),
    async close() {
      await keys.close()
      await providerKeys.close()
      await shipper.stop()
      // What a failing store leaves behind is shipped at the next start.
      await shipper
        .ship()
        .catch((error) => log.warn({ err: error }, 'the journal could not be shipped; it is kept'))
      journal.close()
      await store.close()
      lock.release()
    },
  }
}

/** What is on disk, and its image in memory. Nothing stays open when one part of it fails. */
async function openState(settings: Settings, log: Log, health: TargetHealth) {
  const lock = lockDataFolder(settings.dataFolder)
  let store: Store | undefined
  try {
    store = await openStore({ path: join(settings.dataFolder, 'gatehouse.db') })
    const gates = await GateRegistry.load({ gates: store.gates })
    const keys = await KeyRegistry.load({
      keys: store.keys,
      limits: { requestsPerMinute: settings.requestsPerMinute, concurrentCalls: settings.concurrentCalls },
      onFlushFailure: (error) =>
        log.error({ err: error }, 'last-used times could not be written; they are kept'),
    })
    const providerKeys = await ProviderKeyRegistry.load({
      keys: store.providerKeys,
      vault: openVault(settings),
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
    return { lock, store, keys, gates, providerKeys }
  } catch (error) {
    await store?.close()
    lock.release()
    throw error
  }
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
  const configured = settings.providerKeys.has(id) && reachable.has(id)
  return { id, name, docs: docs ?? null, dialects: Object.keys(endpoints), configured }
}

function readiness(journal: ReturnType<Journal['state']>) {
  const { writable, ...figures } = journal
  return { isReady: writable, checks: { ledger: { status: writable ? 'ok' : 'failing', ...figures } } }
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
