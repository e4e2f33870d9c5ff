import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  joinEncoded,
  LatencyHistogram,
  shortenEncoded,
  TimeCounts,
  toShortForm,
} from './latency-histogram.ts'

function histogramOf(times: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram()
  for (const time of times) histogram.add(time)
  return histogram
}

/** Nearest rank, over the times themselves. */
function exactPercentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right)
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN
}

const time = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 3_000 }), fc.nat({ max: 86_400_000 }))
const times = fc.array(time, { minLength: 1, maxLength: 300 })
const share = fc.constantFrom(0, 0.01, 0.5, 0.9, 0.95, 0.99, 1)

test('a percentile is within 2 % and half a millisecond of the exact one', () => {
  fc.assert(
    fc.property(times, share, (list, wanted) => {
      const exact = exactPercentile(list, wanted)
      const found = histogramOf(list).percentile(wanted) ?? Number.NaN
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.02 + 0.5 + 1e-6)
    }),
    { numRuns: 500 },
  )
})

test('times below 25 ms are exact', () => {
  for (let exact = 0; exact < 25; exact += 1)
    expect(histogramOf([exact]).percentile(0.5)).toBe(exact)
})

test('the sum of two is the histogram of both, joined as text or merged, in any order', () => {
  fc.assert(
    fc.property(times, times, (left, right) => {
      const both = histogramOf([...left, ...right]).encode()
      const [one, other] = [histogramOf(left).encode(), histogramOf(right).encode()]
      expect(shortenEncoded(joinEncoded(one, other))).toBe(both)
      expect(shortenEncoded(joinEncoded(other, one))).toBe(both)
      const counts = new TimeCounts()
      for (const time of [...left, ...right]) counts.add(time)
      expect(shortenEncoded(counts.encode())).toBe(both)
      const joined = new LatencyHistogram()
      joined.addEncoded(`${one},${other}`)
      expect(joined.encode()).toBe(both)
      expect(joined.total).toBe(left.length + right.length)
    }),
  )
})

test('the short form says the same, however it is joined with the other one, and is shorter', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(times, fc.boolean()), { minLength: 1, maxLength: 4 }),
      (parts) => {
        const joined = parts
          .map(([list, isShort]) =>
            isShort ? histogramOf(list).encodeShort() : histogramOf(list).encode(),
          )
          .reduce(joinEncoded)
        const all = histogramOf(parts.flatMap(([list]) => list))
        expect(shortenEncoded(joined)).toBe(all.encode())
        expect(toShortForm(joined)).toBe(all.encodeShort())
      },
    ),
  )
  const many = histogramOf(Array.from({ length: 10_000 }, (_, index) => index * 7))
  expect(many.encodeShort().length).toBeLessThan(many.encode().length * 0.6)
  expect([toShortForm(''), histogramOf([]).encodeShort()]).toEqual(['', ''])
  expect(shortenEncoded(toShortForm('0:1125899906842623,519:1'))).toBe('0:1125899906842623,519:1')
})

test('nothing has no percentile; the longest times are kept as the longest bucket', () => {
  expect(histogramOf([]).percentile(0.5)).toBeNull()
  expect(shortenEncoded(joinEncoded('', ''))).toBe('')
  expect(histogramOf([Number.NaN, -1]).percentile(1)).toBe(0)
  expect(histogramOf([Number.MAX_SAFE_INTEGER]).percentile(1)).toBeGreaterThan(86_400_000)
})

test('counts by range add up to all, and small times are in the range that they belong to', () => {
  expect(histogramOf([0, 1, 1, 2, 4, 5, 24, 9_000]).countBelow([1, 2, 5, 25])).toEqual([
    1, 2, 2, 2, 1,
  ])
  fc.assert(
    fc.property(times, (list) => {
      const counts = histogramOf(list).countBelow([10, 100, 1_000])
      expect(counts).toHaveLength(4)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(list.length)
    }),
  )
})
