import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Period, spanOf } from './period.ts'
import { dateOf, isTimeZone } from './time-zone.ts'

test.each([
  ['day', '2026-11-21T23:59:59.999Z', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
  ['day', '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['week', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['week', '2026-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
  ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['month', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
] as const)('the %s of %s', (period: Period, at, starts, ends) => {
  const span = spanOf(period, Date.parse(at))
  expect(new Date(span.startsAtMs).toISOString()).toBe(starts)
  expect(new Date(span.endsAtMs).toISOString()).toBe(ends)
})

test('a total has no border', () => {
  expect(spanOf('total', 5_000)).toEqual({ startsAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY })
})

describe('in a time zone', () => {
  test.each([
    ['day', 'America/New_York', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z', 23],
    ['day', 'America/New_York', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00Z', 25],
    ['day', 'Asia/Kolkata', '2026-11-28T18:29:59.999Z', '2026-11-27T18:30:00Z', 24],
    ['day', 'Asia/Kolkata', '2026-11-28T18:30:00Z', '2026-11-28T18:30:00Z', 24],
    ['day', 'Asia/Kathmandu', '2026-11-28T12:00:00Z', '2026-11-27T18:15:00Z', 24],
    ['day', 'Australia/Lord_Howe', '2026-04-05T00:00:00Z', '2026-04-04T13:00:00Z', 24.5],
    ['week', 'Europe/Berlin', '2026-10-26T00:00:00Z', '2026-10-25T23:00:00Z', 168],
    ['week', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-18T22:00:00Z', 169],
    ['month', 'Pacific/Kiritimati', '2026-11-30T10:00:00Z', '2026-11-30T10:00:00Z', 744],
    ['month', 'Europe/Berlin', '2026-03-15T00:00:00Z', '2026-02-28T23:00:00Z', 743],
    // Chile's clocks skip midnight.
    ['day', 'America/Santiago', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00Z', 23],
    // Samoa skipped 2011-12-30.
    ['day', 'Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29T10:00:00Z', 24],
    ['day', 'Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z', 24],
    ['total', 'Europe/Berlin', '2026-03-15T00:00:00Z', '1970-01-01T00:00:00Z', Infinity],
  ] as const)('the %s in %s of %s', (period, zone, at, starts, hours) => {
    const { startsAtMs, endsAtMs } = spanOf(period, Date.parse(at), zone)
    expect(new Date(startsAtMs).toISOString()).toBe(new Date(starts).toISOString())
    expect((endsAtMs - startsAtMs) / 3_600_000).toBe(hours)
  })

  const moments = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2100, 0) })
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const periods = fc.constantFrom('day', 'week', 'month')

  test('each moment lies in exactly one period, and periods follow each other', () => {
    fc.assert(
      fc.property(moments, zones, periods, (atMs, zone, period) => {
        const span = spanOf(period, atMs, zone)
        expect(span.startsAtMs).toBeLessThanOrEqual(atMs)
        expect(span.endsAtMs).toBeGreaterThan(atMs)
        for (const inside of [span.startsAtMs, span.endsAtMs - 1])
          expect(spanOf(period, inside, zone)).toEqual(span)
        expect(spanOf(period, span.startsAtMs - 1, zone).endsAtMs).toBe(span.startsAtMs)
        expect(spanOf(period, span.endsAtMs, zone).startsAtMs).toBe(span.endsAtMs)
      }),
      { numRuns: 300 },
    )
  })

  test('borders are the first moments of dates, at midnight unless the clocks skip it', () => {
    const clock = (atMs: number, timeZone: string) =>
      new Date(atMs).toLocaleTimeString('en-GB', { timeZone })
    fc.assert(
      fc.property(moments, zones, periods, (atMs, zone, period) => {
        const { startsAtMs } = spanOf(period, atMs, zone)
        expect(dateOf(startsAtMs, zone)).toBeGreaterThan(dateOf(startsAtMs - 1, zone))
        const isMidnight = clock(startsAtMs, zone) === '00:00:00'
        expect(isMidnight || clock(startsAtMs - 1, zone) === '23:59:59').toBeTrue()
      }),
      { numRuns: 300 },
    )
  })

  test('UTC by another name has the borders of UTC', () => {
    fc.assert(
      fc.property(moments, periods, (atMs, period) => {
        expect(spanOf(period, atMs, 'Etc/UTC')).toEqual(spanOf(period, atMs))
      }),
    )
  })

  test.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['+05:30', false],
    ['Mars/Base', false],
    ['', false],
    ['Europe/Berlin\n', false],
  ])('%j is a zone: %s', (name, is) => {
    expect(isTimeZone(name)).toBe(is)
  })
})
