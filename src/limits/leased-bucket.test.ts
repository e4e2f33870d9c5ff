/** One node's part of a shared bucket, with scripted answers of the store. */
import { describe, expect, test } from 'bun:test'
import { LeasedBucket } from './leased-bucket.ts'
import { PARTS_PER_UNIT } from './token-bucket.ts'

const NOBODY = { all: 0, first: 0 }
const START_MS = 1_000_000

/** @param left units that remain in the shared bucket after the grant */
function granted(units: number, left = 1000) {
  return { granted: units, parts: left * PARTS_PER_UNIT, isLent: false }
}

function accept(bucket: LeasedBucket, grant: ReturnType<typeof granted>, nowMs: number): void {
  bucket.accept(grant, { lendTo: 0 }, nowMs)
}

/** The next request; adding zero turns -0 into 0. */
function ask(bucket: LeasedBucket, needed: typeof NOBODY, nodes: number, nowMs: number) {
  const demand = bucket.demand(needed, nodes, nowMs)
  return { ...demand, charge: demand.charge + 0 }
}

function start(perMinute = 6400) {
  return new LeasedBucket(perMinute, START_MS)
}

describe('a bucket’s holding', () => {
  test('is used without asking, and not exceeded', () => {
    const bucket = start()
    expect(bucket.has(1, START_MS)).toBe('ask')
    accept(bucket, granted(10), START_MS)
    expect(bucket.has(10, START_MS)).toBe('yes')
    bucket.charge(4)
    expect(bucket.has(6, START_MS)).toBe('yes')
    expect(bucket.has(7, START_MS)).toBe('ask')
    bucket.charge(-1)
    expect(bucket.has(7, START_MS)).toBe('yes')
  })

  test('is unnecessary without a limit: there is always enough, and the bucket asks for nothing', () => {
    const bucket = start(Number.POSITIVE_INFINITY)
    expect(bucket.has(1e9, START_MS)).toBe('yes')
    bucket.charge(1e9)
    accept(bucket, granted(5), START_MS)
    expect(bucket.has(1e9, START_MS)).toBe('yes')
    expect(bucket).toMatchObject({ isSettled: true, isLow: false, isOff: false })
    expect(ask(bucket, { all: 3, first: 1 }, 1, START_MS)).toEqual({
      ...{ limit: Number.POSITIVE_INFINITY, charge: 0, missing: 0, wanted: 0, atLeast: 0 },
      ...{ lendTo: 0, held: 0 },
    })
  })

  test('never exceeds the limit, however often the bucket is refilled', () => {
    const bucket = start(60)
    accept(bucket, granted(10, 50), START_MS)
    bucket.charge(10)
    bucket.refill(60, START_MS)
    expect(bucket.has(51, START_MS)).toBe('no')
    bucket.refill(60, START_MS + 2_000)
    expect(bucket.view.remaining).toBe(52)
  })

  test('of nothing is remembered for a moment, in which the bucket does not ask the store again', () => {
    const bucket = start()
    accept(bucket, granted(0, 5), START_MS)
    expect(bucket.has(6, START_MS)).toBe('no')
    expect(bucket.has(5, START_MS)).toBe('ask')
    expect(bucket.has(6, START_MS + 49)).toBe('no')
    expect(bucket.has(6, START_MS + 50)).toBe('ask')
    expect(bucket.has(6, START_MS - 1)).toBe('ask')
  })

  test('counts as remaining together with the store’s', () => {
    const bucket = start()
    accept(bucket, granted(10, 90), START_MS)
    expect(bucket.view.remaining).toBe(100)
    bucket.charge(30)
    expect(bucket.view.remaining).toBe(70)
  })
})

describe('the question', () => {
  test('asks for the sum of all waiting calls, and at least for the first of them', () => {
    const bucket = start()
    expect(ask(bucket, { all: 50, first: 20 }, 1, START_MS)).toMatchObject({
      ...{ limit: 6400, charge: 0, missing: 0, wanted: 50, atLeast: 20 },
    })
    accept(bucket, granted(15), START_MS)
    expect(ask(bucket, { all: 50, first: 20 }, 1, START_MS)).toMatchObject({
      wanted: 35,
      atLeast: 5,
    })
    accept(bucket, granted(35), START_MS)
    expect(ask(bucket, { all: 50, first: 20 }, 1, START_MS)).toMatchObject({
      ...{ charge: 0, wanted: 0, atLeast: 0 },
    })
  })

  test('a call that is larger than the whole limit waits for a full bucket', () => {
    const bucket = start(60)
    expect(ask(bucket, { all: 100, first: 100 }, 1, START_MS).atLeast).toBe(60)
  })

  test('reports usage beyond the grant, once', () => {
    const bucket = start()
    accept(bucket, granted(10), START_MS)
    bucket.charge(25)
    expect(bucket.isSettled).toBe(false)
    expect(ask(bucket, NOBODY, 1, START_MS)).toMatchObject({ charge: 15 })
    expect(bucket.isSettled).toBe(true)
    expect(ask(bucket, NOBODY, 1, START_MS)).toMatchObject({ charge: 0 })
  })

  test('gives back the unneeded part of the holding, and keeps the part that calls wait for', () => {
    const bucket = start()
    accept(bucket, granted(10), START_MS)
    expect(ask(bucket, { all: 4, first: 4 }, 1, START_MS)).toMatchObject({ charge: -6, wanted: 0 })
    expect(bucket.has(4, START_MS)).toBe('yes')
    expect(bucket.has(5, START_MS)).toBe('ask')
  })

  test('reports this node’s part of the shortage against a full bucket', () => {
    const bucket = start(600)
    accept(bucket, granted(0, 300), START_MS)
    expect(ask(bucket, NOBODY, 3, START_MS).missing).toBe(100)
    expect(ask(bucket, NOBODY, 1, START_MS).missing).toBe(300)
  })

  test('that gets no answer leaves its debt to be reported again, and its returned part unused', () => {
    const bucket = start()
    accept(bucket, granted(10), START_MS)
    bucket.charge(25)
    bucket.fail(ask(bucket, NOBODY, 1, START_MS))
    expect(ask(bucket, NOBODY, 1, START_MS).charge).toBe(15)
    const single = start()
    accept(single, granted(0), START_MS)
    single.charge(1)
    single.fail(ask(single, NOBODY, 1, START_MS))
    expect(ask(single, NOBODY, 1, START_MS).charge).toBe(1)
    const unused = start()
    accept(unused, granted(10), START_MS)
    unused.fail(ask(unused, NOBODY, 1, START_MS))
    expect(unused.has(1, START_MS)).toBe('ask')
    expect(ask(unused, NOBODY, 1, START_MS).charge).toBe(0)
  })
})

describe('in advance', () => {
  /** Uses units over a time, measured at its end. */
  function use(bucket: LeasedBucket, units: number, overMs: number, fromMs = START_MS): number {
    ask(bucket, NOBODY, 1, fromMs)
    bucket.charge(units)
    return fromMs + overMs
  }

  test('a node holds as much as it used in a tenth of a second', () => {
    const bucket = start()
    const nowMs = use(bucket, 200, 1000)
    expect(ask(bucket, NOBODY, 1, nowMs)).toMatchObject({ charge: 200, wanted: 20 })
    expect(bucket.pace).toBe(20)
  })

  test('at most a sixty-fourth of the limit', () => {
    const bucket = start(640)
    const nowMs = use(bucket, 600, 1000)
    expect(ask(bucket, NOBODY, 1, nowMs).wanted).toBe(10)
    expect(bucket.pace).toBe(60)
  })

  test('a look after a short time counts half, and a very short time as twenty milliseconds', () => {
    const bucket = start()
    const nowMs = use(bucket, 20, 1)
    ask(bucket, NOBODY, 1, nowMs)
    // 20 in 20 ms after none before: on average half a unit per millisecond.
    expect(bucket.pace).toBe(50)
    const later = start()
    ask(later, NOBODY, 1, START_MS)
    later.charge(200)
    ask(later, NOBODY, 1, START_MS + 200)
    expect(later.pace).toBe(100)
    later.charge(150)
    ask(later, NOBODY, 1, START_MS + 350)
    expect(later.pace).toBe(100)
    ask(later, NOBODY, 1, START_MS + 500)
    expect(later.pace).toBe(50)
  })

  test('returned tokens do not count as usage', () => {
    const bucket = start()
    const nowMs = use(bucket, -100, 1000)
    ask(bucket, NOBODY, 1, nowMs)
    expect(bucket.pace).toBe(0)
  })

  test('a bucket asks for more when less than half of its advance is left', () => {
    const bucket = start()
    expect(bucket.isLow).toBe(false)
    const nowMs = use(bucket, 200, 1000)
    ask(bucket, NOBODY, 1, nowMs)
    accept(bucket, granted(20), nowMs)
    bucket.charge(10)
    expect(bucket.isLow).toBe(false)
    bucket.charge(1)
    expect(bucket.isLow).toBe(true)
  })

  test('a bucket with an advance of one asks for more in time too', () => {
    const bucket = start()
    const nowMs = use(bucket, 10, 1000)
    ask(bucket, NOBODY, 1, nowMs)
    accept(bucket, granted(1), nowMs)
    expect(bucket.isLow).toBe(false)
    bucket.charge(1)
    expect(bucket.isLow).toBe(true)
  })

  test('a surplus or debt of a sixty-fourth of the limit is due to be reported', () => {
    const bucket = start(640)
    accept(bucket, granted(9), START_MS)
    expect(bucket.isOff).toBe(false)
    accept(bucket, granted(1), START_MS)
    expect(bucket.isOff).toBe(true)
    bucket.charge(19)
    expect(bucket.isOff).toBe(false)
    bucket.charge(1)
    expect(bucket.isOff).toBe(true)
    expect(start(0).isOff).toBe(false)
    const small = start(10)
    expect(small.isOff).toBe(false)
    accept(small, granted(1), START_MS)
    expect(small.isOff).toBe(true)
  })
})

describe('much more than is needed', () => {
  test('is measured by the advance, and only while the store is there', () => {
    const bucket = start(640)
    ask(bucket, NOBODY, 1, START_MS)
    bucket.charge(50)
    const nowMs = START_MS + 1000
    // 5 of the units are held in advance.
    ask(bucket, NOBODY, 1, nowMs)
    accept(bucket, granted(14), nowMs)
    expect(bucket.isOff).toBe(false)
    accept(bucket, granted(1), nowMs)
    expect(bucket.isOff).toBe(true)
    bucket.leave(2, nowMs)
    expect(bucket).toMatchObject({ isOff: false, isLow: false, isSettled: true })
  })
})

describe('without the store', () => {
  test('a node uses its holding and its share of the remainder, and refills its share', () => {
    const bucket = start(600)
    accept(bucket, granted(10, 90), START_MS)
    bucket.leave(3, START_MS)
    bucket.refill(600, START_MS)
    expect(bucket.has(40, START_MS)).toBe('yes')
    expect(bucket.has(41, START_MS)).toBe('no')
    bucket.charge(40)
    expect(bucket.has(1, START_MS)).toBe('no')
    // The share is 200 a minute.
    bucket.refill(600, START_MS + 3_000)
    expect(bucket.has(10, START_MS + 3_000)).toBe('yes')
    expect(bucket.has(11, START_MS + 3_000)).toBe('no')
    bucket.refill(600, START_MS + 120_000)
    expect(bucket.view.remaining).toBe(200)
    expect(bucket).toMatchObject({ isLow: false, isOff: false })
  })

  test('its debt reduces its share', () => {
    const bucket = start(600)
    accept(bucket, granted(10, 90), START_MS)
    bucket.charge(30)
    bucket.leave(2, START_MS)
    // At most half of the remaining 90, minus the debt of 20.
    expect(bucket.view.remaining).toBeLessThanOrEqual(25)
    expect(bucket.view.remaining).toBeGreaterThan(0)
  })

  test('the shares of all nodes together stay within the limit', () => {
    const bucket = start(101)
    bucket.leave(3, START_MS)
    bucket.refill(101, START_MS + 60_000)
    expect([bucket.has(33, START_MS + 60_000), bucket.has(34, START_MS + 60_000)]).toEqual([
      'yes',
      'no',
    ])
  })

  test('a small limit leaves each node one, and a limit of zero leaves nothing', () => {
    const bucket = start(2)
    bucket.leave(3, START_MS)
    bucket.refill(2, START_MS + 600_000)
    expect(bucket.view.remaining).toBe(1)
    const odd = start(11)
    odd.leave(3, START_MS)
    // Whole units from the start, so no node has more than its share.
    expect(odd.view.remaining).toBe(3)
    const single = start(1)
    single.leave(3, START_MS)
    single.refill(1, START_MS + 600_000)
    expect(single.view.remaining).toBe(1)
    const none = start(0)
    none.leave(3, START_MS)
    none.refill(0, START_MS + 600_000)
    expect(none.has(1, START_MS + 600_000)).toBe('no')
  })

  test('the tokens of a late answer are not used', () => {
    const bucket = start(600)
    bucket.leave(2, START_MS)
    bucket.charge(300)
    accept(bucket, granted(50), START_MS)
    expect(bucket.has(1, START_MS)).toBe('no')
  })

  test('usage during the outage is owed once the store is back', () => {
    const bucket = start(600)
    bucket.leave(2, START_MS)
    bucket.charge(30)
    bucket.rejoin(600, START_MS)
    expect(bucket.has(1, START_MS)).toBe('ask')
    expect(ask(bucket, NOBODY, 2, START_MS)).toMatchObject({ charge: 30, missing: 30 })
    accept(bucket, granted(0), START_MS)
    expect(ask(bucket, NOBODY, 2, START_MS).charge).toBe(0)
    // After this answer, the node knows the shortage of all nodes again.
    accept(bucket, granted(0, 400), START_MS)
    expect(ask(bucket, NOBODY, 2, START_MS).missing).toBe(100)
  })

  test('an outage without usage leaves no debt', () => {
    const bucket = start(600)
    accept(bucket, granted(0, 400), START_MS)
    bucket.leave(2, START_MS)
    bucket.rejoin(600, START_MS)
    expect(bucket.isSettled).toBe(true)
    expect(bucket.has(1, START_MS)).toBe('ask')
    expect(ask(bucket, NOBODY, 2, START_MS)).toMatchObject({ limit: 600, charge: 0, missing: 100 })
  })

  test('the debt after an outage is reduced by the refill during it', () => {
    const bucket = start(600)
    bucket.leave(2, START_MS)
    bucket.charge(30)
    // The share is 300 a minute: 20 in four seconds.
    bucket.refill(600, START_MS + 4_000)
    bucket.rejoin(600, START_MS + 4_000)
    expect(ask(bucket, NOBODY, 2, START_MS + 4_000)).toMatchObject({ charge: 10, missing: 10 })
  })

  test('the debt after an outage is at most the usage during it, even if more is missing', () => {
    const bucket = start(600)
    accept(bucket, granted(0, 100), START_MS)
    bucket.leave(2, START_MS)
    bucket.charge(30)
    bucket.rejoin(600, START_MS)
    expect(ask(bucket, NOBODY, 2, START_MS)).toMatchObject({ charge: 30, missing: 280 })
  })

  test('a question that fails because the store went away leaves its debt to be reported later', () => {
    const bucket = start(600)
    accept(bucket, granted(0, 600), START_MS)
    bucket.charge(15)
    const demand = ask(bucket, NOBODY, 1, START_MS)
    bucket.leave(2, START_MS)
    bucket.fail(demand)
    bucket.rejoin(600, START_MS)
    expect(ask(bucket, NOBODY, 2, START_MS).charge).toBeGreaterThan(0)
  })

  test('a bucket without a limit leaves and rejoins with nothing to report', () => {
    const bucket = start(Number.POSITIVE_INFINITY)
    bucket.leave(2, START_MS)
    bucket.charge(5)
    expect(bucket.has(1e9, START_MS)).toBe('yes')
    bucket.rejoin(Number.POSITIVE_INFINITY, START_MS)
    expect(bucket.isSettled).toBe(true)
  })
})
