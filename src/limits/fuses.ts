/** Counts the calls and the spending of sessions and users for fuses, on this node. */
import type { Stopwatch } from '../core/clock.ts'
import type { Fuse, FuseCause } from '../core/fuse.ts'
import { addCosts, toNanoUsd } from '../core/money.ts'

const MINUTE_MS = 60_000
const SLOT_MINUTES = 5
/** An hour. The current slot is incomplete, so the slots cover the last 55 to 60 minutes. */
const SLOTS = 12
const FORGOTTEN_AFTER_MS = SLOTS * SLOT_MINUTES * MINUTE_MS
/** Bounds the memory to about 15 MB. The head with the oldest call or cost is dropped first. */
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

export class FuseCounters {
  readonly #clock: Stopwatch
  readonly #mostHeads: number
  /** By `fusedStopId`, in the order of the latest use. */
  readonly #counters = new Map<string, Counter>()

  constructor(clock: Stopwatch, mostHeads = MOST_HEADS) {
    this.#clock = clock
    this.#mostHeads = mostHeads
  }

  get size(): number {
    return this.#counters.size
  }

  /** @returns `calls` when this call blows the fuse */
  noteCall({ callsPerMinute, forMinutes }: Fuse, head: string): FuseCause | undefined {
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
  noteCost({ usd }: Fuse, head: string, nanoUsd: number): FuseCause | undefined {
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
  forget(head: string): void {
    this.#counters.delete(head)
  }

  #minute(): number {
    return Math.floor(this.#clock.elapsed() / MINUTE_MS)
  }

  #slot(): number {
    return Math.floor(this.#minute() / SLOT_MINUTES)
  }

  #use(head: string): Counter {
    const usedAtMs = this.#clock.elapsed()
    const counter = this.#counters.get(head) ?? {
      ...{ minute: this.#minute(), calls: 0, minutesOver: 0 },
      ...{ slot: this.#slot(), spent: [0], usedAtMs },
    }
    counter.usedAtMs = usedAtMs
    this.#counters.delete(head)
    this.#counters.set(head, counter)
    this.#dropOld(usedAtMs)
    return counter
  }

  #dropOld(nowMs: number): void {
    for (const [head, { usedAtMs }] of this.#counters) {
      const isOld = nowMs - usedAtMs >= FORGOTTEN_AFTER_MS
      if (!isOld && this.#counters.size <= this.#mostHeads) return
      this.#counters.delete(head)
    }
  }
}
