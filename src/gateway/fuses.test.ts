/** When fuses blow, compared with a list of everything that a session did. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BlownFuse, Fuse } from '../core/fuse.ts'
import type { Gate } from '../core/gate.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import { toNanoUsd, toUsd } from '../core/money.ts'
import { fusedStopId, type Stop } from '../core/stop.ts'
import { FuseCounters } from '../limits/fuses.ts'
import { FusedCall, findFuses } from './fuses.ts'

const accountId = 'acc_1' as AccountId
const keyId = 'key_1' as KeyId
const MINUTE_MS = 60_000
/** Spending of at least this time is added up, and of at most an hour. */
const LEAST_WINDOW_MS = 55 * MINUTE_MS
const MOST_WINDOW_MS = 60 * MINUTE_MS

type Step =
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'begin' }
  | { readonly type: 'end'; readonly which: number; readonly usd: number }
  | { readonly type: 'lift' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant('pass' as const),
    ms: fc.oneof(
      fc.integer({ min: 0, max: 40_000 }),
      fc.integer({ min: 0, max: 70 * MINUTE_MS }),
      fc.constantFrom(MINUTE_MS, LEAST_WINDOW_MS, MOST_WINDOW_MS),
    ),
  }),
  { weight: 5, arbitrary: fc.constant<Step>({ type: 'begin' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ type: fc.constant('end' as const), which: fc.nat({ max: 9 }) },
      usd: fc.constantFrom(0, 0.1, 0.4, 1),
    }),
  },
  fc.constant<Step>({ type: 'lift' }),
)

const fuses: fc.Arbitrary<Fuse> = fc
  .record({
    usd: fc.constantFrom(null, 0.5, 2),
    callsPerMinute: fc.constantFrom(null, 1, 3),
    forMinutes: fc.integer({ min: 1, max: 3 }),
  })
  .filter(({ usd, callsPerMinute }) => usd !== null || callsPerMinute !== null)

class Session {
  nowMs = 0
  readonly #fuse: Fuse
  readonly #counters = new FuseCounters({ elapsed: () => this.nowMs })
  readonly #stops = new Map<string, Stop>()
  #served: number[] = []
  #spent: { readonly atMs: number; readonly usd: number }[] = []
  readonly #running: FusedCall[] = []

  constructor(fuse: Fuse) {
    this.#fuse = fuse
  }

  take(step: Step): void {
    if (step.type === 'pass') this.nowMs += step.ms
    else if (step.type === 'begin') this.#begin()
    else if (step.type === 'end') this.#end(step)
    else this.#lift()
  }

  #hasStopped(): boolean {
    return this.#stops.size > 0
  }

  #begin(): void {
    const ports = {
      counters: this.#counters,
      stops: { find: (_: AccountId, id: string) => this.#stops.get(id) },
      onBlown: (blown: BlownFuse) => this.#blow(blown),
    }
    const owner = { type: 'budget', id: 'bud_1', name: 'b', fuse: this.#fuse } as const
    const begin = () =>
      new FusedCall(ports, { accountId, keyId, names: { session: 's' }, isCharged: true }, [owner])
    if (this.#hasStopped()) {
      expect(begin).toThrow('fuse of the budget "b"')
      return
    }
    this.#served.push(this.nowMs)
    const call = begin()
    call.noteCall()
    this.#running.push(call)
    // At most the call that blows the fuse passes beyond its figure.
    expect(this.#hasStopped()).toBe(this.#hasTooManyCalls())
  }

  #end({ which, usd }: Extract<Step, { type: 'end' }>): void {
    const [ended] = this.#running.splice(which % Math.max(1, this.#running.length), 1)
    if (ended === undefined) return
    if (!this.#hasStopped()) this.#spent.push({ atMs: this.nowMs, usd })
    ended.noteCost(toNanoUsd(usd))
    // Only calls that already run can spend more.
    const { usd: most } = this.#fuse
    if (most !== null && usd > 0 && this.#spentSince(LEAST_WINDOW_MS) > most)
      expect(this.#hasStopped()).toBe(true)
  }

  #lift(): void {
    for (const id of this.#stops.keys()) this.#counters.forget({ accountId, stopId: id })
    if (this.#hasStopped()) {
      this.#served = []
      this.#spent = []
    }
    this.#stops.clear()
  }

  #blow(blown: BlownFuse): void {
    if (this.#hasStopped()) return
    if (blown.cause === 'usd') {
      expect(this.#spentSince(MOST_WINDOW_MS)).toBeGreaterThan(this.#fuse.usd ?? Number.NaN)
    } else expect(this.#hasTooManyCalls()).toBe(true)
    const id = fusedStopId(blown)
    this.#stops.set(id, { accountId, id, reason: 'r', createdAt: 0, createdBy: null })
    this.#counters.forget({ accountId, stopId: id })
  }

  #hasTooManyCalls(): boolean {
    const { callsPerMinute, forMinutes } = this.#fuse
    if (callsPerMinute === null) return false
    const now = Math.floor(this.nowMs / MINUTE_MS)
    return Array.from({ length: forMinutes }, (_, back) => now - back).every((minute) => {
      const calls = this.#served.filter((atMs) => Math.floor(atMs / MINUTE_MS) === minute)
      return calls.length > callsPerMinute
    })
  }

  #spentSince(ms: number): number {
    const costs = this.#spent.filter(({ atMs }) => atMs > this.nowMs - ms)
    return toUsd(costs.reduce((sum, { usd }) => sum + toNanoUsd(usd), 0))
  }
}

test('a fuse never blows below its figures, and always with the first call or cost beyond', () => {
  fc.assert(
    fc.property(fuses, fc.array(step, { maxLength: 80, size: 'max' }), (fuse, steps) => {
      const session = new Session(fuse)
      for (const each of steps) session.take(each)
    }),
    { numRuns: 500 },
  )
})

test('the fuse of the gate precedes those of budgets, and without a fuse nothing is checked', () => {
  const fuse: Fuse = { usd: 1, callsPerMinute: null, forMinutes: 5 }
  const plain = { id: 'chat', fuse: null } as Gate
  const ofBudgets = [{ type: 'budget', id: 'bud_1', name: 'b', fuse }] as const
  const ofGate = { type: 'gate', id: 'chat', name: 'chat', fuse } as const
  expect(findFuses(plain, undefined)).toBeUndefined()
  expect(findFuses(undefined, undefined)).toBeUndefined()
  expect(findFuses(plain, ofBudgets)).toBe(ofBudgets)
  expect(findFuses({ ...plain, fuse }, undefined)).toEqual([ofGate])
  expect(findFuses({ ...plain, fuse }, ofBudgets)).toEqual([ofGate, ...ofBudgets])
})
