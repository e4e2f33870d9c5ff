/** Counts the calls and the spending of sessions and users for fuses, on this node. */
import type { Stopwatch } from '../core/clock.ts'
import type { Fuse, FuseCause } from '../core/fuse.ts'
import type { AccountId } from '../core/ids.ts'
import { addCosts, toNanoUsd } from '../core/money.ts'
import type { CountedHead } from '../gateway/fuses.ts'

const MINUTE_MS = 60_000
const SLOT_MINUTES = 5
/** An hour. The current slot is incomplete, so the slots cover the last 55 to 60 minutes. */
const SLOTS = 12
const FORGOTTEN_AFTER_MS = SLOTS * SLOT_MINUTES * MINUTE_MS
/**
 * Bounds the memory of all accounts to about 15 MB. Beyond it, an account with more than an equal
 * share loses its head with the oldest call or cost.
 */
const MOST_HEADS = 50_000

/** Numbers of minutes and times are on the stopwatch's scale. */
interface Counter {
  minute: number
  calls: number
  /** Minutes in a row before `minute` with more calls than the fuse allows. */
  minutesOver: number
  slot: number
  /** Billionths of a US dollar by slot, the current slot last; at most `SLOTS`. */
  spent: number[]
  usedAtMs: number
}

interface AccountCounters {
  readonly id: AccountId
  /** By `stopId`, in the order of the latest use. */
  readonly byHead: Map<string, Counter>
  usedAtMs: number
}

export class FuseCounters {
  readonly #clock: Stopwatch
  readonly #mostHeads: number
  /** In the order of the latest use. */
  readonly #accounts = new Map<AccountId, AccountCounters>()
  #size = 0

  constructor(clock: Stopwatch, mostHeads = MOST_HEADS) {
    this.#clock = clock
    this.#mostHeads = mostHeads
  }

  get size(): number {
    return this.#size
  }

  /** @returns `calls` when this call blows the fuse */
  noteCall({ callsPerMinute, forMinutes }: Fuse, head: CountedHead): FuseCause | undefined {
    if (callsPerMinute === null) return undefined
    const counter = this.#use(head)
    const minute = this.#minute()
    if (minute !== counter.minute) {
      const continues = minute === counter.minute + 1 && counter.calls > callsPerMinute
      counter.minutesOver = continues ? counter.minutesOver + 1 : 0
      counter.minute = minute
      counter.calls = 0
    }
    counter.calls += 1
    const isOver = counter.calls > callsPerMinute
    return isOver && counter.minutesOver + 1 >= forMinutes ? 'calls' : undefined
  }

  /** @returns `usd` when this cost blows the fuse */
  noteCost({ usd }: Fuse, head: CountedHead, nanoUsd: number): FuseCause | undefined {
    if (usd === null) return undefined
    const counter = this.#use(head)
    const slot = this.#slot()
    const passed = Math.min(slot - counter.slot, SLOTS)
    for (let each = 0; each < passed; each += 1) counter.spent.push(0)
    counter.spent.splice(0, counter.spent.length - SLOTS)
    counter.slot = slot
    const last = counter.spent.length - 1
    counter.spent[last] = addCosts(counter.spent[last] ?? 0, nanoUsd)
    return counter.spent.reduce(addCosts, 0) > toNanoUsd(usd) ? 'usd' : undefined
  }

  /** Resets the counts, because a stop began or was lifted. */
  forget({ accountId, stopId }: CountedHead): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) this.#drop(account, stopId)
  }

  #minute(): number {
    return Math.floor(this.#clock.elapsed() / MINUTE_MS)
  }

  #slot(): number {
    return Math.floor(this.#minute() / SLOT_MINUTES)
  }

  #use({ accountId, stopId }: CountedHead): Counter {
    const usedAtMs = this.#clock.elapsed()
    const account = this.#accounts.get(accountId) ?? { id: accountId, byHead: new Map(), usedAtMs }
    account.usedAtMs = usedAtMs
    this.#accounts.delete(accountId)
    this.#accounts.set(accountId, account)
    const counter = account.byHead.get(stopId) ?? {
      ...{ minute: this.#minute(), calls: 0, minutesOver: 0 },
      ...{ slot: this.#slot(), spent: [0], usedAtMs },
    }
    counter.usedAtMs = usedAtMs
    if (!account.byHead.delete(stopId)) this.#size += 1
    account.byHead.set(stopId, counter)
    this.#dropOld(account, usedAtMs)
    if (this.#size > this.#mostHeads) this.#dropSurplus(account)
    return counter
  }

  #dropOld(used: AccountCounters, nowMs: number): void {
    const isOld = ({ usedAtMs }: { readonly usedAtMs: number }) =>
      nowMs - usedAtMs >= FORGOTTEN_AFTER_MS
    for (const [id, account] of this.#accounts) {
      if (!isOld(account)) break
      this.#accounts.delete(id)
      this.#size -= account.byHead.size
    }
    for (const [head, counter] of used.byHead) {
      if (!isOld(counter)) return
      this.#drop(used, head)
    }
  }

  /** Searches the accounts only for an account that is within its share. */
  #dropSurplus(used: AccountCounters): void {
    const share = Math.floor(this.#mostHeads / this.#accounts.size)
    const hasMore = ({ byHead }: AccountCounters) => byHead.size > share
    const account = hasMore(used) ? used : this.#accounts.values().find(hasMore)
    const [oldest] = account?.byHead.keys() ?? []
    if (account !== undefined && oldest !== undefined) this.#drop(account, oldest)
  }

  #drop(account: AccountCounters, stopId: string): void {
    if (account.byHead.delete(stopId)) this.#size -= 1
    if (account.byHead.size === 0) this.#accounts.delete(account.id)
  }
}
