/** What belongs to which period, and what a reservation leaves behind. */
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

  test('never goes back', () => {
    const counter = new UsageCounter('month')
    counter.at(JUNE_MS)
    expect(counter.at(JUNE_MS - 1)).toBeUndefined()
  })

  test('begins with the origin, before which nothing counts', () => {
    const counter = new UsageCounter('month', MAY_MS + 1000)
    expect(counter.at(MAY_MS + 999)).toBeUndefined()
    const may = counter.at(MAY_MS + 1000)
    expect(may).toMatchObject({ startsAtMs: MAY_MS + 1000, endsAtMs: JUNE_MS })
    expect(counter.at(MAY_MS + 999)).toBeUndefined()
    expect(counter.at(MAY_MS + 1000)).toBe(may)
    expect(counter.at(JUNE_MS)).toMatchObject({ startsAtMs: JUNE_MS })
  })
})

describe('a reservation', () => {
  const windowWith = (tokens: number, microUsd: number) => {
    const window = new UsageWindow({ startsAtMs: MAY_MS, endsAtMs: JUNE_MS })
    window.add({ tokens, microUsd, isPriced: true })
    return window
  }

  test('sets aside what the tokens would cost at the average so far', () => {
    const window = windowWith(300, 100)
    const reservation = new Reservation(window, 10)
    expect(window).toMatchObject({ tokens: 300, microUsd: 100, reservedTokens: 10, reservedMicroUsd: 3 })
    reservation.settle({ tokens: 12, microUsd: 4, isPriced: true })
    expect(window).toMatchObject({ tokens: 312, microUsd: 104, reservedTokens: 0, reservedMicroUsd: 0 })
    expect(window.unpricedCalls).toBe(0)
  })

  test('sets aside no money while nothing is known', () => {
    const window = windowWith(0, 0)
    const reservation = new Reservation(window, 10)
    expect(window).toMatchObject({ reservedTokens: 10, reservedMicroUsd: 0 })
    reservation.settle(undefined)
    expect(window).toMatchObject({ tokens: 0, microUsd: 0, reservedTokens: 0, unpricedCalls: 0 })
  })

  test('gives back what it took, though the average has changed meanwhile', () => {
    const window = windowWith(100, 100)
    const reservation = new Reservation(window, 10)
    window.add({ tokens: 100, microUsd: 900, isPriced: true })
    reservation.settle({ tokens: 1, microUsd: 0, isPriced: false })
    expect(window).toMatchObject({ reservedTokens: 0, reservedMicroUsd: 0, tokens: 201, unpricedCalls: 1 })
  })
})
