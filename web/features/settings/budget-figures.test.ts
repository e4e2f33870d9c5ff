import { expect, test } from 'bun:test'
import { parseAlerts, parseTokens, parseUsd, parseWall, writeAlerts } from './budget-figures.ts'

test('tokens are read as people write them', () => {
  for (const text of ['1000000', '1,000,000', '1 000 000', '1_000_000'])
    expect(parseTokens(text)).toEqual({ value: 1_000_000 })
  for (const text of ['', '0', '1.5', '-3', '1e6', 'many'])
    expect(parseTokens(text)).toHaveProperty('problem')
})

test('the share at which a budget refuses is a whole percent of the limit', () => {
  expect(parseWall('120')).toEqual({ value: 1.2 })
  expect(parseWall(' 130 % ')).toEqual({ value: 1.3 })
  expect(parseWall('')).toEqual({ value: undefined })
  for (const text of ['99', '1001', '1.2', '-100', 'all'])
    expect(parseWall(text)).toHaveProperty('problem')
})

test('a comma is no decimal point: an amount is never taken for a hundred times as much', () => {
  for (const text of ['12,50', '0,5', '1,5', '1,2345', '12,34,567', '1.250,50', '1,', ',500'])
    expect([text, parseUsd(text), parseTokens(text)]).toEqual([
      text,
      { problem: expect.stringContaining('point') },
      { problem: expect.any(String) },
    ])
  for (const text of ['1,250.50', '$ 1 250.50', '1’250.50', '1250.50$', ' 1250.5 '])
    expect(parseUsd(text)).toEqual({ value: 1250.5 })
})

test('dollars keep nine decimals and no more, and are at most 9 million', () => {
  expect(parseUsd('$1,250.50')).toEqual({ value: 1250.5 })
  expect(parseUsd('0.000000001')).toEqual({ value: 0.000000001 })
  expect(parseUsd('9,000,000')).toEqual({ value: 9_000_000 })
  for (const text of ['', '0', '0.0000000001', '-1', '.', '9000000.01'])
    expect(parseUsd(text)).toHaveProperty('problem')
})

test('alerts are percents that become shares, and the other way round', () => {
  expect(parseAlerts('50, 80,100')).toEqual({ value: [0.5, 0.8, 1] })
  expect(parseAlerts('50% 80%')).toEqual({ value: [0.5, 0.8] })
  expect(parseAlerts('  ')).toEqual({ value: [] })
  for (const text of ['0', '101', '50, 50', 'half', '12.5', '1 2 3 4 5 6 7 8 9 10 11'])
    expect(parseAlerts(text)).toHaveProperty('problem')
  expect(writeAlerts([0.5, 0.29, 1])).toBe('50, 29, 100')
})
