import { setTimeout as sleep } from 'node:timers/promises'
import type { Settings } from '../config/settings.ts'
import { type Budget, timeZoneOf } from '../core/budget.ts'
import { type ClockStep, type Timekeeper, watchClock } from '../core/clock.ts'
import type { AccountId } from '../core/ids.ts'
import { spanOf } from '../core/period.ts'
import { type Overdue, RetentionHorizon } from '../core/retention-horizon.ts'
import { UTC } from '../core/time-zone.ts'
import type { Prices, Refusals } from '../gateway/ports.ts'
import { CallPrices } from '../ledger/call-prices.ts'
import { Journal } from '../ledger/journal.ts'
import type { LedgerEvent } from '../ledger/ledger-event.ts'
import { PastUsage, type PastUsageOptions } from '../ledger/past-usage.ts'
import { PriceBook } from '../ledger/price-book.ts'
import { PricedCalls } from '../ledger/priced-calls.ts'
import { RefusalLog } from '../ledger/refusal-log.ts'
import { Retention } from '../ledger/retention.ts'
import { Shipper } from '../ledger/shipper.ts'
import { UsedEntries } from '../ledger/used-entries.ts'
import { DeduplicatedRefresh } from '../limits/deduplicated-refresh.ts'
import {
  keepLoading,
  type LoadedLedger,
  loadBudgets,
  loadQuotas,
  loadUsage,
  raiseUsage,
  readHeads,
  showUsage,
} from '../limits/load-usage.ts'
import { pricingOf } from '../providers/define.ts'
import { AuditRetention } from '../store/changes/audit-log.ts'
import type { Store } from '../store/open-store.ts'
import type { Log } from '../telemetry/log.ts'
import { adoptionReport, adoptWorkerJournals } from './claim-folders.ts'
import type { ComposedLimits } from './compose-limits.ts'
import type { State } from './compose-state.ts'

const LOAD_PRICES_AFTER_MS = 1_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LEDGER_READ_FOR_MS = 500
/**
 * Time for usage to reach the store that the nodes share: 0.25 s, longer with hundreds of active
 * accounts.
 */
const TOLD_WITHIN_MS = 2_000

export interface LedgerOptions {
  readonly settings: Settings
  readonly log: Log
  readonly state: Pick<State, 'store' | 'usage' | 'budgets' | 'ownedModels' | 'modelPrices'>
  readonly limits: Pick<ComposedLimits, 'reconcileWith' | 'refresh' | 'flush'>
  readonly clock: Timekeeper
}

export interface ComposedLedger {
  readonly journal: Journal
  readonly prices: PriceBook
  readonly refusals: Refusals
  /**
   * Resolves when the counters include the usage of this node up to now, and of other nodes up to a
   * second ago (without Redis: up to their last shipping).
   * @throws GatewayError `unavailable` or the store's errors
   */
  show(accountId: AccountId, budgets: readonly Budget[]): Promise<void>
  readonly callPrices: Prices
  /** Stores the operator's entries that prices came from. */
  keepEntries(): Promise<void>
  /**
   * Raises counters to the ledger's sums, after costs were corrected.
   * @param accountId undefined: of all accounts
   */
  raise(accountId: AccountId | undefined): Promise<void>
  hurry(): void
  close(): Promise<void>
}

export function composeLedger({
  settings,
  log,
  state,
  limits,
  clock,
}: LedgerOptions): ComposedLedger {
  const { store, usage, budgets, ownedModels, modelPrices } = state
  const report = (event: LedgerEvent) => reportLedgerEvent(log, event)
  // Adopted before the journal lists its segments.
  adoptWorkerJournals(settings.dataFolder, adoptionReport(log))
  const journal = new Journal(settings.dataFolder, { onFailure: settings.ledgerFailure, report })
  const usedEntries = new UsedEntries({ store: store.priceEntries, now: () => clock.now() })
  const prices = new PriceBook({
    providers: new Map(
      settings.providers.map((provider) => [
        provider.id,
        pricingOf(provider, settings.providerBaseUrls.get(provider.id)),
      ]),
    ),
    overlay: settings.models.current,
    added: modelPrices.entries(),
    onUsed: (entry) => usedEntries.note(entry),
    declaredPrices: (accountId, slug) => ownedModels.pricesOf(accountId, slug),
  })
  const refusals = new RefusalLog(journal, clock)
  const reportPricing = (error: unknown) => log.error({ err: error }, 'calls could not be priced')
  const callPrices = new CallPrices(prices)
  // The price table is loaded late, so that the first calls do not wait, but before a call needs a
  // price.
  setTimeout(() => callPrices.load(), LOAD_PRICES_AFTER_MS).unref()
  const shipper = new Shipper(
    journal,
    async (records, between) => {
      // Usage goes to the other nodes first, because nodes treat the ledger's contents as reported,
      // and would count a later report twice.
      await limits.flush()
      await usedEntries.store()
      const priced = new PricedCalls(prices, records, reportPricing)
      return await store.calls.insertMany(priced, between)
    },
    {
      report,
      intervalMs: settings.shipIntervalMs,
      // A store whose file was deleted must not count as durable, so its records stay in the
      // journal.
      syncStore: async () => store.assertThere(),
    },
  )
  const horizonOf = (name: string, days: number) =>
    new RetentionHorizon({
      keptMs: days * DAY_MS,
      clock,
      onOverdue: (overdue) => reportOverdue(log, name, { ...overdue, days }),
    })
  const retention = new Retention({
    horizon: horizonOf('calls', settings.retentionDays),
    hoursHorizon: horizonOf('sums by the hour', settings.hourlyDays),
    usersHorizon: horizonOf('sums by user', settings.userDays),
    store,
    ship: () => shipper.ship(),
    onFailure: (error) =>
      log.error({ err: error }, 'old calls could not be deleted; tried again in an hour'),
  })
  const auditRetention = new AuditRetention({
    horizon: horizonOf('audit log', settings.auditRetentionDays),
    auditLog: store.auditLog,
    onFailure: (error) =>
      log.error({ err: error }, 'old rows of the audit log could not be deleted'),
  })
  auditRetention.start()
  const closing = new AbortController()
  const ledgerReads = new DeduplicatedRefresh({
    maxAgeMs: LEDGER_READ_FOR_MS,
    now: () => clock.elapsed(),
  })
  const past = { segments: journal.closed.list(), nowMs: clock.now(), signal: closing.signal }
  const counting = {
    usage,
    signal: closing.signal,
    onFailure: (error: unknown) =>
      log.error({ err: error }, 'past usage could not be read: calls with a quota or budget fail'),
  }
  /** The attempt to load the quotas opens the ledger from which the budgets are read. */
  const keepLoadingFrom = async (open: () => Promise<LoadedLedger>) => {
    let opened = open
    return await keepLoading({
      ...counting,
      loadQuotas: async () => {
        const ledger = await open()
        opened = async () => ledger
        await loadQuotas(usage, ledger)
      },
      loadBudgets: async () => await loadBudgets(usage, budgets, await opened()),
    })
  }
  let loading = keepLoadingFrom(async () => {
    const cutsMs = budgets.all().flatMap((budget) => {
      const { startsAtMs, endsAtMs } = spanOf(budget.period, past.nowMs, timeZoneOf(budget))
      return [budget.createdAt, startsAtMs, endsAtMs].filter(Number.isFinite)
    })
    const sums = await openPastUsage(store, log, { ...past, prices: callPrices, cutsMs })
    return { sums, nowMs: past.nowMs }
  }).then((isLoaded) => {
    if (!isLoaded) return
    shipper.start()
    retention.start()
  })
  const countAgain = async () => {
    if (closing.signal.aborted) return
    await keepLoadingFrom(async () => {
      await shipper.ship()
      const { signal } = closing
      const sums = await openPastUsage(store, log, { segments: [], signal, prices: callPrices })
      return { sums, nowMs: clock.now(), isAgain: true }
    })
  }
  usage.readHeadsWith(async (heads) => {
    // A dropped counter may have counted calls that are not yet shipped.
    await shipper.ship()
    const { signal } = closing
    const sums = await openPastUsage(store, log, { segments: [], signal, prices: callPrices })
    return await readHeads(sums, heads)
  })
  const stopWatching = watchClock(clock, (step) => {
    reportStep(log, step)
    // All periods begin with a day of their time zone.
    const zones = new Set([UTC, ...budgets.all().map(timeZoneOf)])
    const isOtherDay = (zone: string) =>
      spanOf('day', step.fromMs, zone).startsAtMs !== spanOf('day', step.toMs, zone).startsAtMs
    if ([...zones].some(isOtherDay)) loading = loading.then(countAgain)
  })
  limits.reconcileWith(async () => {
    const { signal } = closing
    const sums = await openPastUsage(store, log, { segments: [], signal, prices: callPrices })
    // During this pause, the limits report unreported usage without adding the usage again, because
    // these sums already contain the usage.
    const beforeCounting = () => sleep(TOLD_WITHIN_MS, undefined, { signal, ref: false })
    await loadUsage(usage, budgets, { sums, nowMs: clock.now(), beforeCounting })
  })
  return {
    journal,
    prices,
    callPrices,
    refusals,
    async show(accountId, shown) {
      await usage.whenCounted()
      const budgetIds = shown.map(({ id }) => id)
      const isTold = await limits.refresh(accountId, budgetIds)
      if (isTold || settings.database === undefined) return
      await ledgerReads.refresh([accountId, ...budgetIds], async (missing) => {
        // Unshipped calls are in this node's counters, and the shipper's own passes report a failure.
        await shipper.ship().catch(() => {})
        const { signal } = closing
        const sums = await openPastUsage(store, log, { segments: [], signal, prices: callPrices })
        const found = shown.filter(({ id }) => missing.includes(id))
        await showUsage(usage, { accountId, budgets: found }, { sums, nowMs: clock.now() })
      })
    },
    keepEntries: () => usedEntries.store(),
    async raise(accountId) {
      await usage.whenCounted()
      // Unshipped calls are in the counters, but not yet in the sums.
      await shipper.ship()
      const { signal } = closing
      const sums = await openPastUsage(store, log, { segments: [], signal, prices: callPrices })
      await raiseUsage(usage, { accountId, budgets: budgets.all() }, { sums, nowMs: clock.now() })
    },
    hurry: () => shipper.hurry(),
    async close() {
      stopWatching()
      refusals.endMinute()
      journal.flush()
      await auditRetention.stop()
      closing.abort()
      await loading
      await retention.stop()
      await shipper.stop()
      await shipper
        .ship()
        .catch((error) =>
          log.warn({ err: error }, 'the journal could not be shipped; it is retried'),
        )
      journal.close()
    },
  }
}

function openPastUsage(
  store: Store,
  log: Log,
  past: Pick<PastUsageOptions, 'segments' | 'signal' | 'prices' | 'cutsMs'>,
): Promise<PastUsage> {
  return PastUsage.open({
    sums: store.usageSums,
    beginnings: store.budgetBeginnings,
    ...past,
    onUnreadable: (path, cause) =>
      log.error(
        { path, err: cause },
        'a segment of the journal cannot be read: quotas do not count its calls',
      ),
  })
}

function reportStep(log: Log, { fromMs, toMs }: ClockStep): void {
  const seconds = Math.round((toMs - fromMs) / 1000)
  log.warn(
    { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), seconds },
    "the machine's clock was set, or the machine slept: daily and monthly limits " +
      'use the new time',
  )
}

function reportOverdue(
  log: Log,
  name: string,
  { rows, dueBeforeMs, stage, waitMs, days }: Overdue & { readonly days: number },
): void {
  const time = (ms: number) => new Date(ms).toISOString()
  const fields = { log: name, days, oldest: time(rows.oldestMs), dueBefore: time(dueBeforeMs) }
  if (stage === 'announced')
    log.warn(
      { ...fields, waitsHours: waitMs / HOUR_MS },
      'retention: far more rows than usual are due. None is deleted yet. Is the clock of ' +
        'this machine right?',
    )
  else
    log.warn(
      fields,
      'retention: far more rows than usual are deleted from now on, one day of data per hour',
    )
}

function reportLedgerEvent(log: Log, event: LedgerEvent): void {
  const { type, ...fields } = event
  const described = 'cause' in fields ? { ...fields, cause: undefined, err: fields.cause } : fields
  const isGood = type === 'write-recovered' || type === 'ship-recovered'
  if (isGood) log.info(described, `ledger: ${type}`)
  else log.error(described, `ledger: ${type}`)
}
