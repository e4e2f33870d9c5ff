/**
 * A quota or budget in a period: all nodes' usage as known here, and the part that this node may
 * reserve without asking. The window holds all nodes' sums as last reported, plus what this node
 * has added since.
 */
import type { SharedStore } from '../cluster/shared-store.ts'
import { FRESH_MS, LARGEST_LEASE, LEASE_MS, SHORTEST_LOOK_MS } from './leased-bucket.ts'
import type { LimitedWindow } from './limited-window.ts'
import type { Amounts, UsageWindow, UsedSoFar } from './usage-counter.ts'
import { readUsageGrant, toUsageArguments, USAGE_SCRIPT, type UsageGrant } from './usage-script.ts'

/** How long a dead node's reservations stay taken. */
const RESERVED_LEASE_MS = 15_000
const TRUSTED_MS = 10_000
const RENEW_MS = 5_000
/** Windows used in the last minute are refreshed, for display. */
const USED_MS = 60_000
/** A call's usage is shipped after a second, and other nodes read the usage some seconds later. */
const IN_LEDGER_MS = 3_000

const NOTHING: UsedSoFar = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }

/** State shared by all leases of a node, because a node may have thousands of leases. */
export interface UsageLeasePorts {
  readonly store: SharedStore
  readonly prefix: string
  readonly onSums: (limited: LimitedWindow) => void
  /**
   * Numbers additions across leases of the same window, because the store ignores numbers that it
   * has already seen from this node.
   */
  readonly nextSequence: () => number
  readonly now: () => number
  readonly sharedNow: () => number
}

export class UsageLease {
  readonly window: UsageWindow
  readonly #limited: LimitedWindow
  readonly #ports: UsageLeasePorts
  #reported: UsedSoFar
  #unavailableSinceMs: number | undefined
  #isInLedger = false
  /** Whether the ledger has usage that the store does not know. */
  #isLedgerAhead = false
  #others: Amounts = NOTHING
  #allowed: Amounts = NOTHING
  #nodes = 1
  #askedAtMs = Number.NEGATIVE_INFINITY
  #birth = ''
  /** An addition that was sent without an answer, and may have arrived. */
  #doubtful: { readonly sequence: number; readonly added: UsedSoFar } | undefined
  #needs: readonly Amounts[] = NO_NEEDS
  /** The part of the allowance kept for calls whose request was just answered. */
  #kept: Amounts = NOTHING
  #pending: Promise<boolean> | undefined
  #takenAtMs = Number.NEGATIVE_INFINITY
  #takenTokens = 0
  #takenNanoUsd = 0

  constructor(limited: LimitedWindow, ports: UsageLeasePorts, floor: UsedSoFar = NOTHING) {
    this.window = limited.window
    this.#limited = limited
    this.#ports = ports
    this.#reported = floor
  }

  isFresh(nowMs: number): boolean {
    const ageMs = nowMs - this.#askedAtMs
    return ageMs >= 0 && ageMs < FRESH_MS
  }

  /**
   * Whether an amount may be reserved without asking the store; while the store is unavailable,
   * within this node's share.
   */
  covers(wanted: Amounts, nowMs: number): boolean {
    const { store } = this.#ports
    const limits = this.#limited.limits.refuseAt
    const isShared = store.mode === 'shared'
    // Runs for each call, so the function allocates nothing.
    if (!Number.isFinite(limits.tokens) && !Number.isFinite(limits.nanoUsd)) return true
    if (isShared && (nowMs - this.#askedAtMs >= TRUSTED_MS || nowMs < this.#askedAtMs)) return false
    return (
      this.#coversField('tokens', limits, wanted) && this.#coversField('nanoUsd', limits, wanted)
    )
  }

  /** Whether this node has used its share of the amounts, while the store is unavailable. */
  isShareUsedUp(amounts: Amounts): boolean {
    return (
      !this.#coversField('tokens', amounts, NOTHING) ||
      !this.#coversField('nanoUsd', amounts, NOTHING)
    )
  }

  #coversField(field: keyof Amounts, limits: Amounts, wanted: Amounts): boolean {
    if (!Number.isFinite(limits[field])) return true
    const { store } = this.#ports
    const { window } = this
    const reserved = field === 'tokens' ? window.reservedTokens : window.reservedNanoUsd
    const own = window[field] - this.#reported[field] + reserved - this.#others[field]
    if (store.mode === 'shared')
      return own + this.#kept[field] + wanted[field] <= this.#allowed[field]
    const rest = limits[field] - this.#reported[field] - this.#others[field] - this.#allowed[field]
    // A call is admitted while usage is below the limit, so the last call may exceed the limit, as
    // with limits in memory.
    return own < this.#allowed[field] + Math.max(0, rest) / Math.max(this.#nodes, store.nodes)
  }

  noteTaken(taken: Amounts, nowMs: number): void {
    this.#takenAtMs = nowMs
    this.#takenTokens += taken.tokens
    this.#takenNanoUsd += taken.nanoUsd
  }

  /**
   * Asks the store, for this caller and all concurrent callers. Never rejects: callers check again.
   * @returns whether the store had enough, which is then kept for the callers until `release`
   */
  async ask(needed: Amounts): Promise<boolean> {
    this.#needs = [...this.#needs, needed]
    if (this.#pending !== undefined) await this.#pending
    return await this.#askOnce()
  }

  /** Ends a grant that the call takes now or does not need. */
  release(granted: Amounts): void {
    this.#kept = toAmounts((field) => this.#kept[field] - granted[field])
  }

  tend(nowMs: number): boolean {
    this.#noteMode(nowMs)
    if (this.#ports.store.mode !== 'shared' || this.#pending !== undefined) return false
    const hasChanges =
      this.#doubtful !== undefined || this.#isLedgerAhead || !isNothing(this.#unsent)
    const isOff =
      this.#isLimited && FIELDS.some((field) => this.#allowed[field] !== this.#reserved[field])
    const isUsed =
      nowMs - this.#takenAtMs < USED_MS || FIELDS.some((field) => this.#reserved[field] !== 0)
    const isOld = isUsed && nowMs - this.#askedAtMs >= RENEW_MS
    if (!hasChanges && !isOff && !isOld) return false
    void this.#askOnce()
    return true
  }

  /** Resolves when the store knows all usage before this call, or is unavailable. Never rejects. */
  async flush(): Promise<void> {
    if (this.#pending !== undefined) await this.#pending
    if (this.#doubtful !== undefined || !isNothing(this.#unsent)) await this.#askOnce()
  }

  /**
   * Resolves when the store's answer is at most `maxAgeMs` old, or the store is unavailable. Never
   * rejects.
   */
  async refresh(maxAgeMs: number): Promise<void> {
    if (this.#pending !== undefined) await this.#pending
    const ageMs = this.#ports.now() - this.#askedAtMs
    if (ageMs >= maxAgeMs || ageMs < 0) await this.#askOnce()
  }

  /** Whether the store knows all usage of this node. */
  get isFlushed(): boolean {
    return this.#pending === undefined && this.#doubtful === undefined && isNothing(this.#unsent)
  }

  get isIdle(): boolean {
    return this.isFlushed && FIELDS.every((field) => this.#reserved[field] === 0)
  }

  isOver(nowMs: number): boolean {
    return nowMs > this.window.endsAtMs && this.isIdle
  }

  async settled(): Promise<void> {
    while (this.#pending !== undefined) await this.#pending
  }

  /**
   * Raises the window to at least the usage of all nodes in the ledger.
   * @param hasOwn whether the ledger may include this node's unreported usage, which must not count
   * twice
   */
  raiseFloor(floor: UsedSoFar, hasOwn: boolean): void {
    const own = hasOwn ? this.#unsent : NOTHING
    const before = this.#reported
    this.#accept(
      greater(before, {
        tokens: floor.tokens - own.tokens,
        nanoUsd: floor.nanoUsd - own.nanoUsd,
        unpricedCalls: floor.unpricedCalls - own.unpricedCalls,
      }),
    )
    this.#isLedgerAhead ||= exceeds(this.#reported, before)
  }

  /**
   * Usage that was unreported for long is in the ledger by now, where other nodes may have read the
   * usage. So the usage is reported as a minimum and not added.
   */
  #noteMode(nowMs: number): void {
    if (this.#ports.store.mode !== 'shared') {
      this.#unavailableSinceMs ??= nowMs
      return
    }
    if (this.#unavailableSinceMs !== undefined && nowMs - this.#unavailableSinceMs >= IN_LEDGER_MS)
      this.#isInLedger = true
    this.#unavailableSinceMs = undefined
    // A pending answer subtracts what its request reported, so that usage must stay included until
    // then.
    if (!this.#isInLedger || this.#pending !== undefined) return
    this.#isInLedger = false
    const { tokens, nanoUsd, unpricedCalls } = this.window
    this.#reported = { tokens, nanoUsd, unpricedCalls }
    this.#doubtful = undefined
    this.#isLedgerAhead = true
  }

  /**
   * In a cluster the text in braces decides where the key is stored. Keys named `used` belong to
   * earlier versions and count millionths of a US dollar.
   */
  get #storeKey(): string {
    return `${this.#ports.prefix}:used-nano:{${this.#limited.id}}:${this.window.startsAtMs}`
  }

  get #isLimited(): boolean {
    const limits = this.#limited.limits.refuseAt
    return FIELDS.some((field) => Number.isFinite(limits[field]))
  }

  get #unsent(): UsedSoFar {
    const { window } = this
    return {
      tokens: window.tokens - this.#reported.tokens,
      nanoUsd: window.nanoUsd - this.#reported.nanoUsd,
      unpricedCalls: window.unpricedCalls - this.#reported.unpricedCalls,
    }
  }

  get #reserved(): Amounts {
    const { window } = this
    return {
      tokens: window.reservedTokens - this.#others.tokens,
      nanoUsd: window.reservedNanoUsd - this.#others.nanoUsd,
    }
  }

  /** Takes over the store's sums, plus the usage added here since the request. */
  #accept(reported: UsedSoFar, added: UsedSoFar = NOTHING): void {
    const { window } = this
    window.tokens += reported.tokens - this.#reported.tokens - added.tokens
    window.nanoUsd += reported.nanoUsd - this.#reported.nanoUsd - added.nanoUsd
    window.unpricedCalls +=
      reported.unpricedCalls - this.#reported.unpricedCalls - added.unpricedCalls
    this.#reported = reported
  }

  #askOnce(): Promise<boolean> {
    this.#pending ??= this.#exchange().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #exchange(): Promise<boolean> {
    const { store, now, sharedNow, nextSequence } = this.#ports
    const nowMs = now()
    const needed = sum(this.#needs)
    this.#needs = NO_NEEDS
    this.#noteMode(nowMs)
    if (store.mode !== 'shared') return false
    const isRepeated = this.#doubtful !== undefined
    const sent = this.#doubtful ?? { sequence: nextSequence(), added: this.#unsent }
    this.#doubtful = sent
    const limits = this.#limited.limits.refuseAt
    const ahead = this.#ahead(limits, nowMs)
    const unsent = this.#unsent
    const own = toAmounts((field) => this.#reserved[field] + this.#kept[field] + unsent[field])
    // Calls continue to take from the allowance during the request, so the request includes what
    // calls may still take.
    const left = toAmounts((field) =>
      Math.max(0, Math.min(ahead[field], this.#allowed[field] - own[field])),
    )
    // Includes unsent usage, because a repeated request contains only the usage of the first
    // request.
    const reserved = toAmounts((field) => own[field] + left[field] - sent.added[field])
    const spare = toAmounts((field) => ahead[field] - left[field])
    this.#allowed = toAmounts((field) => Math.min(this.#allowed[field], own[field] + left[field]))
    try {
      const answer = await store.run(
        USAGE_SCRIPT,
        this.#storeKey,
        toUsageArguments({
          nodeId: store.nodeId,
          nowMs: sharedNow(),
          leaseMs: RESERVED_LEASE_MS,
          endsAtMs: this.window.endsAtMs,
          birth: this.#birth,
          ...sent,
          isRepeated,
          floor: this.#reported,
          limit: limits,
          ceiling: this.#limited.limits.ceilings,
          ...{ reserved, needed, spare },
        }),
      )
      const grant = readUsageGrant(answer)
      this.#take(grant, sent.added, nowMs)
      const isGranted = FIELDS.every(
        (field) => grant.allowed[field] >= reserved[field] + needed[field],
      )
      if (isGranted) this.#kept = sum([this.#kept, needed])
      return isGranted
    } catch {
      // The store has recorded the failure and is unavailable from now on; unanswered data is sent
      // again.
      return false
    }
  }

  #take({ birth, used, others, allowed }: UsageGrant, added: UsedSoFar, nowMs: number): void {
    this.#doubtful = undefined
    this.#birth = birth
    // The ledger may have been read during the request, so the greater of the two sums counts.
    const known = greater(this.#reported, used)
    this.#isLedgerAhead = exceeds(known, used)
    this.#accept(known, added)
    this.window.reservedTokens += others.tokens - this.#others.tokens
    this.window.reservedNanoUsd += others.nanoUsd - this.#others.nanoUsd
    this.#others = orNothing(others.tokens, others.nanoUsd)
    this.#allowed = orNothing(allowed.tokens, allowed.nanoUsd)
    this.#nodes = this.#ports.store.nodes
    this.#askedAtMs = nowMs
    this.#ports.onSums(this.#limited)
  }

  /** The amounts that calls may take without asking: as much as calls took in `LEASE_MS`. */
  #ahead(limits: Amounts, nowMs: number): Amounts {
    const elapsedMs = Math.max(SHORTEST_LOOK_MS, nowMs - this.#askedAtMs)
    const taken = { tokens: this.#takenTokens, nanoUsd: this.#takenNanoUsd }
    this.#takenTokens = 0
    this.#takenNanoUsd = 0
    const ahead = (field: keyof Amounts) => {
      if (!Number.isFinite(limits[field])) return 0
      const usual =
        elapsedMs === Number.POSITIVE_INFINITY ? 0 : (taken[field] / elapsedMs) * LEASE_MS
      return Math.max(0, Math.floor(Math.min(limits[field] * LARGEST_LEASE, usual)))
    }
    return toAmounts(ahead)
  }
}

const FIELDS = ['tokens', 'nanoUsd'] as const
const NO_NEEDS: readonly Amounts[] = []

function toAmounts(amountOf: (field: keyof Amounts) => number): Amounts {
  return orNothing(amountOf('tokens'), amountOf('nanoUsd'))
}

/** Leases of idle windows hold nothing, and share one object for it. */
function orNothing(tokens: number, nanoUsd: number): Amounts {
  return tokens === 0 && nanoUsd === 0 ? NOTHING : { tokens, nanoUsd }
}

function isNothing({ tokens, nanoUsd, unpricedCalls }: UsedSoFar): boolean {
  return tokens === 0 && nanoUsd === 0 && unpricedCalls === 0
}

function greater(one: UsedSoFar, other: UsedSoFar): UsedSoFar {
  return {
    tokens: Math.max(one.tokens, other.tokens),
    nanoUsd: Math.max(one.nanoUsd, other.nanoUsd),
    unpricedCalls: Math.max(one.unpricedCalls, other.unpricedCalls),
  }
}

function exceeds(one: UsedSoFar, other: UsedSoFar): boolean {
  const { tokens, nanoUsd, unpricedCalls } = other
  return one.tokens > tokens || one.nanoUsd > nanoUsd || one.unpricedCalls > unpricedCalls
}

function sum(pairs: readonly Amounts[]): Amounts {
  let tokens = 0
  let nanoUsd = 0
  for (const pair of pairs) {
    tokens += pair.tokens
    nanoUsd += pair.nanoUsd
  }
  return { tokens, nanoUsd }
}
