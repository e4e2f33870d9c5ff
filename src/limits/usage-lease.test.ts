/** One node's lease on a quota or a budget, with scripted answers of the store. */
import { describe, expect, test } from 'bun:test'
import type { SharedScript, SharedStore } from '../cluster/shared-store.ts'
import type { SharingMode } from '../core/shared-stores.ts'
import { type Amounts, UsageWindow, type UsedSoFar } from './usage-counter.ts'
import { UsageLease } from './usage-lease.ts'
import type { UsageGrant } from './usage-script.ts'

const START_MS = Date.parse('2026-11-30T00:00:00.000Z')
const DAY_MS = 86_400_000
const ENDS_AT_MS = START_MS + DAY_MS

interface Question {
  readonly key: string
  /** The arguments of a request, as the script reads them. */
  readonly sequence: number
  readonly isRepeated: boolean
  readonly birth: string
  readonly added: UsedSoFar
  readonly floor: UsedSoFar
  readonly reserved: Amounts
  readonly needed: Amounts
  readonly spare: Amounts
  readonly endsAtMs: number
  answer(grant?: Partial<UsageGrant>): void
  /** No answer arrives, although the script may have run. */
  lose(): void
}

class ScriptedStore implements SharedStore {
  mode: SharingMode = 'shared'
  nodes = 1
  readonly nodeId = 'node1'
  readonly questions: Question[] = []

  run(
    _: SharedScript,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const number = (at: number) => Number(args[at])
    const used = (at: number) => ({
      tokens: number(at),
      nanoUsd: number(at + 1),
      unpricedCalls: number(at + 2),
    })
    const pair = (at: number) => ({ tokens: number(at), nanoUsd: number(at + 1) })
    return new Promise((resolve, reject) => {
      this.questions.push({
        key,
        ...{
          endsAtMs: number(3),
          birth: String(args[4]),
          sequence: number(5),
          isRepeated: number(6) === 1,
        },
        ...{ added: used(7), floor: used(10) },
        ...{ reserved: pair(15), needed: pair(17), spare: pair(19) },
        answer: (grant = {}) => resolve(listOf(grant)),
        lose: () => reject(new Error('lost')),
      })
    })
  }

  get last(): Question {
    const question = this.questions.at(-1)
    if (question === undefined) throw new Error('nothing was asked')
    return question
  }
}

const NOTHING: UsedSoFar = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }

function listOf({
  birth = 'born',
  used = NOTHING,
  others = NOTHING,
  allowed = NOTHING,
}: Partial<UsageGrant>) {
  return [
    birth,
    ...[used.tokens, used.nanoUsd, used.unpricedCalls],
    ...[others.tokens, others.nanoUsd, allowed.tokens, allowed.nanoUsd],
  ]
}

function tokens(amount: number): Amounts {
  return { tokens: amount, nanoUsd: 0 }
}

function used(amount: number): UsedSoFar {
  return { ...NOTHING, tokens: amount }
}

function start({ limit = { tokens: 1000, nanoUsd: 1000 }, endsAtMs = ENDS_AT_MS } = {}) {
  const clock = { nowMs: START_MS }
  const store = new ScriptedStore()
  const window = new UsageWindow({ startsAtMs: START_MS, endsAtMs })
  let sums = 0
  const onSums = () => {
    sums += 1
  }
  const now = () => clock.nowMs
  const limited = { id: 'id', window, limits: { refuseAt: limit, ceilings: limit } }
  const ports = { store, prefix: 'p', now, sharedNow: now }
  let sequence = 0
  const nextSequence = () => {
    sequence += 1
    return sequence
  }
  const lease = new UsageLease(limited, { ...ports, onSums, nextSequence })
  /** Asks, and answers immediately. */
  const ask = async (wanted: Amounts, grant: Partial<UsageGrant>) => {
    const asking = lease.ask(wanted)
    store.last.answer(grant)
    return await asking
  }
  /** Runs upkeep, and answers immediately. */
  const tend = async (grant: Partial<UsageGrant> = {}) => {
    const hasSent = lease.tend(clock.nowMs)
    if (hasSent) store.last.answer(grant)
    await lease.settled()
    return hasSent
  }
  return { clock, store, window, lease, ask, tend, sums: () => sums }
}

/** Waits some turns, in which a request is sent or is never sent. */
async function reach(store: ScriptedStore, questions: number): Promise<void> {
  for (let turn = 0; turn < 20 && store.questions.length < questions; turn += 1)
    await Promise.resolve()
}

describe('the coverage without asking', () => {
  test('is the store’s allowance, less the used, the reserved and the part kept for askers', async () => {
    const { clock, lease, ask, window } = start()
    expect(lease.covers(tokens(1), clock.nowMs)).toBe(false)
    expect(await ask(tokens(10), { allowed: tokens(60) })).toBe(true)
    expect(lease.covers(tokens(50), clock.nowMs)).toBe(true)
    expect(lease.covers(tokens(51), clock.nowMs)).toBe(false)
    lease.release(tokens(10))
    expect(lease.covers(tokens(60), clock.nowMs)).toBe(true)
    window.tokens += 5
    window.reservedTokens += 15
    expect(lease.covers(tokens(40), clock.nowMs)).toBe(true)
    expect(lease.covers(tokens(41), clock.nowMs)).toBe(false)
  })

  test('treats money as it treats tokens', async () => {
    const { clock, lease, ask, window } = start()
    await ask({ tokens: 10, nanoUsd: 10 }, { allowed: { tokens: 60, nanoUsd: 30 } })
    expect(lease.covers({ tokens: 1, nanoUsd: 20 }, clock.nowMs)).toBe(true)
    expect(lease.covers({ tokens: 1, nanoUsd: 21 }, clock.nowMs)).toBe(false)
    lease.release({ tokens: 10, nanoUsd: 10 })
    window.nanoUsd += 4
    window.reservedNanoUsd += 6
    expect(lease.covers({ tokens: 1, nanoUsd: 20 }, clock.nowMs)).toBe(true)
    expect(lease.covers({ tokens: 1, nanoUsd: 21 }, clock.nowMs)).toBe(false)
  })

  test('is endless without a limit', () => {
    const limit = { tokens: Number.POSITIVE_INFINITY, nanoUsd: Number.POSITIVE_INFINITY }
    const { clock, lease } = start({ limit })
    expect(lease.covers({ tokens: 1e12, nanoUsd: 1e12 }, clock.nowMs)).toBe(true)
  })

  test('considers limited amounts alone', async () => {
    const limit = { tokens: Number.POSITIVE_INFINITY, nanoUsd: 100 }
    const { clock, lease, ask } = start({ limit })
    await ask({ tokens: 1, nanoUsd: 1 }, { allowed: { tokens: 1, nanoUsd: 11 } })
    expect(lease.covers({ tokens: 1e12, nanoUsd: 10 }, clock.nowMs)).toBe(true)
    expect(lease.covers({ tokens: 1, nanoUsd: 11 }, clock.nowMs)).toBe(false)
  })

  test('lasts ten seconds after an answer, and does not outlast a clock that was set back', async () => {
    const { clock, lease, ask } = start()
    await ask(tokens(1), { allowed: tokens(100) })
    expect(lease.covers(tokens(1), clock.nowMs + 9_999)).toBe(true)
    expect(lease.covers(tokens(1), clock.nowMs + 10_000)).toBe(false)
    expect(lease.covers(tokens(1), clock.nowMs - 1)).toBe(false)
  })

  test('is an equal share of the unreserved rest while the store is away', async () => {
    const { clock, lease, ask, store, window } = start({ limit: { tokens: 900, nanoUsd: 900 } })
    store.nodes = 3
    await ask(tokens(10), {
      used: { tokens: 200, nanoUsd: 0, unpricedCalls: 0 },
      others: tokens(90),
      allowed: tokens(10),
    })
    lease.release(tokens(10))
    store.mode = 'share'
    store.nodes = 2
    // 10 of its own, and a third of 900 - 200 - 90 - 10: a node that no longer reports may still be
    // running.
    window.tokens += 209
    expect(lease.covers(tokens(1), clock.nowMs + 60_000)).toBe(true)
    window.tokens += 1
    expect(lease.covers(tokens(1), clock.nowMs + 60_000)).toBe(false)
  })

  test('is the whole rest while the store is away, if no other node was ever seen', () => {
    const { clock, lease, store, window } = start()
    store.mode = 'share'
    window.tokens += 999
    expect(lease.covers(tokens(1), clock.nowMs)).toBe(true)
    window.tokens += 1
    expect(lease.covers(tokens(1), clock.nowMs)).toBe(false)
  })

  test('is the allowance alone while the store is away and nothing is left', async () => {
    const { clock, lease, ask, store, window } = start({ limit: { tokens: 100, nanoUsd: 900 } })
    await ask(tokens(10), { used: used(80), others: tokens(30), allowed: tokens(10) })
    lease.release(tokens(10))
    store.mode = 'share'
    window.tokens += 9
    expect(lease.covers(tokens(1), clock.nowMs)).toBe(true)
    window.tokens += 1
    expect(lease.covers(tokens(1), clock.nowMs)).toBe(false)
  })
})

describe('asking', () => {
  test('calls that ask during a question share the next one', async () => {
    const { lease, store } = start()
    const first = lease.ask({ tokens: 10, nanoUsd: 1 })
    const second = lease.ask({ tokens: 5, nanoUsd: 2 })
    const third = lease.ask({ tokens: 7, nanoUsd: 3 })
    expect(store.questions.map(({ needed }) => needed)).toEqual([{ tokens: 10, nanoUsd: 1 }])
    store.last.answer({ allowed: { tokens: 10, nanoUsd: 1 } })
    expect(await first).toBe(true)
    await reach(store, 2)
    expect(store.questions).toHaveLength(2)
    expect(store.last).toMatchObject({
      needed: { tokens: 12, nanoUsd: 5 },
      // Kept for the first call until it takes the grant.
      reserved: { tokens: 10, nanoUsd: 1 },
      birth: 'born',
    })
    store.last.answer({ allowed: { tokens: 22, nanoUsd: 6 } })
    expect([await second, await third]).toEqual([true, true])
  })

  test('it is granted only when the store had enough of both, and then it is kept', async () => {
    const { clock, lease, ask } = start()
    expect(await ask({ tokens: 10, nanoUsd: 5 }, { allowed: { tokens: 10, nanoUsd: 4 } })).toBe(
      false,
    )
    expect(await ask({ tokens: 10, nanoUsd: 5 }, { allowed: { tokens: 9, nanoUsd: 5 } })).toBe(
      false,
    )
    // Nothing is kept for calls without a grant.
    expect(lease.covers({ tokens: 9, nanoUsd: 5 }, clock.nowMs)).toBe(true)
    expect(await ask({ tokens: 10, nanoUsd: 5 }, { allowed: { tokens: 10, nanoUsd: 5 } })).toBe(
      true,
    )
    expect(lease.covers({ tokens: 1, nanoUsd: 1 }, clock.nowMs)).toBe(false)
  })

  test('the lease asks nothing and grants nothing while the store is away', async () => {
    const { lease, store } = start()
    store.mode = 'share'
    expect(await lease.ask(tokens(1))).toBe(false)
    expect(store.questions).toHaveLength(0)
  })

  test('usage and reservations of other nodes show at once, and are not covered', async () => {
    const { ask, window, lease, clock, sums, store } = start()
    window.tokens += 3
    window.reservedTokens += 4
    const grant = {
      used: { tokens: 103, nanoUsd: 50, unpricedCalls: 2 },
      others: { tokens: 20, nanoUsd: 8 },
      allowed: { tokens: 14, nanoUsd: 0 },
    }
    expect(await ask(tokens(10), grant)).toBe(true)
    expect(store.last).toMatchObject({ added: used(3), reserved: tokens(4) })
    expect(window).toMatchObject({ tokens: 103, nanoUsd: 50, unpricedCalls: 2 })
    expect(window).toMatchObject({ reservedTokens: 24, reservedNanoUsd: 8 })
    expect(sums()).toBe(1)
    lease.release(tokens(10))
    expect(lease.covers(tokens(10), clock.nowMs)).toBe(true)
    expect(lease.covers(tokens(11), clock.nowMs)).toBe(false)
    await ask(tokens(1), { ...grant, others: { tokens: 5, nanoUsd: 3 } })
    expect(store.last).toMatchObject({ added: NOTHING, reserved: tokens(4), floor: grant.used })
    expect(window).toMatchObject({ reservedTokens: 9, reservedNanoUsd: 3 })
  })

  test('usage during a question stays on top of the answer', async () => {
    const { lease, store, window } = start()
    window.tokens += 5
    const asking = lease.ask(tokens(1))
    window.tokens += 7
    window.nanoUsd += 2
    window.unpricedCalls += 1
    store.last.answer({ used: used(105), allowed: tokens(1) })
    await asking
    expect(window).toMatchObject({ tokens: 112, nanoUsd: 2, unpricedCalls: 1 })
  })

  test('amounts that a question gives back are covered no more, and amounts that it keeps still are', async () => {
    const { clock, store, lease, ask } = start({ limit: { tokens: 1e6, nanoUsd: 1e6 } })
    await ask(tokens(10), { allowed: { tokens: 510, nanoUsd: 500 } })
    lease.release(tokens(10))
    clock.nowMs += 500
    lease.noteTaken({ tokens: 1000, nanoUsd: 2000 }, clock.nowMs)
    lease.tend(clock.nowMs)
    // Taken in a tenth of a second: 200 tokens and 400 billionths of a US dollar.
    expect(store.last.reserved).toEqual({ tokens: 200, nanoUsd: 400 })
    expect(store.last.spare).toEqual(tokens(0))
    expect(lease.covers({ tokens: 200, nanoUsd: 400 }, clock.nowMs)).toBe(true)
    expect(lease.covers({ tokens: 201, nanoUsd: 1 }, clock.nowMs)).toBe(false)
    expect(lease.covers({ tokens: 1, nanoUsd: 401 }, clock.nowMs)).toBe(false)
  })

  test('usage that a question reports is covered by the earlier allowance until its answer', async () => {
    const { clock, store, window, lease, ask } = start({ limit: { tokens: 1e6, nanoUsd: 1e6 } })
    await ask(tokens(10), { allowed: tokens(60) })
    lease.release(tokens(10))
    window.tokens += 20
    clock.nowMs += 500
    lease.noteTaken(tokens(100), clock.nowMs)
    lease.tend(clock.nowMs)
    expect(store.last).toMatchObject({ added: used(20), reserved: tokens(20), spare: tokens(0) })
    const covers = (amount: number) => lease.covers({ tokens: amount, nanoUsd: 0 }, clock.nowMs)
    expect([covers(20), covers(21)]).toEqual([true, false])
    store.last.answer({ used: used(20), allowed: tokens(20) })
    await lease.settled()
    expect([covers(20), covers(21)]).toEqual([true, false])
  })

  test('an unanswered question leaves no more than it kept', async () => {
    const { clock, store, lease, ask } = start()
    await ask(tokens(10), { allowed: tokens(510) })
    lease.release(tokens(10))
    lease.tend(clock.nowMs)
    expect(store.last.reserved).toEqual(tokens(0))
    store.last.lose()
    await lease.settled()
    expect(lease.covers(tokens(1), clock.nowMs)).toBe(false)
  })

  test('an answer is fresh for a moment', async () => {
    const { clock, lease, ask } = start()
    expect(lease.isFresh(clock.nowMs)).toBe(false)
    await ask(tokens(1), {})
    expect(lease.isFresh(clock.nowMs)).toBe(true)
    expect(lease.isFresh(clock.nowMs + 49)).toBe(true)
    expect(lease.isFresh(clock.nowMs + 50)).toBe(false)
    expect(lease.isFresh(clock.nowMs - 1)).toBe(false)
  })

  test('the store is told when the period ends', async () => {
    const { ask, store } = start()
    await ask(tokens(1), {})
    expect(store.last.endsAtMs).toBe(ENDS_AT_MS)
    const endless = start({ endsAtMs: Number.POSITIVE_INFINITY })
    await endless.ask(tokens(1), {})
    expect(endless.store.last.endsAtMs).toBe(-1)
  })
})

describe('in advance', () => {
  test('a node asks for as much as it took in a tenth of a second, counted from its last question', async () => {
    const { clock, lease, ask, store } = start({ limit: { tokens: 1e6, nanoUsd: 1e6 } })
    await ask(tokens(1), {})
    expect(store.last.spare).toEqual(tokens(0))
    clock.nowMs += 500
    lease.noteTaken({ tokens: 1000, nanoUsd: 100 }, clock.nowMs)
    lease.noteTaken({ tokens: 500, nanoUsd: 50 }, clock.nowMs)
    await ask(tokens(1), {})
    expect(store.last.spare).toEqual({ tokens: 300, nanoUsd: 30 })
    clock.nowMs += 500
    await ask(tokens(1), {})
    expect(store.last.spare).toEqual(tokens(0))
  })

  test('a node asks for at most a sixty-fourth of a limit, and for nothing of an unlimited amount', async () => {
    const { clock, lease, ask, store } = start({
      limit: { tokens: 6_400, nanoUsd: Number.POSITIVE_INFINITY },
    })
    await ask(tokens(1), {})
    clock.nowMs += 1000
    lease.noteTaken({ tokens: 5_000, nanoUsd: 5_000 }, clock.nowMs)
    await ask(tokens(1), {})
    expect(store.last.spare).toEqual(tokens(100))
  })

  test('a question soon after the last one does not overestimate the pace', async () => {
    const { clock, lease, ask, store } = start({ limit: { tokens: 1e6, nanoUsd: 1e6 } })
    await ask(tokens(1), {})
    clock.nowMs += 1
    lease.noteTaken(tokens(10), clock.nowMs)
    await ask(tokens(1), {})
    expect(store.last.spare).toEqual(tokens(50))
  })
})

describe('tending', () => {
  test('asks nothing before there is any usage', async () => {
    const { tend, store } = start()
    expect(await tend()).toBe(false)
    expect(store.questions).toHaveLength(0)
  })

  test.each([
    ['tokens', used(5)],
    ['money', { ...NOTHING, nanoUsd: 5 }],
    ['a call without a price', { ...NOTHING, unpricedCalls: 1 }],
  ])('reports %s once', async (_, spent) => {
    const { tend, store, window } = start()
    window.tokens += spent.tokens
    window.nanoUsd += spent.nanoUsd
    window.unpricedCalls += spent.unpricedCalls
    expect(await tend({ used: spent })).toBe(true)
    const key = `p:used-nano:{id}:${START_MS}`
    expect(store.last).toMatchObject({ key, added: spent, needed: tokens(0), sequence: 1 })
    expect(await tend()).toBe(false)
    expect(window).toMatchObject(spent)
  })

  test('gives back an allowance that is not reserved', async () => {
    const { tend, ask, lease, store } = start()
    await ask(tokens(10), { allowed: tokens(10) })
    lease.release(tokens(10))
    expect(await tend()).toBe(true)
    expect(store.last).toMatchObject({ reserved: tokens(0), needed: tokens(0) })
    expect(await tend()).toBe(false)
  })

  test('gives nothing back without a limit', async () => {
    const limit = { tokens: Number.POSITIVE_INFINITY, nanoUsd: Number.POSITIVE_INFINITY }
    const { tend, ask } = start({ limit })
    await ask(tokens(10), { allowed: tokens(10) })
    expect(await tend()).toBe(false)
  })

  test('renews reservations of running calls every five seconds', async () => {
    const { clock, tend, ask, lease, store, window } = start()
    await ask(tokens(10), { allowed: tokens(10) })
    window.reservedTokens += 10
    lease.release(tokens(10))
    clock.nowMs += 4_999
    expect(await tend()).toBe(false)
    clock.nowMs += 1
    expect(await tend({ allowed: tokens(10) })).toBe(true)
    expect(store.last.reserved).toEqual(tokens(10))
    expect(await tend()).toBe(false)
  })

  test.each([
    [59_999, true],
    [60_000, false],
  ])(
    'keeps sums up to date for a minute after the last call: after %d ms: %p',
    async (ms, hasSent) => {
      const { clock, tend, ask, lease } = start()
      await ask(tokens(0), {})
      clock.nowMs += 5_000
      expect(await tend()).toBe(false)
      lease.noteTaken(tokens(1), clock.nowMs)
      expect(await tend()).toBe(true)
      clock.nowMs += ms
      expect(await tend()).toBe(hasSent)
    },
  )

  test('asks nothing during a question, even with news', async () => {
    const { clock, lease, store, window } = start()
    const asking = lease.ask(tokens(1))
    window.tokens += 5
    expect(lease.tend(clock.nowMs)).toBe(false)
    expect(store.questions).toHaveLength(1)
    store.last.answer({ allowed: tokens(1) })
    await asking
    expect(lease.tend(clock.nowMs)).toBe(true)
    expect(store.last.added).toEqual(used(5))
  })

  test('asks nothing while the store is away, even with news', () => {
    const { clock, lease, store, window } = start()
    window.tokens += 5
    store.mode = 'share'
    expect(lease.tend(clock.nowMs)).toBe(false)
    expect(store.questions).toHaveLength(0)
    store.mode = 'shared'
    expect(lease.tend(clock.nowMs)).toBe(true)
  })
})

describe('an answer that was lost', () => {
  test('repeats the same report under the same number, and later usage follows after it', async () => {
    const { lease, tend, store, window, clock } = start()
    const first = { tokens: 5, nanoUsd: 1, unpricedCalls: 0 }
    window.tokens += 5
    window.nanoUsd += 1
    expect(lease.tend(clock.nowMs)).toBe(true)
    store.last.lose()
    await lease.settled()
    window.tokens += 7
    window.nanoUsd += 2
    expect(await tend({ used: first })).toBe(true)
    expect(store.last).toMatchObject({ sequence: 1, isRepeated: true, added: first })
    // Reserved, so other nodes do not take the unreported part.
    expect(store.last.reserved).toEqual({ tokens: 7, nanoUsd: 2 })
    expect(window.tokens).toBe(12)
    expect(await tend({ used: { ...used(12), nanoUsd: 3 } })).toBe(true)
    expect(store.last).toMatchObject({
      ...{ sequence: 2, isRepeated: false },
      added: { ...used(7), nanoUsd: 2 },
    })
    expect(window.tokens).toBe(12)
    expect(await tend()).toBe(false)
  })

  test('grants nothing to the call that asked', async () => {
    const { lease, store } = start()
    const asking = lease.ask(tokens(1))
    store.last.lose()
    expect(await asking).toBe(false)
  })
})

describe('the ledger', () => {
  test('raises the shown usage at once with a greater sum, and reports it as the least usage', async () => {
    const { lease, tend, ask, store, window } = start()
    await ask(tokens(0), { used: used(10) })
    lease.raiseFloor({ tokens: 100, nanoUsd: 9, unpricedCalls: 2 }, false)
    expect(window).toMatchObject({ tokens: 100, nanoUsd: 9, unpricedCalls: 2 })
    expect(await tend({ used: { tokens: 100, nanoUsd: 9, unpricedCalls: 2 } })).toBe(true)
    expect(store.last).toMatchObject({
      added: NOTHING,
      floor: { tokens: 100, nanoUsd: 9, unpricedCalls: 2 },
    })
    expect(await tend()).toBe(false)
  })

  test.each([
    ['tokens', { tokens: 11, nanoUsd: 5, unpricedCalls: 1 }],
    ['money', { tokens: 10, nanoUsd: 6, unpricedCalls: 1 }],
    ['calls without a price', { tokens: 10, nanoUsd: 5, unpricedCalls: 2 }],
  ])('reports a greater sum of %s alone too', async (_, floor) => {
    const { lease, tend, ask } = start()
    await ask(tokens(0), { used: { tokens: 10, nanoUsd: 5, unpricedCalls: 1 } })
    lease.raiseFloor(floor, false)
    expect(await tend({ used: floor })).toBe(true)
  })

  test('changes nothing with a smaller sum, and causes no report', async () => {
    const { lease, tend, ask, window } = start()
    await ask(tokens(0), { used: used(10) })
    lease.raiseFloor(used(9), false)
    expect(window.tokens).toBe(10)
    expect(await tend()).toBe(false)
  })

  test('counts calls of this node once that it already contains', async () => {
    const { lease, tend, ask, store, window } = start()
    await ask(tokens(0), { used: used(10) })
    window.tokens += 5
    window.nanoUsd += 3
    window.unpricedCalls += 1
    lease.raiseFloor({ tokens: 40, nanoUsd: 4, unpricedCalls: 3 }, true)
    expect(window).toMatchObject({ tokens: 40, nanoUsd: 4, unpricedCalls: 3 })
    await tend({ used: { tokens: 40, nanoUsd: 4, unpricedCalls: 3 } })
    expect(store.last).toMatchObject({
      added: { tokens: 5, nanoUsd: 3, unpricedCalls: 1 },
      floor: { tokens: 35, nanoUsd: 1, unpricedCalls: 2 },
    })
  })

  test('is reported again to a store that answers with a smaller sum', async () => {
    const { lease, tend, store, window } = start()
    const asking = lease.ask(tokens(0))
    lease.raiseFloor(used(50), false)
    store.last.answer({ used: used(20) })
    await asking
    expect(window.tokens).toBe(50)
    expect(await tend({ used: used(50) })).toBe(true)
    expect(store.last.floor).toEqual(used(50))
    expect(await tend()).toBe(false)
  })
})

describe('a store that was away', () => {
  test('for less than three seconds gets the usage during the outage as an addition', async () => {
    const { clock, lease, tend, store, window } = start()
    store.mode = 'share'
    lease.tend(clock.nowMs)
    window.tokens += 5
    clock.nowMs += 2_999
    store.mode = 'shared'
    expect(await tend({ used: used(5) })).toBe(true)
    expect(store.last).toMatchObject({ added: used(5), floor: NOTHING })
  })

  test('for longer gets the usage as a part of the least, as others may have read it in the ledger', async () => {
    const { clock, lease, tend, store, window } = start()
    window.tokens += 1
    lease.tend(clock.nowMs)
    store.last.lose()
    await lease.settled()
    store.mode = 'share'
    lease.tend(clock.nowMs)
    window.tokens += 4
    window.nanoUsd += 3
    window.unpricedCalls += 2
    // The time counts from the first moment, not from the last.
    clock.nowMs += 1_500
    lease.tend(clock.nowMs)
    clock.nowMs += 1_500
    store.mode = 'shared'
    const sum = { tokens: 5, nanoUsd: 3, unpricedCalls: 2 }
    expect(await tend({ used: sum })).toBe(true)
    expect(store.last).toMatchObject({ added: NOTHING, floor: sum, isRepeated: false })
    expect(store.last.sequence).toBeGreaterThan(1)
    expect(window).toMatchObject(sum)
    expect(await tend()).toBe(false)
  })

  test('may answer an earlier question, whose reported usage is not lost or taken back', async () => {
    const { clock, store, window, lease } = start()
    window.tokens += 10
    lease.tend(clock.nowMs)
    const patient = store.last
    store.mode = 'share'
    lease.tend(clock.nowMs)
    window.tokens += 5
    clock.nowMs += 4_000
    store.mode = 'shared'
    lease.tend(clock.nowMs)
    patient.answer({ used: used(10) })
    await lease.settled()
    expect(window.tokens).toBe(15)
    // Unavailable for so long that the ledger has the usage: the node reports the usage in the
    // minimum instead of adding it.
    lease.tend(clock.nowMs)
    expect(store.last).toMatchObject({ sequence: 2, added: used(0), floor: used(15) })
    store.last.answer({ used: used(15) })
    await lease.settled()
    expect(window.tokens).toBe(15)
    expect(lease.tend(clock.nowMs)).toBe(false)
  })

  test('twice for a short time was not away for long', async () => {
    const { clock, lease, tend, store, window } = start()
    for (let absence = 0; absence < 2; absence += 1) {
      store.mode = 'share'
      lease.tend(clock.nowMs)
      window.tokens += 5
      clock.nowMs += 2_000
      store.mode = 'shared'
      await tend({ used: used(window.tokens) })
      expect(store.last.added).toEqual(used(5))
    }
  })
})

describe('telling', () => {
  test('resolves once the store knows all usage, including usage later than a question under way', async () => {
    const { lease, store, window } = start()
    const asking = lease.ask(tokens(1))
    window.tokens += 5
    let isFlushed = false
    const flushing = lease.flush().then(() => {
      isFlushed = true
    })
    store.last.answer({ allowed: tokens(1) })
    await asking
    await reach(store, 2)
    expect(store.last.added).toEqual(used(5))
    expect(isFlushed).toBe(false)
    store.last.answer({ used: used(5) })
    await flushing
  })

  test('asks nothing when there is nothing to report', async () => {
    const { lease, store } = start()
    await lease.flush()
    expect(store.questions).toHaveLength(0)
  })

  test('repeats a report that may have been lost', async () => {
    const { lease, store, window } = start()
    window.tokens += 5
    const first = lease.flush()
    store.last.lose()
    await first
    const again = lease.flush()
    await reach(store, 2)
    expect(store.last).toMatchObject({ isRepeated: true, added: used(5) })
    store.last.answer({ used: used(5) })
    await again
  })
})

describe('the end', () => {
  const LATER_MS = ENDS_AT_MS + 1

  test('of a lease comes after its period, and not before', () => {
    const { lease } = start()
    expect(lease.isOver(ENDS_AT_MS - 1)).toBe(false)
    expect(lease.isOver(LATER_MS)).toBe(true)
  })

  test('of a lease waits for unreported usage', () => {
    const { lease, window } = start()
    window.tokens += 5
    expect(lease.isOver(LATER_MS)).toBe(false)
  })

  test('of a lease waits for a question under way', async () => {
    const { lease, store } = start()
    const asking = lease.ask(tokens(0))
    expect(lease.isOver(LATER_MS)).toBe(false)
    store.last.answer()
    await asking
    expect(lease.isOver(LATER_MS)).toBe(true)
  })

  test('of a lease waits for a report in doubt', async () => {
    const { lease, tend, store } = start()
    const asking = lease.ask(tokens(0))
    store.last.lose()
    await asking
    expect(lease.isOver(LATER_MS)).toBe(false)
    await tend()
    expect(lease.isOver(LATER_MS)).toBe(true)
  })

  test.each([
    ['tokens', { tokens: 1, nanoUsd: 0 }],
    ['money', { tokens: 0, nanoUsd: 1 }],
  ])('of a lease waits for a running call that has %s set aside', (_, reserved) => {
    const { lease, window } = start()
    window.reservedTokens += reserved.tokens
    window.reservedNanoUsd += reserved.nanoUsd
    expect(lease.isOver(LATER_MS)).toBe(false)
    window.reservedTokens -= reserved.tokens
    window.reservedNanoUsd -= reserved.nanoUsd
    expect(lease.isOver(LATER_MS)).toBe(true)
  })
})
