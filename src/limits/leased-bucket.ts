/**
 * A node's leased part of a shared bucket. The shared bucket has already paid for leased units, so
 * all nodes together never take more than the bucket gave; units leased by a dead node are refilled
 * over time.
 */
import type { BucketDemand, BucketGrant } from './key-script.ts'
import { type Availability, PARTS_PER_UNIT, type RateBucket, TokenBucket } from './token-bucket.ts'

export const LARGEST_LEASE = 1 / 64
/** A node holds as many units as it used in this time, if it used at least one unit. */
export const LEASE_MS = 100
/** Minimum time over which the usage rate is measured. */
export const SHORTEST_LOOK_MS = 20
/**
 * A node does not ask the store again within this time, so that a flood of refused calls costs one
 * request.
 */
export const FRESH_MS = 50

export class LeasedBucket implements RateBucket {
  /**
   * The content of the shared bucket including this node's part; while the store is unavailable,
   * only this node's share.
   */
  readonly view: TokenBucket
  /** Units granted and not used; negative for units used without a grant. */
  #held = 0
  #ahead = 0
  #usedSinceRequest = 0
  #usedPerMs = 0
  #requestedAtMs: number
  #answeredAtMs = Number.NEGATIVE_INFINITY
  #isLent = false
  #notLentAtMs = Number.NEGATIVE_INFINITY
  #lostPart: number | undefined
  /** Undefined while the store is available. */
  #alone: { readonly nodes: number; used: number } | undefined

  constructor(perMinute: number, nowMs: number) {
    this.view = new TokenBucket(perMinute, nowMs)
    this.#requestedAtMs = nowMs
  }

  /** Units used in the duration of a lease. */
  get pace(): number {
    return Math.floor(this.#usedPerMs * LEASE_MS)
  }

  refill(perMinute: number, nowMs: number): void {
    const { nodes } = this.#alone ?? { nodes: 1 }
    this.view.refill(nodes === 1 ? perMinute : shareOf(perMinute, nodes), nowMs)
  }

  /**
   * `yes`: enough units here; `no`: not enough anywhere; `ask`: only the shared store knows.
   * @param isAlone whether no other call runs here, so that the bucket may lend
   */
  has(units: number, nowMs: number, isAlone = false): Availability {
    if (this.view.perMinute === Number.POSITIVE_INFINITY) return 'yes'
    const mayLend = isAlone && this.view.lends(units)
    if (this.#alone !== undefined) return mayLend || this.view.holds(units) ? 'yes' : 'no'
    if (isAlone && this.#isLent) return 'yes'
    // While the bucket is in debt, its held units are reserved for a call that runs alone.
    if (this.#held >= units && this.view.parts >= 0) return 'yes'
    if (mayLend && !isWithin(FRESH_MS, this.#notLentAtMs, nowMs)) return 'ask'
    if (!isWithin(FRESH_MS, this.#answeredAtMs, nowMs)) return 'ask'
    return this.view.holds(units) ? 'ask' : 'no'
  }

  take(units: number): number {
    const taken = this.view.takable(units)
    this.#isLent = false
    this.charge(taken)
    return taken
  }

  charge(units: number): void {
    this.view.charge(units)
    this.#usedSinceRequest += units
    if (this.#alone !== undefined) this.#alone.used += units
    else if (Number.isFinite(this.view.perMinute)) this.#held -= units
  }

  get isLow(): boolean {
    if (this.#alone !== undefined || !Number.isFinite(this.view.perMinute)) return false
    return this.#ahead > 0 && this.#held < this.#ahead / 2
  }

  /**
   * Whether this node holds many spare units or owes many units, so that other nodes should know
   * soon.
   */
  get isOff(): boolean {
    if (this.#alone !== undefined || !Number.isFinite(this.view.perMinute)) return false
    const off = Math.max(1, this.view.perMinute * LARGEST_LEASE)
    return this.#held - this.#ahead >= off || this.#held <= -off
  }

  get isSettled(): boolean {
    return this.#held === 0
  }

  /**
   * The next request to the store. Returned and owed units count as reported from now on.
   * @param needed units that calls wait for, in total and for the first call
   */
  demand(
    needed: { readonly all: number; readonly first: number; readonly isAlone?: boolean },
    nodes: number,
    nowMs: number,
  ): BucketDemand {
    this.#look(nowMs)
    const { perMinute: limit } = this.view
    if (!Number.isFinite(limit)) return { limit, ...NOTHING }
    const missing = Math.max(0, limit - this.view.parts / PARTS_PER_UNIT)
    const keep = needed.all + this.#ahead
    const charge = this.#held < 0 ? -this.#held : -Math.max(0, this.#held - keep)
    this.#held += charge
    return {
      limit,
      charge,
      missing: Math.round(this.#lostPart ?? missing / nodes),
      wanted: Math.max(0, keep - this.#held),
      atLeast: Math.max(0, Math.min(limit, needed.first) - this.#held),
      lendTo: needed.isAlone === true ? Math.min(limit, needed.first) : 0,
      held: Math.max(0, this.#held),
    }
  }

  accept(
    { granted, parts, isLent }: BucketGrant,
    { lendTo }: Pick<BucketDemand, 'lendTo'>,
    nowMs: number,
  ): void {
    // An answer that arrives after the store was given up may be outdated, and is ignored.
    if (this.#alone !== undefined || !Number.isFinite(this.view.perMinute)) return
    this.#held += granted
    this.#isLent = isLent
    this.#lostPart = undefined
    this.#answeredAtMs = nowMs
    this.view.assume(parts + this.#held * PARTS_PER_UNIT, nowMs)
    // A call of the key runs on another node, so the store does not lend.
    if (!isLent && lendTo > 0 && this.view.lends(lendTo)) this.#notLentAtMs = nowMs
  }

  /**
   * Handles a missing answer. Debts remain; returned units may have arrived, and are not used
   * again.
   */
  fail({ charge }: BucketDemand): void {
    if (charge <= 0) return
    if (this.#alone === undefined) this.#held -= charge
    else this.#alone.used += charge
  }

  leave(nodes: number, nowMs: number): void {
    const { perMinute } = this.view
    this.#alone = { nodes, used: 0 }
    if (!Number.isFinite(perMinute)) return
    const heldParts = Math.max(0, this.#held) * PARTS_PER_UNIT
    const parts =
      heldParts + Math.min(0, this.#held) * PARTS_PER_UNIT + (this.view.parts - heldParts) / nodes
    this.#held = 0
    this.view.refill(shareOf(perMinute, nodes), nowMs)
    this.view.assume(parts, nowMs)
  }

  /**
   * Resumes use of the store. This node then owes the units used during the outage, minus the units
   * refilled in that time.
   */
  rejoin(perMinute: number, nowMs: number): void {
    const alone = this.#alone
    this.#alone = undefined
    this.#answeredAtMs = Number.NEGATIVE_INFINITY
    if (alone === undefined || !Number.isFinite(perMinute)) return
    const missing = Math.max(
      0,
      Math.ceil(shareOf(perMinute, alone.nodes) - this.view.parts / PARTS_PER_UNIT),
    )
    this.#held = -Math.max(0, Math.min(Math.ceil(alone.used), missing))
    this.#lostPart = missing
    this.view.refill(perMinute, nowMs)
  }

  #look(nowMs: number): void {
    const elapsedMs = Math.max(SHORTEST_LOOK_MS, nowMs - this.#requestedAtMs)
    const usedPerMs = Math.max(0, this.#usedSinceRequest) / elapsedMs
    this.#usedPerMs = elapsedMs < 2 * LEASE_MS ? (this.#usedPerMs + usedPerMs) / 2 : usedPerMs
    this.#usedSinceRequest = 0
    this.#requestedAtMs = nowMs
    const largest = Math.floor(this.view.perMinute * LARGEST_LEASE)
    this.#ahead = Math.min(largest, this.pace)
  }
}

const NOTHING = { charge: 0, missing: 0, wanted: 0, atLeast: 0, lendTo: 0, held: 0 }

/** False when the clock was set back after `sinceMs`. */
function isWithin(ms: number, sinceMs: number, nowMs: number): boolean {
  return nowMs >= sinceMs && nowMs - sinceMs < ms
}

function shareOf(perMinute: number, nodes: number): number {
  return perMinute <= 0 ? 0 : Math.max(1, Math.floor(perMinute / nodes))
}
