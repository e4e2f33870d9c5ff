/**
 * The stored state and its copy in memory: opens the store, reads what calls need, and follows the
 * changes of other nodes.
 */
import { ChangeFollowers, type Follower } from '../cluster/change-followers.ts'
import { findMasterKeys, openVault } from '../config/master-key.ts'
import type { Settings } from '../config/settings.ts'
import type { Timekeeper } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { OWNED_PREFIX, ownedSlugOf } from '../core/owned-model.ts'
import type { Plans } from '../core/plan.ts'
import { readFusedStopId } from '../core/stop.ts'
import type { Vault } from '../core/vault.ts'
import { CircuitBreakers } from '../gateway/attempt/circuit-breakers.ts'
import type { RevokedCalls } from '../gateway/end-revoked-calls.ts'
import { healthKeyPrefix, readHealthKey } from '../gateway/plan/order-targets.ts'
import { BudgetRegistry } from '../limits/budget-registry.ts'
import { FuseCounters } from '../limits/fuses.ts'
import type { BudgetAlert } from '../limits/usage-counter.ts'
import { UsageLimits } from '../limits/usage-limits.ts'
import type { AddressGuard } from '../net/address-guard.ts'
import { AttributionRegistry } from '../snapshots/attribution-registry.ts'
import { NodeAttributions } from '../snapshots/attributions.ts'
import { CallerNames } from '../snapshots/caller-names.ts'
import { GateRegistry } from '../snapshots/gate-registry.ts'
import type { createKeyLimits } from '../snapshots/key-limits.ts'
import { KeyRegistry } from '../snapshots/key-registry.ts'
import { ModelPriceRegistry } from '../snapshots/model-price-registry.ts'
import { OwnedModelRegistry } from '../snapshots/owned-model-registry.ts'
import { loadPlainRegistries } from '../snapshots/plain-registry.ts'
import { ProviderKeyRegistry } from '../snapshots/provider-key-registry.ts'
import { StopRegistry } from '../snapshots/stop-registry.ts'
import { locateStore } from '../store/database/open-database.ts'
import { lockDataFolder } from '../store/installation/data-folder.ts'
import { joinInstallation } from '../store/installation/join-installation.ts'
import type { InstallationWatch } from '../store/installation/watch-installation.ts'
import { openStore, type Store } from '../store/open-store.ts'
import type { Log } from '../telemetry/log.ts'
import { TagLabels } from '../telemetry/tag-labels.ts'
import {
  DegradedTargets,
  EventPublisher,
  toBudgetEvent,
  toFuseEvent,
  toOtherRedisEvent,
  toSetBackEvent,
  type UnusableTarget,
  UnusableTargets,
} from '../webhooks/gateway-events.ts'
import { TokenEndReminders } from '../webhooks/token-end-reminders.ts'
import { WebhookRegistry } from '../webhooks/webhook-registry.ts'
import { type AddressPolicy, WebhookSender } from '../webhooks/webhook-sender.ts'
import {
  createExposureReport,
  installationParts,
  watchInstallation,
} from './compose-installation.ts'
import type { ComposedLimits } from './compose-limits.ts'
import { type ComposedNode, composeNode, type JoinedNode } from './compose-nodes.ts'
import { createReportResting } from './report-resting.ts'

interface StateOptions {
  readonly settings: Settings
  readonly version: string
  readonly log: Log
  readonly plans: Plans
  readonly limitsOf: ReturnType<typeof createKeyLimits>
  readonly addresses: AddressGuard
  readonly clock: Timekeeper
  /** Called when the stored prices of models change, here or on another node. */
  readonly onPricesChanged: () => void
}

export async function openState({
  settings,
  version,
  log,
  plans,
  limitsOf,
  addresses,
  clock,
  onPricesChanged,
}: StateOptions) {
  const lock = lockDataFolder(settings.dataFolder)
  let store: Store | undefined
  let node: ComposedNode | undefined
  let watch: InstallationWatch | undefined
  try {
    store = await openStore(locateStore(settings), { caps: settings.accountCaps })
    if (store.newerSteps.length > 0)
      log.warn(
        { migrations: store.newerSteps },
        'a newer version has extended the database: finish the upgrade, or ' +
          'what it added stays unused',
      )
    const { installation } = store
    const reportExposure = createExposureReport(log)
    const joined = await joinInstallation(installationParts(settings, store, reportExposure))
    let { masterKeyId } = joined
    const told: { webhooks?: Webhooks; keys?: KeyRegistry } = {}
    watch = watchInstallation({
      settings,
      store,
      joined,
      log,
      onSetBack: (setBack) => told.webhooks?.publishSetBack(setBack),
    })
    const watching = watch
    node = await composeNode(settings, {
      version,
      log,
      installationId: joined.id,
      onSetBack: (from, to) => watching.noteSetBack(from, to),
    })
    // One vault for everything encrypted, so that every part notices a rotation of the master key.
    const vault = openVault(
      { dataFolder: settings.homeFolder, masterKeys: settings.masterKeys },
      (keyId) => {
        if (keyId === masterKeyId) return
        masterKeyId = keyId
        installation
          .noteMasterKey(keyId)
          .catch((error) =>
            log.error({ err: error }, 'the master key could not be noted in the store'),
          )
      },
      reportExposure,
    )
    const gates = await GateRegistry.load({ gates: store.gates })
    const ownedModels = await OwnedModelRegistry.load({
      ownedModels: store.ownedModels,
      vault,
      onChanged: (accountId, slug) =>
        breakers.forgetFailures(healthKeyPrefix(accountId, OWNED_PREFIX) + slug),
      onUnopened: ({ accountId, slug }, error) =>
        log.error(
          { accountId, slug, err: error },
          'the credential of an owned model cannot be decrypted: its calls fail',
        ),
    })
    const attribution = await AttributionRegistry.load({
      attribution: store.attribution,
      vault,
      mayEncrypt: () =>
        settings.database === undefined ||
        findMasterKeys({ dataFolder: settings.homeFolder, masterKeys: settings.masterKeys }) !==
          undefined,
      onNoMasterKey: () =>
        log.warn(
          {},
          'attribution: there is no master key, so calls count for members only, and not for users ' +
            'of applications, sessions and tags: set GATEHOUSE_MASTER_KEY on every node',
        ),
      onFailure: (error, accountId) =>
        log.error(
          { accountId, err: error },
          'the hash key of an account cannot be used: its calls are not attributed',
        ),
    })
    const fuseCounters = new FuseCounters(clock)
    const stops = await StopRegistry.load({
      stops: store.stops,
      clock,
      onChanged(accountId, id) {
        if (readFusedStopId(id) === undefined) told.keys?.renewStops(accountId, id)
        else fuseCounters.forget({ accountId, stopId: id })
      },
    })
    const keys = await KeyRegistry.load({
      keys: store.keys,
      stops,
      limitsOf,
      clock,
      onFlushFailure: (error) =>
        log.error({ err: error }, 'last-used times could not be written; another attempt follows'),
    })
    told.keys = keys
    const webhooks: Webhooks = await composeWebhooks({ store, vault, log, addresses, clock })
    told.webhooks = webhooks
    const reportResting = createReportResting(log, clock)
    const breakers = new CircuitBreakers(clock, (key, restsUntilMs, failure) => {
      const { accountId, target } = readHealthKey(key)
      webhooks.degraded.note(accountId, target, restsUntilMs)
      reportResting(target, restsUntilMs, failure)
    })
    const providerKeys = await ProviderKeyRegistry.load({
      keys: store.providerKeys,
      vault,
      platform: settings.providerKeys,
      onFlushFailure: (error) =>
        log.error(
          { err: error },
          'last-used times of provider keys could not be written; another attempt follows',
        ),
      // A target rests after its key was refused, so a new key ends the rest.
      onChanged: (accountId, providerId) =>
        breakers.forgetFailures(healthKeyPrefix(accountId, providerId)),
      onUnopened: ({ accountId, providerId }, error) =>
        log.error(
          { accountId, providerId, err: error },
          'a provider key cannot be decrypted: its calls fail',
        ),
    })
    const showsPeople = (accountId: AccountId) =>
      attribution.settingsOf(accountId).peopleFigures === 'administrators'
    // Every member can read what webhooks receive, so events obey the same setting as API keys.
    const onAlert = (alert: BudgetAlert) => {
      const { accountId, scope } = alert.budget
      if (scope.type !== 'user' || showsPeople(accountId)) webhooks.publishBudgetAlert(alert)
    }
    const usage = new UsageLimits({ plans, onAlert, showsPeople })
    const budgets = await BudgetRegistry.load({ budgets: store.budgets, usage, clock })
    const modelPrices = await ModelPriceRegistry.load({
      prices: store.modelPrices,
      onChanged: onPricesChanged,
      clock,
    })
    const plain = await loadPlainRegistries(store.plain)
    const callerNames = new CallerNames({
      names: store.callerNames,
      hashKeys: attribution,
      clock,
      onFlushFailure: (error) =>
        log.error({ err: error }, 'names of callers could not be written; another attempt follows'),
    })
    callerNames.start()
    const labelled = settings.telemetry.metrics?.tags ?? []
    const tagLabels = labelled.length === 0 ? undefined : new TagLabels(labelled)
    const attributions = new NodeAttributions({
      registry: attribution,
      tags: plain.tag,
      names: callerNames,
      ...(tagLabels !== undefined && {
        onTag: (accountId, hash, text) => tagLabels.note(accountId, hash, text),
      }),
    })
    return {
      lock,
      store,
      installationId: joined.id,
      watch,
      node,
      keys,
      stops,
      fuseCounters,
      attribution,
      attributions,
      tagLabels,
      callerNames,
      gates,
      ownedModels,
      providerKeys,
      usage,
      budgets,
      modelPrices,
      plain,
      webhooks,
      breakers,
    }
  } catch (error) {
    await node?.close()
    await watch?.close()
    await store?.close()
    lock.release()
    throw error
  }
}

export type State = Awaited<ReturnType<typeof openState>>

interface Followed {
  readonly reload: Follower
  readonly costs: Follower
  readonly revoked: Pick<RevokedCalls, 'end'>
}

/** Undefined when no other process changes anything. Serve nothing before this resolves. */
export async function joinNodes(
  state: State,
  shared: ComposedLimits,
  settings: Settings,
  { reload, costs, revoked }: Followed,
): Promise<JoinedNode | undefined> {
  const { store, redis } = shared
  const registries = {
    key: state.keys,
    // The stops follow the keys, because a stopped token that is deleted must stay refused.
    stop: state.stops,
    attribution: state.attribution,
    gate: state.gates,
    'owned-model': state.ownedModels,
    'model-price': state.modelPrices,
    'provider-key': state.providerKeys,
    budget: state.budgets,
    webhook: state.webhooks.registry,
    reload,
    costs,
    ...state.plain,
  }
  const followers = new ChangeFollowers(registries, () => revoked.end())
  const isShared = store !== undefined && redis !== undefined && settings.redis !== undefined
  const fallbackStore = isShared
    ? { store, state: redis, prefix: settings.redis.prefix }
    : undefined
  try {
    return await state.node?.follow(followers, fallbackStore)
  } catch (error) {
    await shared.close()
    await abandonState(state)
    throw error
  }
}

export async function abandonState({ node, watch, store, lock }: State): Promise<void> {
  await node?.close()
  await watch.close()
  await store.close()
  lock.release()
}

interface Webhooks {
  readonly registry: WebhookRegistry
  readonly sender: WebhookSender
  readonly degraded: DegradedTargets
  readonly unusable: UnusableTargets
  readonly tokenEnds: TokenEndReminders
  publishBudgetAlert(alert: BudgetAlert): void
  publishBlownFuse(...blown: Parameters<typeof toFuseEvent>): void
  publishSetBack(setBack: { readonly from: number; readonly to: number }): void
  publishOtherRedis(ids: { readonly found: string; readonly expected: string }): void
  /**
   * Cuts deliveries in progress. Published events stay in the queue, and the next start sends them.
   */
  close(): Promise<void>
}

interface WebhooksOptions {
  readonly store: Store
  readonly vault: Vault
  readonly log: Log
  readonly addresses: AddressPolicy
  readonly clock: Timekeeper
}

async function composeWebhooks({
  store,
  vault,
  log,
  addresses,
  clock,
}: WebhooksOptions): Promise<Webhooks> {
  const registry = await WebhookRegistry.load({ webhooks: store.webhooks, vault })
  const sender = new WebhookSender({
    queue: store.webhooks,
    webhooks: registry,
    addresses,
    report: (event) =>
      event.type === 'given-up'
        ? log.warn({ ...event }, 'webhooks: a delivery was given up')
        : log.error({ err: event.cause }, 'webhooks: the queue could not be read or written'),
  })
  const publisher = new EventPublisher({
    webhooks: registry,
    queue: store.webhooks,
    onQueued: () => sender.wake(),
    onDropped: (event, reason, cause) =>
      log.error({ event, reason, err: cause }, 'webhooks: an event was dropped'),
  })
  const tokenEnds = new TokenEndReminders({
    ...{ webhooks: registry, keys: store.keys, queue: store.webhooks, publisher, clock },
    onFailure: (error) =>
      log.warn({ err: error }, 'webhooks: the ends of access tokens could not be announced'),
  })
  return {
    registry,
    sender,
    tokenEnds,
    degraded: new DegradedTargets(publisher),
    unusable: new UnusableTargets(publisher, (unusable) => reportUnusable(log, unusable)),
    publishBudgetAlert: (alert) => publisher.publish(toBudgetEvent(alert)),
    publishBlownFuse: (...blown) => publisher.publish(toFuseEvent(...blown)),
    publishSetBack: (setBack) => publisher.publish(toSetBackEvent(setBack)),
    publishOtherRedis: (ids) => publisher.publish(toOtherRedisEvent(ids)),
    async close() {
      await tokenEnds.close()
      await publisher.close()
      await sender.stop()
    },
  }
}

/** An account's own models are not reported to the operator. */
function reportUnusable(log: Pick<Log, 'warn'>, { target, reason, status, owner }: UnusableTarget) {
  if (ownedSlugOf(target) !== undefined) return
  const credential = owner === 'platform' ? 'platform' : 'own'
  log.warn(
    { target, reason, status, credential },
    reason === 'out_of_credit'
      ? 'the account at the provider has no credit: calls go to the next target of their gates'
      : 'the provider no longer knows the model: calls go to the next target of their gates',
  )
}
