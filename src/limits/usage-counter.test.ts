/** The period to which usage belongs, and the effects of a reservation. */
import { describe, expect, test } from 'bun:test'
import { Reservation, UsageCounter, UsageWindow } from './usage-counter.ts'

const MAY_MS = Date.parse('2026-05-01T00:00:00.000Z')
const JUNE_MS = Date.parse('2026-06-01T00:00:00.000Z')
const JULY_MS = Date.parse('2026-07-01T00:00:00.000Z')

describe('the period of a moment', () => {
  test('is the same window until it is over', () => {
    const counter = new UsageCounter('month')
    const may = counter.at(MAY_MS + 5)
    expect(may).toMatchObject({ startsAtMs: MAY_MS, endsAtMs: JUNE_MS })
    expect(counter.at(MAY_MS)).toBe(may)
    expect(counter.at(JUNE_MS - 1)).toBe(may)
    const june = counter.at(JUNE_MS)
    expect(june).not.toBe(may)
    expect(june).toMatchObject({ startsAtMs: JUNE_MS, endsAtMs: JULY_MS, tokens: 0 })
  })

  test('is found again with its counts when a clock goes back, and stays one window', () => {
    const counter = new UsageCounter('month')
    const may = counter.at(JUNE_MS - 1)
    const june = counter.at(JUNE_MS)
    for (let round = 0; round < 10; round += 1) {
      expect(counter.at(MAY_MS)).toBe(may)
      expect(counter.at(JUNE_MS)).toBe(june)
    }
    const muchLater = counter.at(JULY_MS + 365 * 86_400_000)
    expect(counter.at(JUNE_MS)).toBe(june)
    expect(counter.at(MAY_MS)).toBe(may)
    expect(counter.at(JULY_MS + 365 * 86_400_000)).toBe(muchLater)
  })

  test('is forgotten when a clock has been in three others since', () => {
    const counter = new UsageCounter('day')
    const days = [0, 1, 2, 3].map((day) => counter.at(MAY_MS + day * 86_400_000))
    expect(counter.at(MAY_MS)).toBe(days[0] as UsageWindow)
    expect(counter.at(MAY_MS + 4 * 86_400_000)).not.toBe(days[1] as UsageWindow)
    expect(counter.at(MAY_MS)).toBe(days[0] as UsageWindow)
    expect(counter.at(MAY_MS + 86_400_000)).not.toBe(days[1] as UsageWindow)
  })

  test.each(['day', 'week', 'month', 'total'] as const)(
    'is one %s at the origin, for clocks before it and after it',
    (period) => {
      const originMs = MAY_MS + 3 * 86_400_000 + 5 * 3_600_000
      const counter = new UsageCounter(period, originMs)
      const ahead = counter.at(originMs + 1000)
      expect(ahead.startsAtMs).toBe(originMs)
      expect(counter.at(originMs)).toBe(ahead)
      expect(counter.at(originMs - 1)).toBe(ahead)
      expect(counter.at(originMs - 3_600_000)).toBe(ahead)
      const behind = new UsageCounter(period, originMs).at(originMs - 3_600_000)
      expect(behind).toEqual(ahead)
    },
  )

  test('begins at its usual moment, except for the period of the origin', () => {
    const counter = new UsageCounter('month', JUNE_MS)
    expect(counter.at(JUNE_MS - 1)).toMatchObject({ startsAtMs: MAY_MS, endsAtMs: JUNE_MS })
    expect(counter.at(JUNE_MS)).toMatchObject({ startsAtMs: JUNE_MS, endsAtMs: JULY_MS })
    expect(new UsageCounter('month', JUNE_MS - 1).at(JUNE_MS)).toMatchObject({
      startsAtMs: JUNE_MS,
    })
    const later = new UsageCounter('day', JUNE_MS + 1000)
    expect(later.at(JUNE_MS + 86_400_000)).toMatchObject({ startsAtMs: JUNE_MS + 86_400_000 })
    expect(later.at(JUNE_MS - 1)).toMatchObject({
      startsAtMs: JUNE_MS - 86_400_000,
      endsAtMs: JUNE_MS,
    })
  })
})

describe('a reservation', () => {
  const windowWith = (tokens: number, nanoUsd: number) => {
    const window = new UsageWindow({ startsAtMs: MAY_MS, endsAtMs: JUNE_MS })
    window.add({ tokens, nanoUsd, isPriced: true })
    return window
  }

  test('sets aside the tokens’ cost at the average so far', () => {
    const window = windowWith(300, 100)
    const reservation = new Reservation(window, { estimatedTokens: 10 })
    expect(window).toMatchObject({
      tokens: 300,
      nanoUsd: 100,
      reservedTokens: 10,
      reservedNanoUsd: 3,
    })
    reservation.settle({ tokens: 12, nanoUsd: 4, isPriced: true })
    expect(window).toMatchObject({
      tokens: 312,
      nanoUsd: 104,
      reservedTokens: 0,
      reservedNanoUsd: 0,
    })
    expect(window.unpricedCalls).toBe(0)
  })

  test('sets aside no money while nothing is known', () => {
    const window = windowWith(0, 0)
    const reservation = new Reservation(window, { estimatedTokens: 10 })
    expect(window).toMatchObject({ reservedTokens: 10, reservedNanoUsd: 0 })
    reservation.settle(undefined)
    expect(window).toMatchObject({ tokens: 0, nanoUsd: 0, reservedTokens: 0, unpricedCalls: 0 })
  })

  test('sets aside one use of each tool that is offered, or the average where that is more', () => {
    const call = { estimatedTokens: 10, leastNanoUsd: 12 }
    const fresh = windowWith(0, 0)
    const reservation = new Reservation(fresh, call)
    expect(fresh).toMatchObject({ reservedTokens: 10, reservedNanoUsd: 12 })
    reservation.settle(undefined)
    expect(fresh.reservedNanoUsd).toBe(0)
    const dear = windowWith(100, 1000)
    expect(new Reservation(dear, call).window.reservedNanoUsd).toBe(100)
    const cheap = windowWith(100, 10)
    expect(new Reservation(cheap, call).window.reservedNanoUsd).toBe(12)
  })

  test('gives back its exact amount, even if the average has changed since', () => {
    const window = windowWith(100, 100)
    const reservation = new Reservation(window, { estimatedTokens: 10 })
    window.add({ tokens: 100, nanoUsd: 900, isPriced: true })
    reservation.settle({ tokens: 1, nanoUsd: 0, isPriced: false })
    expect(window).toMatchObject({
      reservedTokens: 0,
      reservedNanoUsd: 0,
      tokens: 201,
      unpricedCalls: 1,
    })
  })
})
