/**
 * Decides whether this node may still use its in-memory data. A node that knows all changes holds a
 * lease. Without a lease each request waits until the node has caught up, or else the operator's
 * policy decides.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../core/errors.ts'
import type { AccountId } from '../core/ids.ts'
import { retryDelayMs } from '../core/retry-delay.ts'
import type { FreshnessStatus, StoreOutagePolicy } from '../core/shared-stores.ts'
import type { EndedCalls } from '../gateway/end-revoked-calls.ts'
import type { Freshness } from '../gateway/ports.ts'
import type { ChangeFeed, FollowedChange } from '../store/changes/change-feed.ts'
import type { ChangeFollowers } from './change-followers.ts'
import type { FallbackFeed } from './fallback-feed.ts'
import { type Clocks, Lease, momentOf, systemClocks } from './lease.ts'
import { SingleFlight } from './single-flight.ts'

const CHANGES_PER_PAGE = 500
/** Beyond this number, reading everything again is faster. */
export const MOST_FOLLOWED = 5_000
const PATIENCE_MS = 5_000
/**
 * How long after a lease's end a request waits for the next lease; later requests are refused
 * immediately.
 */
const BRIEFLY_MS = 3_000
const LOOK_AGAIN_MS = 50
const SWEEP_EVERY_MS = 600_000
/** Interval of publishing changes again, in case they were lost. */
const TELL_EVERY_MS = 10_000

export interface SnapshotFreshnessOptions {
  readonly feed: Pick<
    ChangeFeed,
    'counter' | 'renew' | 'register' | 'since' | 'sweep' | 'reportEnded'
  >
  readonly followers: Pick<ChangeFollowers, 'follow' | 'followAll' | 'followBlindly'>
  readonly policy: StoreOutagePolicy
  readonly leaseMs: number
  readonly appliedSeq: number
  readonly fallback?:
    | Pick<FallbackFeed, 'renew' | 'publish' | 'forget' | 'connectedForMs'>
    | undefined
  readonly clocks?: Clocks
  readonly pause?: (delayMs: number) => Promise<unknown>
  readonly onSetBack?: (from: number, to: number) => void
  readonly onChange?: (state: FreshnessState, error?: unknown) => void
}

export interface FreshnessState {
  /**
   * `ok`: every change is known. `grace`: the database is unavailable, and calls are served.
   * `away`: the database is unavailable, and calls are refused.
   */
  readonly status: FreshnessStatus
  readonly leaseMs: number
  readonly graceMs: number
  readonly contactAgeMs: number
  readonly appliedSeq: number
  readonly behind: number
  readonly refreshes: number
}

export class SnapshotFreshness implements Freshness {
  readonly #options: SnapshotFreshnessOptions
  readonly #clocks: Clocks
  readonly #lease: Lease
  readonly #grace: Lease
  readonly #fallbackLease: Lease
  readonly #catchUp = new SingleFlight(() => this.#tryCatchUp())
  readonly #ask = new SingleFlight(() => this.#askFallback())
  #applied: number
  #known: number
  #seen: number
  readonly #stale = new Set<AccountId>()
  #lacksKeys = false
  /** Not reported to the database yet. */
  #ended: readonly EndedCalls[] = []
  #contactAtMs: number
  #sweptAtMs: number
  #toldAtMs = Number.NEGATIVE_INFINITY
  #failures = 0
  #refreshes = 0
  #isClosed = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #fallbackTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: SnapshotFreshnessOptions) {
    this.#options = options
    this.#clocks = options.clocks ?? systemClocks
    this.#lease = new Lease(this.#clocks)
    this.#grace = new Lease(this.#clocks)
    this.#fallbackLease = new Lease(this.#clocks)
    this.#applied = options.appliedSeq
    this.#known = options.appliedSeq
    this.#seen = options.appliedSeq
    this.#contactAtMs = this.#clocks.steady()
    this.#sweptAtMs = this.#contactAtMs
  }

  get appliedSeq(): number {
    return this.#applied
  }

  /**
   * Resolves when other nodes know this node and this node holds a lease.
   * @throws when the database does not answer
   */
  async start(): Promise<void> {
    await this.#catchUp.run()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#fallbackTimer)
    this.#lease.end()
    this.#grace.end()
    this.#fallbackLease.end()
  }

  isFresh(): boolean {
    return this.#lease.isLive() || this.#mayBridge()
  }

  async refresh(): Promise<void> {
    const { pause = sleep } = this.#options
    this.#refreshes += 1
    // A connection that is just being re-established is worth a short wait.
    for (let looks = BRIEFLY_MS / LOOK_AGAIN_MS; !(await this.#tryRefresh()); looks -= 1) {
      if (looks <= 0 || Math.min(this.#lease.endedMs, this.#fallbackLease.endedMs) > BRIEFLY_MS)
        throw unavailable()
      await pause(LOOK_AGAIN_MS)
    }
  }

  async #tryRefresh(): Promise<boolean> {
    const { policy, fallback } = this.#options
    if (this.#failures === 0 && (await isDoneInTime(this.catchUp()))) return true
    if (this.isFresh()) return true
    const canBridge = fallback !== undefined && policy.choice === 'grace' && this.#grace.isLive()
    return canBridge && (await isDoneInTime(this.#ask.run())) && this.isFresh()
  }

  assertKnown(accountId: AccountId | undefined): void {
    if (this.#stale.size === 0) return
    if (accountId === undefined ? this.#lacksKeys : this.#stale.has(accountId)) throw unavailable()
  }

  catchUp(): Promise<void> {
    return this.#catchUp.run()
  }

  wake(): void {
    if (!this.#isClosed) this.catchUp().catch(() => {})
  }

  /** Called when the connection is lost, so that attempts are useless. */
  lose(error: unknown): void {
    this.#fail(error)
  }

  state(): FreshnessState {
    const isLost = this.#failures > 0
    return {
      status: !isLost ? 'ok' : this.isFresh() ? 'grace' : 'away',
      leaseMs: Math.round(this.#lease.leftMs),
      graceMs: Math.round(this.#grace.leftMs),
      contactAgeMs: Math.round(this.#clocks.steady() - this.#contactAtMs),
      appliedSeq: this.#applied,
      behind: Math.max(0, this.#known - this.#applied, this.#seen - this.#applied),
      refreshes: this.#refreshes,
    }
  }

  #mayBridge(): boolean {
    const { policy, fallback } = this.#options
    if (policy.choice === 'closed' || !this.#grace.isLive()) return false
    if (policy.choice === 'grace' && fallback !== undefined) return this.#fallbackLease.isLive()
    return this.#failures > 0
  }

  async #tryCatchUp(): Promise<void> {
    if (this.#isClosed) throw new Error('this node has left')
    clearTimeout(this.#timer)
    try {
      await this.#toNewest()
    } catch (error) {
      this.#fail(error)
      await this.#followByReading()
      this.#catchUpIn(retryDelayMs(this.#failures))
      throw error
    }
    const wasLost = this.#failures > 0
    this.#failures = 0
    clearTimeout(this.#fallbackTimer)
    if (wasLost) this.#options.onChange?.(this.state())
    this.#catchUpIn((this.#options.leaseMs / 3) * (0.8 + Math.random() / 5))
    this.#sweepAtTimes()
    this.#tellAtTimes()
  }

  async #toNewest(): Promise<void> {
    const { feed, leaseMs, policy } = this.#options
    for (;;) {
      // The report is sent before the renewal that acknowledges the changes, because other nodes
      // read the report after the acknowledgement.
      if (this.#ended.length > 0) await feed.reportEnded(this.#ended)
      this.#ended = []
      const asked = momentOf(this.#clocks)
      const counter = await feed.renew(this.#applied)
      if (counter === undefined) await feed.register(this.#applied)
      else if (counter !== this.#applied) await this.#follow(counter)
      else {
        this.#lease.grant(asked, leaseMs)
        this.#grace.grant(asked, Math.max(leaseMs, policy.graceMs))
        this.#contactAtMs = asked.steadyMs
        this.#known = counter
        this.#stale.clear()
        this.#lacksKeys = false
        return
      }
    }
  }

  async #follow(counter: number): Promise<void> {
    const { feed, followers } = this.#options
    this.#seen = counter
    const changes = await feed.since(this.#applied, CHANGES_PER_PAGE)
    const isOlder = counter < this.#applied
    // The list is incomplete after too many changes, after an hour, or after a restore from a
    // backup.
    const isWhole =
      !isOlder && changes[0]?.seq === this.#applied + 1 && counter - this.#applied <= MOST_FOLLOWED
    if (isOlder) this.#options.onSetBack?.(this.#applied, counter)
    const ended = await (isWhole ? followers.follow(changes) : followers.followAll(isOlder))
    this.#ended = [...this.#ended, ...ended]
    if (isOlder) {
      this.#known = counter
      await this.#options.fallback?.forget(counter).catch(() => {})
    }
    this.#applied = isWhole ? (changes.at(-1)?.seq ?? counter) : counter
    this.#tellFallback(changes)
  }

  /**
   * A read-only database, as during a failover, grants no lease, but earlier commits can still be
   * read. An unavailable database fails immediately.
   */
  async #followByReading(): Promise<void> {
    try {
      for (;;) {
        const counter = await this.#options.feed.counter()
        if (counter === this.#applied) break
        await this.#follow(counter)
      }
    } catch {
      // The log already has the reason why this node has no lease.
      return
    }
    if (this.#applied < this.#known) return
    this.#known = this.#applied
    this.#stale.clear()
    this.#lacksKeys = false
  }

  /**
   * Publishes changes of other nodes too, because a node may die before publishing its own changes.
   */
  #tellFallback(changes: readonly FollowedChange[]): void {
    const toldAtMs = this.#clocks.steady()
    const told = () => {
      this.#toldAtMs = toldAtMs
    }
    this.#options.fallback?.publish(this.#applied, changes).then(told, () => {})
  }

  #tellAtTimes(): void {
    const sinceMs = this.#clocks.steady() - this.#toldAtMs
    const { fallback } = this.#options
    if (fallback !== undefined && (sinceMs > TELL_EVERY_MS || sinceMs > fallback.connectedForMs))
      this.#tellFallback([])
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return
    this.#failures += 1
    if (this.#failures > 1) return
    this.#options.onChange?.(this.state(), error)
    this.#askFallbackIn(0)
  }

  #catchUpIn(delayMs: number): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), delayMs)
    this.#timer.unref()
  }

  #askFallbackIn(delayMs: number): void {
    const { fallback, policy } = this.#options
    if (this.#isClosed || fallback === undefined || policy.choice !== 'grace') return
    clearTimeout(this.#fallbackTimer)
    this.#fallbackTimer = setTimeout(() => {
      this.#ask
        .run()
        .catch(() => {})
        .finally(() => {
          if (this.#failures > 0)
            this.#askFallbackIn((this.#options.leaseMs / 3) * (0.8 + Math.random() / 5))
        })
    }, delayMs)
    this.#fallbackTimer.unref()
  }

  async #askFallback(): Promise<void> {
    const { fallback, leaseMs } = this.#options
    if (fallback === undefined) return
    for (;;) {
      const asked = momentOf(this.#clocks)
      const answer = await fallback.renew(this.#known, leaseMs)
      if (answer.type === 'granted') return this.#fallbackLease.grant(asked, leaseMs)
      if (answer.type === 'refused') throw new Error('nobody vouches for what this node holds')
      for (const change of answer.changes) this.#note(change)
      this.#known = answer.changes.at(-1)?.seq ?? this.#known
    }
  }

  #note(change: FollowedChange): void {
    if (this.#options.followers.followBlindly(change)) return
    this.#stale.add(change.accountId)
    if (change.resourceType === 'key') this.#lacksKeys = true
  }

  #sweepAtTimes(): void {
    const nowMs = this.#clocks.steady()
    if (nowMs - this.#sweptAtMs < SWEEP_EVERY_MS) return
    this.#sweptAtMs = nowMs
    this.#options.feed.sweep().catch(() => {})
  }
}

async function isDoneInTime(work: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, false)
  })
  const done = work.then(
    () => true,
    () => false,
  )
  return await Promise.race([done, late]).finally(() => clearTimeout(timer))
}

function unavailable(): GatewayError {
  return new GatewayError(
    'unavailable',
    'This node may be out of date, and the database cannot be reached. Try again soon.',
    { headers: { 'retry-after': '2' } },
  )
}
