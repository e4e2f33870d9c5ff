/**
 * Counters of a default budget, one for each user or key that calls (decision 0122). A counter is
 * made by the head's first call, which waits until the head's past usage is read, and is dropped
 * when the head no longer calls.
 */
import { GatewayError } from '../core/errors.ts'
import type { CallDimensions, Caller } from '../gateway/ports.ts'
import { RoundRobin } from './round-robin.ts'
import {
  BudgetCounter,
  type BudgetCounterOptions,
  type BudgetRule,
  type CallSize,
  type Reservation,
  type UsageWindow,
  type UsedAmounts,
  type UsedSoFar,
} from './usage-counter.ts'

/** The facts of a caller that decide which budgets count the call. */
export type CountedCaller = Pick<Caller, 'accountId' | 'keyId' | 'token' | 'fixed'>

const IDLE_MS = 600_000
/** A client that sends a new name with each call must not fill the memory. */
const CROWDED_IDLE_MS = 60_000
const CROWD = 100_000
/** Counters that each call checks for idleness, so that no timer is needed. */
const SWEPT_FOR_EACH_CALL = 2

export interface HeadCounterOptions extends BudgetCounterOptions {
  /** Reads the head's usage of the window's period from the ledger. */
  readonly readPast: (counter: HeadCounter, window: UsageWindow) => Promise<UsedSoFar>
  /** Raises the window to at least this usage. */
  readonly countPast: (window: UsageWindow, past: UsedSoFar) => void
  /** False while other nodes do not know the window's usage. */
  readonly mayDrop: (window: UsageWindow) => boolean
}

export class HeadCounter extends BudgetCounter {
  /** A user or key, as in the ledger. */
  readonly head: string
  readonly #options: HeadCounterOptions
  /** All calls since then are counted. */
  #countsSinceMs: number
  #lastCallMs: number
  #running = 0
  #isReadAgain = false

  constructor(rule: BudgetRule, head: string, options: HeadCounterOptions) {
    super(rule, options)
    this.head = head
    this.#options = options
    this.#countsSinceMs = options.now()
    this.#lastCallMs = this.#countsSinceMs
  }

  override get id(): string {
    return `${this.budget.id}:${this.head}`
  }

  override whenCounted(atMs: number): Promise<void> | undefined {
    this.#lastCallMs = this.#options.now()
    const window = this.windowAt(atMs)
    if (window.isCounted) {
      if (this.#isReadAgain) this.#readAgain(window)
      return undefined
    }
    if (window.startsAtMs >= this.#countsSinceMs) {
      window.isCounted = true
      return undefined
    }
    window.counting ??= this.#count(window)
    return window.counting
  }

  /**
   * The ledger may know more usage than this counter.
   * @param isAwaited whether the next call waits for the reading
   */
  readLater(isAwaited: boolean): void {
    if (!isAwaited) {
      this.#isReadAgain = true
      return
    }
    this.#countsSinceMs = Number.POSITIVE_INFINITY
    for (const window of this.windows()) window.isCounted = false
  }

  override reserve(window: UsageWindow, call: CallSize): Reservation {
    this.#running += 1
    return super.reserve(window, call)
  }

  override settle(reservation: Reservation, used: UsedAmounts): void {
    this.#running -= 1
    reservation.settle(used)
  }

  isIdle(idleMs: number): boolean {
    return (
      this.#running === 0 &&
      this.#options.now() - this.#lastCallMs >= idleMs &&
      this.windows().every((window) => this.#options.mayDrop(window))
    )
  }

  /** @throws GatewayError `unavailable` (rejects) */
  async #count(window: UsageWindow): Promise<void> {
    try {
      this.#options.countPast(window, await this.#options.readPast(this, window))
      window.isCounted = true
    } catch (cause) {
      throw new GatewayError('unavailable', 'The current usage cannot be read. Try again soon.', {
        cause,
      })
    } finally {
      window.counting = undefined
    }
  }

  /** Calls continue meanwhile, because the window has the usage of this node. */
  #readAgain(window: UsageWindow): void {
    this.#isReadAgain = false
    this.#count(window).catch(() => {
      this.#isReadAgain = true
    })
  }
}

export class HeadBudget {
  readonly rule: BudgetRule
  readonly #options: HeadCounterOptions
  readonly #crowd: number
  readonly #heads = new Map<string, HeadCounter>()
  readonly #swept = new RoundRobin(this.#heads)

  /** @param crowd number of heads from which on idle counters are dropped after a minute */
  constructor(rule: BudgetRule, options: HeadCounterOptions, crowd = CROWD) {
    this.rule = rule
    this.#options = options
    this.#crowd = crowd
  }

  get size(): number {
    return this.#heads.size
  }

  find(head: string): HeadCounter | undefined {
    return this.#heads.get(head)
  }

  of(head: string): HeadCounter {
    const known = this.#heads.get(head)
    if (known !== undefined) return known
    const counter = new HeadCounter(this.rule, head, this.#options)
    this.#heads.set(head, counter)
    return counter
  }

  sweep(): void {
    const most = Math.min(SWEPT_FOR_EACH_CALL, this.#heads.size)
    const idleMs = this.#heads.size < this.#crowd ? IDLE_MS : CROWDED_IDLE_MS
    for (let looked = 0; looked < most; looked += 1) {
      const counter = this.#swept.next()
      if (counter?.isIdle(idleMs) === true) this.#heads.delete(counter.head)
    }
  }

  readLater(isAwaited: boolean): void {
    for (const counter of this.#heads.values()) counter.readLater(isAwaited)
  }

  /** @returns undefined when the budget does not apply to the call */
  headOf(caller: CountedCaller, { user }: CallDimensions): string | undefined {
    if (this.rule.budget.scope.type === 'each-user') return user
    return isPersonal(caller) ? undefined : caller.keyId
  }
}

/** A member's own token, or the playground, whose calls have the member's id as their key. */
export function isPersonal({ keyId, token, fixed }: CountedCaller): boolean {
  return token?.owner?.type === 'member' || fixed?.user === keyId
}
