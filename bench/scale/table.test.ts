import { expect, test } from 'bun:test'
import type { Bar, Figures } from './scenario.ts'
import { describeMeasured, meetsBars } from './table.ts'

const describeOne = (bars: Readonly<Record<string, Bar>>, small: Figures, large: Figures) =>
  describeMeasured({
    scenario: { title: 'rows', bars },
    store: 'SQLite',
    sizes: [10, 1_000],
    small,
    large,
  })

test('a figure stands at both sizes with the ratio between them', () => {
  const [head, line] = describeOne({}, { 'took, ms': 2 }, { 'took, ms': 5.5 })
  expect(head).toBe('rows · SQLite · 10 and 1,000')
  expect(line?.split(/ {2,}/)).toEqual(['', 'took, ms', '2', '5.50', '2.75 ×'])
})

test('a bar on the ratio is met up to it and not beyond', () => {
  const bars = { 'took, ms': { type: 'ratio', most: 1.5 } } as const
  expect(describeOne(bars, { 'took, ms': 10 }, { 'took, ms': 15 })[1]).toEndWith('ratio ≤ 1.5  met')
  expect(describeOne(bars, { 'took, ms': 10 }, { 'took, ms': 15.1 })[1]).toEndWith('NOT MET')
})

test('a bar on the figure holds at both sizes', () => {
  const bars = { turn: { type: 'most', most: 5 } } as const
  expect(describeOne(bars, { turn: 5 }, { turn: 4 })[1]).toEndWith('≤ 5  met')
  expect(describeOne(bars, { turn: 6 }, { turn: 4 })[1]).toEndWith('NOT MET')
  expect(describeOne(bars, { turn: 4 }, { turn: 6 })[1]).toEndWith('NOT MET')
})

test('a figure that grows from zero, or is missing at one size, meets no bar', () => {
  const bars = { rows: { type: 'ratio', most: 2 } } as const
  expect(describeOne(bars, { rows: 0 }, { rows: 3 })[1]).toEndWith('NOT MET')
  expect(describeOne(bars, { rows: 1 }, {})[1]).toEndWith('NOT MET')
  expect(describeOne(bars, { rows: 0 }, { rows: 0 })[1]).toEndWith('met')
})

test('a bar on a missing figure is a mistake of the scenario', () => {
  expect(() => describeOne({ other: { type: 'most', most: 1 } }, { took: 1 }, { took: 1 })).toThrow(
    'other',
  )
})

test('bars are met where each of them is', () => {
  const bars = { turn: { type: 'most', most: 5 }, took: { type: 'ratio', most: 2 } } as const
  const meets = (small: Figures, large: Figures) =>
    meetsBars({ scenario: { title: 'rows', bars }, small, large })
  expect(meets({ turn: 5, took: 1, other: 1 }, { turn: 5, took: 2, other: 9 })).toBe(true)
  expect(meets({ turn: 5, took: 1 }, { turn: 5, took: 3 })).toBe(false)
  expect(meets({ turn: 6, took: 1 }, { turn: 5, took: 1 })).toBe(false)
  expect(meets({ turn: 5 }, { turn: 5 })).toBe(false)
})
