/**
 * Reports of the gateway's own parts, as events for webhooks. Decides what is said and how often.
 */
import { type Budget, ceilingOf } from '../core/budget.ts'
import { type Stopwatch, systemClock } from '../core/clock.ts'
import type { TargetFault } from '../core/errors.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { EventPublisher, PublishedEvent } from './event-publisher.ts'

/**
 * A target that keeps failing opens its breaker again and again: one message in so long is enough.
 */
const DEGRADED_PAUSE_MS = 600_000
const MAX_REMEMBERED = 10_000
/** A target that stays unusable is reported again after a day. */
const UNUSABLE_PAUSE_MS = 86_400_000

/** The alert that limits/usage-counter.ts sends. */
export interface ReachedShare {
  readonly budget: Budget
  readonly threshold: number
  readonly periodStartsAtMs: number
  readonly periodEndsAtMs: number
  readonly used: number
}

export function toBudgetEvent(share: ReachedShare): PublishedEvent {
  const { budget, threshold, used, periodStartsAtMs, periodEndsAtMs } = share
  const { accountId, id, name, scope, limit, period } = budget
  const inUnit = (amount: number) => (limit.type === 'tokens' ? amount : toUsd(amount))
  const resetsAt = Number.isFinite(periodEndsAtMs) ? new Date(periodEndsAtMs).toISOString() : null
  return {
    accountId,
    type: threshold >= 1 ? 'budget.exhausted' : 'budget.threshold',
    data: {
      budgetId: id,
      name,
      keyId: scope.type === 'key' ? scope.keyId : null,
      gateId: scope.type === 'gate' ? scope.gateId : null,
      threshold,
      unit: limit.type === 'tokens' ? 'tokens' : 'usd',
      limit: inUnit(ceilingOf(limit)),
      used: inUnit(used),
      period,
      periodStartsAt: new Date(periodStartsAtMs).toISOString(),
      resetsAt,
    },
    mark: {
      ...{ accountId, budgetId: id, periodStartsAtMs, threshold },
      budgetUpdatedAtMs: budget.updatedAt,
    },
  }
}

/** Sent to the operator's account: it is about all. */
export function toSetBackEvent(setBack: {
  readonly from: number
  readonly to: number
}): PublishedEvent {
  return {
    accountId: DEFAULT_ACCOUNT,
    type: 'store.set-back',
    data: { fromChange: setBack.from, toChange: setBack.to },
  }
}

/** Sent to the operator's account, as is what befalls the store. */
export function toOtherRedisEvent(ids: {
  readonly found: string
  readonly expected: string
}): PublishedEvent {
  return {
    accountId: DEFAULT_ACCOUNT,
    type: 'redis.other',
    data: { found: ids.found, expected: ids.expected },
  }
}

/** Tells an account that one of its targets is left alone, once in ten minutes. */
export class DegradedTargets {
  readonly #publisher: Pick<EventPublisher, 'publish'>
  readonly #clock: Stopwatch
  readonly #toldAtMs = new Map<string, number>()

  constructor(publisher: Pick<EventPublisher, 'publish'>, clock: Stopwatch = systemClock) {
    this.#publisher = publisher
    this.#clock = clock
  }

  /** @param target `provider/model` */
  note(accountId: AccountId, target: string, restsUntilMs: number): void {
    const nowMs = this.#clock.elapsed()
    const key = `${accountId}\n${target}`
    const toldAtMs = this.#toldAtMs.get(key)
    if (toldAtMs !== undefined && nowMs - toldAtMs < DEGRADED_PAUSE_MS) return
    // Put at the end anew: the one told longest ago is in front.
    this.#toldAtMs.delete(key)
    this.#toldAtMs.set(key, nowMs)
    const [oldest] = this.#toldAtMs.keys()
    if (this.#toldAtMs.size > MAX_REMEMBERED && oldest !== undefined) this.#toldAtMs.delete(oldest)
    this.#publisher.publish({
      accountId,
      type: 'provider.degraded',
      data: { target, restsUntil: new Date(restsUntilMs).toISOString() },
    })
  }
}

export interface UnusableTarget {
  readonly accountId: AccountId
  /** `provider/model` */
  readonly target: string
  readonly owner: 'account' | 'platform'
  readonly reason: TargetFault
  /** The vendor's. */
  readonly status: number | null
}

/**
 * Reports that a target serves nobody until somebody acts: once for each reason until the target
 * has answered, or a day has passed. The operator's account hears of credit that the platform's
 * credential lacks, the account of the gate hears the rest.
 */
export class UnusableTargets {
  readonly #publisher: Pick<EventPublisher, 'publish'>
  readonly #clock: Stopwatch
  readonly #onTold: (unusable: UnusableTarget) => void
  /** By account and target: when each reason was reported. The oldest target is in front. */
  readonly #told = new Map<string, Map<TargetFault, number>>()

  /** @param onTold called with each report, for the log */
  constructor(
    publisher: Pick<EventPublisher, 'publish'>,
    onTold: (unusable: UnusableTarget) => void = () => {},
    clock: Stopwatch = systemClock,
  ) {
    this.#publisher = publisher
    this.#onTold = onTold
    this.#clock = clock
  }

  note(unusable: UnusableTarget): void {
    const { target, reason, status } = unusable
    const accountId = listenerOf(unusable)
    const key = `${accountId}\n${target}`
    const reasons = this.#told.get(key) ?? new Map<TargetFault, number>()
    const nowMs = this.#clock.elapsed()
    const toldAtMs = reasons.get(reason)
    if (toldAtMs !== undefined && nowMs - toldAtMs < UNUSABLE_PAUSE_MS) return
    reasons.set(reason, nowMs)
    this.#told.delete(key)
    this.#told.set(key, reasons)
    const [oldest] = this.#told.keys()
    if (this.#told.size > MAX_REMEMBERED && oldest !== undefined) this.#told.delete(oldest)
    this.#publisher.publish({
      accountId,
      type: 'target.unusable',
      data: { target, reason, status },
    })
    this.#onTold(unusable)
  }

  /** Called with each answer. */
  noteUsable(accountId: AccountId, target: string): void {
    if (this.#told.size === 0) return
    this.#told.delete(`${accountId}\n${target}`)
    this.#told.delete(`${DEFAULT_ACCOUNT}\n${target}`)
  }
}

function listenerOf({ accountId, owner, reason }: UnusableTarget): AccountId {
  return owner === 'platform' && reason === 'out_of_credit' ? DEFAULT_ACCOUNT : accountId
}
