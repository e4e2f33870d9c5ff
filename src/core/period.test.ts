import { expect, test } from 'bun:test'
import { type Period, spanOf } from './period.ts'

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
