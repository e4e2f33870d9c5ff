import { expect, test } from 'bun:test'
import { heatOf, toHeatData } from './heat-map.tsx'

const ranges = [
  { from: 0, to: 10 },
  { from: 10, to: 20 },
  { from: 20, to: 30 },
  { from: 30, to: null },
]

test('empty ranges are cut off at both ends, not between', () => {
  const data = toHeatData(
    [1, 2, 3],
    ranges,
    new Map([
      [1, [0, 4, 0, 0]],
      [3, [0, 0, 0, 2]],
    ]),
  )
  expect(data.ranges.map(({ index }) => index)).toEqual([1, 2, 3])
  expect(data.steps.map(({ counts }) => counts.length)).toEqual([4, 0, 4])
  expect([data.highest, data.total]).toEqual([4, 6])
})

test('the chart is empty without any count', () => {
  expect(toHeatData([1], ranges, new Map())).toMatchObject({ ranges: [], highest: 0, total: 0 })
})

test('one call among thousands is visible, and an empty cell is not', () => {
  expect(heatOf(0, 5_000)).toBe(0)
  expect(heatOf(1, 5_000)).toBeGreaterThan(0.2)
  expect(heatOf(5_000, 5_000)).toBe(1)
})
